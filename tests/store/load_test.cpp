// A load: many keys go straight into the bits of a `sync` file, and count when it ends. What a crash leaves of one
// is tested with the rest of a working life (session_script.hpp).
#include "format/layout.hpp"
#include "store/fake_os.hpp"
#include "store/kinds.hpp"
#include "store/scratch.hpp"

namespace bloomery::test {
namespace {

constexpr std::uint64_t kLoadRoom = std::uint64_t{1} << 20;
constexpr std::uint64_t kBlocks = 200,
                        kManyKeys = 5000;  // the journal of so few blocks takes 928 keys

class Load : public testing::TestWithParam<Layout> {
 protected:
  FilterFile open(Durability durability = Durability::sync, Access access = Access::write) {
    return Files(os_).open(kFakePath, {.access = access, .durability = durability});
  }
  void create() { Files(os_).create(kFakePath, plan_).close(); }
  [[nodiscard]] std::vector<Hash128> hashes(std::uint64_t first, std::uint64_t count) const {
    return hashes_of(Hasher(), first, count);
  }
  // The waits for a journal in what the work does.
  template <class Work>
  std::size_t commits(Work work) {
    const std::size_t before = os_.syncs_of_written().size();
    work();
    return os_.syncs_of_written().size() - before;
  }

  const Plan plan_ = plan_of(GetParam(), 512 * kBlocks);
  FakeOs os_{kLoadRoom};
};
INSTANTIATE_TEST_SUITE_P(, Load, testing::ValuesIn(kLayouts),
                         [](const auto& param) { return name_of(param.param); });

TEST_P(Load, GivesTheBitsAndTheCountOfSingleCommits) {
  create();
  auto file = open();
  const auto keys = hashes(0, kManyKeys);
  const std::unique_ptr<bool[]> fresh(new bool[kManyKeys]);
  Filter same(plan_);
  EXPECT_EQ(file.insert_hashes(keys, std::span(fresh.get(), kManyKeys)), same.insert_hashes(keys));
  EXPECT_EQ(file.insert_hashes(keys), 0U);
  file.close();
  EXPECT_TRUE(Files(os_).verify(kFakePath).ok());
  const auto again = open();
  EXPECT_TRUE(std::ranges::equal(again.view().bytes(), same.bytes()));
  EXPECT_EQ(again.inserted(),
            static_cast<std::uint64_t>(std::count(fresh.get(), fresh.get() + kManyKeys, true)));
}

TEST_P(Load, OfFewKeysIsJournaled) {
  create();
  auto file = open();
  EXPECT_GT(commits([&] { file.insert_hashes(hashes(0, 100)); }), 0U);
  EXPECT_EQ(commits([&] { file.insert_hashes(hashes(0, kManyKeys)); }), 0U);
  EXPECT_EQ(commits([&] { file.insert_hashes(hashes(kManyKeys, 100)); }), 1U)
      << "the load before has ended";
  ASSERT_TRUE(file.begin_load());
  EXPECT_GT(commits([&] { file.insert_hashes(hashes(0, 200)); }), 0U);
  EXPECT_EQ(commits([&] {
              for (std::uint64_t i = 0; i < 20; ++i) file.insert_hashes(hashes(i * 200, 900));
            }),
            0U)
      << "calls of one load count together";
  file.sync();
  EXPECT_GT(commits([&] { file.insert_hashes(hashes(9000, 100)); }), 0U)
      << "from an acknowledgement on they are few again";
  file.end_load();
}

// The first keys are on the device whatever the load after them has done.
TEST_P(Load, CountsWhenItEnds) {
  create();
  auto file = open();
  file.insert_hashes(hashes(0, 300));
  ASSERT_TRUE(file.begin_load());
  const std::uint64_t acknowledged = file.inserted();
  file.insert_hashes(hashes(1000, kManyKeys));
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto os = os_.after_power_loss(seed, detail::FileLayout(plan_).journal_at);
    auto after = Files(*os).open(kFakePath, {.access = Access::write});
    EXPECT_EQ(missing(after.view(), 0, 300), 0U);
    EXPECT_GE(after.inserted(), acknowledged);
  }
  file.end_load();
  for (unsigned seed = 0; seed < 20; ++seed) {
    const auto os = os_.after_power_loss(seed, detail::FileLayout(plan_).journal_at);
    const auto after = Files(*os).open(kFakePath, {.access = Access::write});
    EXPECT_EQ(missing(after.view(), 0, 300), 0U);
    EXPECT_EQ(missing(after.view(), 1000, kManyKeys), 0U);
  }
}

TEST_P(Load, IsSeenByReadersAtOnce) {
  create();
  auto file = open();
  const auto reader = open(Durability::sync, Access::read);
  ASSERT_TRUE(file.begin_load());
  file.insert_hashes(hashes(0, kManyKeys));
  EXPECT_EQ(missing(reader.view(), 0, kManyKeys), 0U);
  EXPECT_EQ(missing(open(Durability::sync, Access::read).view(), 0, kManyKeys), 0U);
}

TEST_P(Load, IsOneAtATimeAndOfSyncWritersAlone) {
  create();
  {
    auto file = open();
    EXPECT_TRUE(file.begin_load());
    EXPECT_FALSE(file.begin_load());
    file.end_load();
    EXPECT_TRUE(file.begin_load());
  }
  for (const Durability durability : {Durability::none, Durability::process})
    EXPECT_FALSE(open(durability).begin_load());
  EXPECT_FALSE(open(Durability::sync, Access::read).begin_load());
}

// Writers of the other kinds go on past a full journal, which takes 928 keys, and replace the file when the load ends.
TEST(LoadOfAnotherKind, CountsWhenItEnds) {
  const CountingPlan plan{plan_of(Layout::blocked128, 512 * 20)};
  const auto hashes = hashes_of(Hasher(), 0, kManyKeys);
  for (const Durability durability : {Durability::process, Durability::sync}) {
    FakeOs os(kLoadRoom);
    const auto found = [&](FakeOs& left) {
      return Files(left).open(kFakePath).may_contain_hashes(hashes);
    };
    auto file = Files(os).create(kFakePath, plan, {.durability = durability});
    ASSERT_TRUE(file.begin_load());
    EXPECT_FALSE(file.begin_load());
    const std::uint64_t calls = os.calls();
    file.insert_hashes(std::span(hashes).first(500));
    const std::uint64_t of_one = os.calls() - calls;
    for (std::size_t i = 500; i < kManyKeys; i += 500)
      file.insert_hashes(std::span(hashes).subspan(i, 500));
    EXPECT_LE(os.calls() - calls, 2 * of_one) << "the file is not replaced meanwhile";
    EXPECT_LT(found(*os.after_kill()), kManyKeys);
    file.end_load();
    EXPECT_EQ(found(*os.after_kill()), kManyKeys);
    if (durability == Durability::sync) {
      EXPECT_EQ(found(*os.after_power_loss(1, 0)), kManyKeys);
    }
    EXPECT_EQ(file.remove_hashes(hashes), kManyKeys);  // is a load too
    EXPECT_EQ(found(*os.after_kill()), file.may_contain_hashes(hashes));
  }
  FakeOs os(kLoadRoom);
  EXPECT_FALSE(Files(os).create(kFakePath, plan, {.durability = Durability::none}).begin_load());
}

}  // namespace
}  // namespace bloomery::test
