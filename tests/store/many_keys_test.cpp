// insert_many and remove_many take as many commits as the calls with all the hashes at once; or one more, where the
// first keys are journaled before it shows that they are so many that the others are not.
#include "store/fake_os.hpp"
#include "store/kinds.hpp"

#include "support/expect_error.hpp"

#include <memory>
#include <numeric>

namespace bloomery::test {
namespace {

constexpr std::uint64_t kManyRoom = std::uint64_t{4} << 20;

// Its header, its records and the flush of both, and those of the checkpoint after it.
constexpr std::uint64_t kCallsOfACommit = 12;

// More than one commit of each writer takes, by one and by a part.
constexpr std::uint64_t kCounts[] = {1, 65'535, 65'536, 65'537, 150'000};

class ManyKeys : public KindAndLevel {
 protected:
  [[nodiscard]] FilterFile create(FakeOs& os) const {
    return Files(os).create(kFakePath, kind().plan, {.durability = durability()});
  }
  // Does the same with keys and with their hashes, and compares what it was to the machine.
  template <class Many, class Hashes>
  static void expect_same(FakeOs& os, FilterFile& file, FakeOs& other_os, FilterFile& other,
                          std::uint64_t count, Many many, Hashes hashes_at_once) {
    std::vector<std::uint64_t> keys(count);
    std::iota(keys.begin(), keys.end(), 0);
    const auto hashes = hashes_of(file.hasher(), 0, count);
    const std::unique_ptr<bool[]> ours(new bool[count]), theirs(new bool[count]);
    const std::uint64_t calls = os.calls(), other_calls = other_os.calls();
    const std::uint64_t commits = os.syncs_of_written().size();
    const std::uint64_t other_commits = other_os.syncs_of_written().size();
    EXPECT_EQ(many(file, keys, std::span(ours.get(), count)),
              hashes_at_once(other, hashes, std::span(theirs.get(), count)));
    EXPECT_TRUE(std::equal(ours.get(), ours.get() + count, theirs.get()));
    const std::uint64_t more_commits = os.syncs_of_written().size() - commits -
                                       (other_os.syncs_of_written().size() - other_commits);
    const std::uint64_t more_calls = os.calls() - calls - (other_os.calls() - other_calls);
    EXPECT_LE(more_commits, 1U);
    EXPECT_LE(more_calls, more_commits * kCallsOfACommit);
    EXPECT_EQ(image_of(file), image_of(other));
  }
};
INSTANTIATE_TEST_SUITE_P(
    , ManyKeys,
    testing::Combine(
        testing::Values(
            KindCase{"plain", Plan{Layout::blocked, 512 * 1000, 6, 50'000, 0.01}},
            KindCase{"small_plain", Plan{Layout::blocked, 512 * 10, 6, 500, 0.01}},
            KindCase{"counting", CountingPlan{{Layout::blocked128, 512 * 100, 4, 6000, 0.01}}},
            KindCase{"window", window_plan(WindowUnit::insertions, 1000, 1000, 0.01, 4)}),
        testing::ValuesIn(kDurabilities)),
    kNameOfBoth);

TEST_P(ManyKeys, AreLookedUpByThreads) {
  FakeOs os(kManyRoom);
  FilterFile file = create(os);
  std::vector<std::uint64_t> keys(200'000);
  std::iota(keys.begin(), keys.end(), 0);
  file.insert_many(std::span(keys).first(1'000));
  std::vector<bool> one(keys.size()), many(keys.size());
  EXPECT_EQ(file.may_contain_many(keys, many, 3), file.may_contain_many(keys, one));
  EXPECT_EQ(many, one);
}

TEST_P(ManyKeys, TakeAsManyCommitsAsAllHashesAtOnce) {
  for (const std::uint64_t count : kCounts) {
    SCOPED_TRACE(count);
    FakeOs os(kManyRoom), other_os(kManyRoom);
    auto file = create(os), other = create(other_os);
    expect_same(
        os, file, other_os, other, count,
        [](FilterFile& to, const auto& keys, auto fresh) { return to.insert_many(keys, fresh); },
        [](FilterFile& to, const auto& hashes, auto fresh) {
          return to.insert_hashes(hashes, fresh);
        });
    if (file.kind() != Kind::counting) continue;
    expect_same(
        os, file, other_os, other, count,
        [](FilterFile& to, const auto& keys, auto gone) { return to.remove_many(keys, gone); },
        [](FilterFile& to, const auto& hashes, auto gone) {
          return to.remove_hashes(hashes, gone);
        });
  }
}

TEST_P(ManyKeys, ChangeNothingWithoutRoomForTheAnswers) {
  constexpr std::uint64_t kCount = 150'000;
  FakeOs os(kManyRoom);
  auto file = create(os);
  const auto image = image_of(file);
  std::vector<std::uint64_t> keys(kCount);
  std::iota(keys.begin(), keys.end(), 0);
  const auto hashes = hashes_of(file.hasher(), 0, kCount);
  const std::unique_ptr<bool[]> room(new bool[kCount]);
  const std::span<bool> answers(room.get(), kCount - 1);
  const auto refused = [](const auto& call) {
    expect_error(ErrorCode::invalid_argument, {"room for 149999 answers", "150000 keys"}, call);
  };
  refused([&] { file.insert_many(keys, answers); });
  refused([&] { file.insert_hashes(hashes, answers); });
  refused([&] { (void)file.may_contain_many(keys, answers); });
  refused([&] { (void)file.may_contain_hashes(hashes, answers); });
  refused([&] { file.remove_many(keys, answers); });
  refused([&] { file.remove_hashes(hashes, answers); });
  EXPECT_EQ(image_of(file), image);
}

TEST(NoKeys, AreACallLikeOthers) {
  FakeOs os(kManyRoom);
  auto file = Files(os).create(kFakePath, plan_of(Layout::blocked));
  const std::vector<std::uint64_t> none;
  EXPECT_EQ(file.insert_many(none), 0U);
  EXPECT_EQ(code_of([&] { file.remove_many(none); }), ErrorCode::wrong_kind);
  file.close();
  EXPECT_EQ(code_of([&] { file.insert_many(none); }), ErrorCode::read_only);
}

}  // namespace
}  // namespace bloomery::test
