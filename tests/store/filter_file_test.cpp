// The filter file as its users see it: create, open, insert, sync, close, merge, reload.
#include <bloomery/bloomery.hpp>

#include "format/layout.hpp"
#include "store/files.hpp"
#include "store/scratch.hpp"
#include "support/expect_error.hpp"
#include "support/hex.hpp"

#include <fstream>
#include <limits>
#include <tuple>

namespace bloomery::test {
namespace {

class EveryFile : public testing::TestWithParam<std::tuple<Layout, Durability>> {
 protected:
  [[nodiscard]] Layout layout() const { return std::get<0>(GetParam()); }
  [[nodiscard]] Durability durability() const { return std::get<1>(GetParam()); }
  [[nodiscard]] FilterFile create(const Plan& plan) const {
    return FilterFile::create(path_, plan, {.durability = durability()});
  }
  [[nodiscard]] FilterFile reopen() const {
    return FilterFile::open(path_, {.access = Access::write, .durability = durability()});
  }
  Scratch scratch_;
  std::string path_ = scratch_ / "seen.bloom";
};

INSTANTIATE_TEST_SUITE_P(, EveryFile, at_every_level(kLayouts), kNameOfBoth);

TEST_P(EveryFile, ClosingWhatWasMovedAwayIsNothing) {
  auto file = FilterFile::create(path_, plan_of(layout(), 512 * 64), {.durability = durability()});
  auto other = std::move(file);
  file.close();  // NOLINT(bugprone-use-after-move): that is what is tried
  EXPECT_TRUE(other.insert(1));
  other.close();
}

TEST_P(EveryFile, AssignmentClosesTheFileThatWasThere) {
  const Plan plan = plan_of(layout(), 512 * 64);
  auto file = create(plan);
  EXPECT_TRUE(file.insert(1));
  auto other = FilterFile::create(scratch_ / "other.bloom", plan, {.durability = durability()});
  EXPECT_TRUE(other.insert(2));
  file = std::move(other);
  EXPECT_TRUE(file.may_contain(2) && !file.may_contain(1));
  EXPECT_TRUE(reopen().may_contain(1)) << "which `other` does not keep locked";
  FilterFile& same = file;
  file = std::move(same);
  EXPECT_TRUE(file.insert(3));
}

TEST_P(EveryFile, TakesManyKeysAtOnce) {
  auto file = FilterFile::create(path_, plan_of(layout(), 512 * 64), {.durability = durability()});
  const std::vector<std::string> keys = {"a", "b", "a", ""};
  bool fresh[4];
  EXPECT_EQ(file.insert_many(keys, fresh), 3U);
  EXPECT_TRUE(fresh[0] && fresh[1] && !fresh[2] && fresh[3]);
  file.close();
  const auto again = reopen();
  for (const std::string& key : keys) EXPECT_TRUE(again.may_contain(key));
}

TEST_P(EveryFile, KeepsKeysAndParametersOverSessions) {
  // 40 chunks of 64 KiB, so that sums, partial last chunks and touched chunks all take part.
  const Plan plan = plan_of(layout(), 512 * (1024 * 40 + 17));
  const Hasher hasher(HashFamily::siphash, {.low = 7, .high = 9});
  std::string identity;
  std::uint64_t fresh = 0;
  {
    auto file = FilterFile::create(path_, plan, {.hasher = hasher, .durability = durability()});
    EXPECT_TRUE(file.insert(std::uint64_t{0}));
    EXPECT_FALSE(file.insert(std::uint64_t{0}));
    fresh = 1 + file.insert_hashes(hashes_of(hasher, 1, 999));
    EXPECT_EQ(file.inserted(), fresh);
    identity = file.identity();
    const auto bytes = read_bytes(path_);
    EXPECT_EQ(identity, to_hex({reinterpret_cast<const char*>(&bytes[64]), 16}));  // docs/format.md
    file.close();
    file.close();
    EXPECT_EQ(code_of([&] { file.insert(1); }), ErrorCode::read_only);
    EXPECT_EQ(missing(file.view(), 0, 1000), 0U) << "look-ups go on after close";
  }
  for (std::uint64_t session = 1; session < 4; ++session) {
    auto file = reopen();
    EXPECT_EQ(file.view().plan(), plan);
    EXPECT_EQ(file.view().hasher().seed(), hasher.seed());
    EXPECT_EQ(file.identity(), identity);
    EXPECT_EQ(file.inserted(), fresh);
    EXPECT_EQ(missing(file.view(), 0, 1000 * session), 0U);
    fresh += file.insert_hashes(hashes_of(hasher, 1000 * session, 1000));
    file.sync();
  }  // closed by its destructor
  const auto reader = FilterFile::open(path_);
  EXPECT_EQ(missing(reader.view(), 0, 4000), 0U);
  EXPECT_EQ(reader.inserted(), fresh);
  EXPECT_LT(missing(reader.view(), 4000, 1), 2U);
  const VerifyReport report = verify(path_);
  EXPECT_TRUE(report.ok()) << report.detail;
  EXPECT_EQ(report.state, VerifyReport::State::clean);
  EXPECT_EQ(report.detail, "");
  EXPECT_EQ(report.chunks, 41U);
  EXPECT_EQ(scratch_.files(), 1U);
}

TEST_P(EveryFile, HasTheBitsOfAFilterInMemory) {
  const Plan plan = plan_of(layout());
  Filter model(plan);
  auto file = create(plan);
  std::uint64_t next = 0;
  for (const std::uint64_t batch : {1, 28, 29, 30, 58, 59, 1000, 3000}) {
    const auto hashes = hashes_of(model.hasher(), next, batch);
    std::vector<char> ours(batch), theirs(batch);
    const std::span fresh(reinterpret_cast<bool*>(ours.data()), batch);
    const std::span wanted(reinterpret_cast<bool*>(theirs.data()), batch);
    EXPECT_EQ(file.insert_hashes(hashes, fresh), model.insert_hashes(hashes, wanted));
    EXPECT_EQ(ours, theirs);
    next += batch;
  }
  EXPECT_TRUE(std::ranges::equal(file.view().bytes(), model.bytes()));
  file.close();
  const auto reader = FilterFile::open(path_);
  EXPECT_TRUE(std::ranges::equal(reader.view().bytes(), model.bytes()));
}

TEST_P(EveryFile, MergesDurably) {
  const Plan plan = plan_of(layout(), 512 * 3000);
  Filter other(plan);
  for (std::uint64_t key = 500; key < 1500; ++key) other.insert(key);
  auto file = create(plan);
  file.insert_hashes(hashes_of(other.hasher(), 0, 1000));
  file.merge(other);
  // The estimate behind the count has a standard error far below 5 % here.
  EXPECT_NEAR(static_cast<double>(file.inserted()), 1500, 75);
  file.insert_hashes(hashes_of(other.hasher(), 1500, 100));
  file.close();
  EXPECT_TRUE(verify(path_).ok());
  EXPECT_EQ(missing(FilterFile::open(path_).view(), 0, 1600), 0U);

  Filter stranger(plan, Hasher(HashFamily::xxh3, {.low = 1}));
  auto again = reopen();
  EXPECT_EQ(code_of([&] { again.merge(stranger); }), ErrorCode::mismatch);
}

TEST_P(EveryFile, LetsOneWriterIn) {
  auto file = create(plan_of(layout()));
  for (const Durability durability : kDurabilities) {
    EXPECT_EQ(code_of([&] {
                FilterFile::open(path_, {.access = Access::write, .durability = durability});
              }),
              ErrorCode::locked);
  }
  EXPECT_EQ(code_of([&] {
              FilterFile::create(path_, plan_of(layout()),
                                 {.durability = durability(), .replace = true});
            }),
            ErrorCode::locked);
  file.insert(1);
  file.sync();  // with `none`, the lock moves to the file that is there now
  EXPECT_EQ(code_of([&] { (void)reopen(); }), ErrorCode::locked);
  EXPECT_TRUE(FilterFile::open(path_).may_contain(1));
  file.close();
  EXPECT_TRUE(reopen().may_contain(1));
}

TEST_P(EveryFile, IsReplacedOnlyWhenAskedAndOnlyIfItIsAFilter) {
  const Plan plan = plan_of(layout());
  create(plan).insert(1);
  EXPECT_EQ(code_of([&] { (void)create(plan); }), ErrorCode::exists);
  EXPECT_TRUE(FilterFile::open(path_).may_contain(1));
  FilterFile::create(path_, plan, {.durability = durability(), .replace = true}).close();
  EXPECT_FALSE(FilterFile::open(path_).may_contain(1));

  const std::string letter = scratch_ / "letter.txt";
  for (const std::size_t size : kStrangers) {
    const std::vector<std::byte> text(size, std::byte{'x'});
    write_bytes(letter, text);
    EXPECT_EQ(code_of([&] {
                FilterFile::create(letter, plan, {.durability = durability(), .replace = true});
              }),
              ErrorCode::not_a_filter)
        << size;
    EXPECT_EQ(code_of([&] { FilterFile::create(letter, plan); }), ErrorCode::exists);
    EXPECT_EQ(read_bytes(letter), text) << size;
    EXPECT_EQ(scratch_.files(), 2U);
  }
}

TEST_P(EveryFile, ReaderSeesAReplacedFileAfterReload) {
  const Plan plan = plan_of(layout());
  create(plan).insert(1);
  auto reader = FilterFile::open(path_);
  EXPECT_FALSE(reader.reload());
  {
    auto next = FilterFile::create(path_, plan, {.durability = durability(), .replace = true});
    next.insert(2);
  }
  EXPECT_TRUE(reader.may_contain(1));
  EXPECT_FALSE(reader.may_contain(2));
  EXPECT_TRUE(reader.reload());
  EXPECT_FALSE(reader.reload());
  EXPECT_FALSE(reader.may_contain(1));
  EXPECT_TRUE(reader.may_contain(2));
  EXPECT_EQ(code_of([&] { reader.insert(3); }), ErrorCode::read_only);
  EXPECT_EQ(code_of([&] { reader.merge(reader.view()); }), ErrorCode::read_only);
}

// The bits are seen at once; how many keys were inserted stands in the header.
TEST_P(EveryFile, ReaderCountsWhatAWriterHasInsertedAfterReload) {
  create(plan_of(layout())).insert(1);
  auto reader = FilterFile::open(path_);
  EXPECT_EQ(reader.inserted(), 1U);
  auto writer =
      FilterFile::open(path_, {.access = Access::write, .durability = Durability::process});
  writer.insert(2);
  writer.insert(3);
  writer.close();
  EXPECT_FALSE(reader.reload());
  EXPECT_EQ(reader.inserted(), 3U);
  EXPECT_TRUE(reader.may_contain(3));
  EXPECT_FALSE(reader.reload());
  // While a writer has it, the sums in the header are not those of its bits.
  writer = FilterFile::open(path_, {.access = Access::write, .durability = Durability::process});
  writer.insert(4);
  auto closed = FilterFile::open(path_);
  EXPECT_NO_THROW((void)reader.encode());
  writer.close();
  closed.close();
  reader.reload();
  // So do the sums of the bits: what the device has damaged since is not copied.
  EXPECT_NO_THROW((void)reader.encode());
  std::fstream(path_, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(static_cast<std::streamoff>(detail::kBitsAt))
      .write("damage", 6);
  EXPECT_EQ(code_of([&] { (void)reader.encode(); }), ErrorCode::corrupt);
  EXPECT_NO_THROW((void)closed.encode()) << "nobody can tell any more";
}

TEST_P(EveryFile, FollowsALinkAndKeepsItsPermissions) {
  const std::string link = scratch_ / "link";
  create(plan_of(layout())).close();
  std::filesystem::permissions(path_, std::filesystem::perms(0640));
  std::filesystem::create_symlink(path_, link);
  {
    auto file = FilterFile::open(link, {.access = Access::write, .durability = durability()});
    file.insert(1);
  }
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(FilterFile::open(path_).may_contain(1));
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0640));
  FilterFile::create(link, plan_of(layout()), {.durability = durability(), .replace = true})
      .close();
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_FALSE(FilterFile::open(path_).may_contain(1));
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0640));
}

TEST_P(EveryFile, ALinkThatLeadsNowhereIsNamed) {
  std::filesystem::create_symlink(scratch_ / "nothing", path_);
  for (const bool replace : {false, true})
    expect_error(ErrorCode::io, {"is a link to a file that does not exist", "remove the link"},
                 [&] {
                   (void)FilterFile::create(path_, plan_of(layout()),
                                            {.durability = durability(), .replace = replace});
                 });
  EXPECT_TRUE(std::filesystem::is_symlink(path_));
}

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

TEST_P(EveryFile, CloseLetsGoOfTheFile) {
  create(plan_of(layout())).insert(1);
  const std::size_t before = open_descriptors();
  for (const Access access : {Access::read, Access::write}) {
    auto file = FilterFile::open(path_, {.access = access, .durability = durability()});
    EXPECT_EQ(open_descriptors(), before + 1);
    file.close();
    EXPECT_EQ(open_descriptors(), before);
    file.close();
    EXPECT_TRUE(file.may_contain(1)) << "look-ups go on after close";
    if (access == Access::read) {
      EXPECT_EQ(code_of([&] { file.reload(); }), ErrorCode::read_only);
      detail::Files::require_undamaged(file);  // nor does a copy of it read the file again
    }
    (void)reopen();  // nothing locks it
  }
}

TEST_P(EveryFile, MovesAndClosesOnce) {
  auto first = create(plan_of(layout()));
  first.insert(1);
  FilterFile second(std::move(first));
  second.insert(2);
  second = FilterFile::create(scratch_ / "other", plan_of(layout()));
  second.insert(3);
  auto back = reopen();  // the assignment let go of it
  EXPECT_TRUE(back.may_contain(1));
  EXPECT_TRUE(back.may_contain(2));
}

TEST(FilterFile, RefusesPlansThatNoFilterCanHave) {
  Scratch scratch;
  Plan plan = plan_of(Layout::blocked);
  plan.bits = 100;
  EXPECT_EQ(code_of([&] { FilterFile::create(scratch / "f", plan); }), ErrorCode::invalid_argument);
  plan = plan_of(Layout::blocked);
  plan.fpr = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(code_of([&] { FilterFile::create(scratch / "f", plan); }), ErrorCode::invalid_argument);
  plan = plan_of(Layout::blocked);
  plan.bits = kMaxBits * 2;
  EXPECT_EQ(code_of([&] { FilterFile::create(scratch / "f", plan); }), ErrorCode::too_large);
  EXPECT_EQ(scratch.files(), 0U);
}

TEST(FilterFile, SaysWhatIsWrongWithAPath) {
  Scratch scratch;
  const auto open = [](const std::string& path, Access access) {
    return code_of([&] { FilterFile::open(path, {.access = access}); });
  };
  for (const Access access : {Access::read, Access::write}) {
    EXPECT_EQ(open(scratch / "nothing", access), ErrorCode::missing);
    EXPECT_EQ(open("", access), ErrorCode::missing);
    const std::string empty = scratch / "empty";
    std::ofstream(empty).close();
    EXPECT_EQ(open(empty, access), ErrorCode::not_a_filter);
    std::ofstream(empty) << std::string(10000, 'x');
    EXPECT_EQ(open(empty, access), ErrorCode::not_a_filter);
    EXPECT_EQ(open("/dev/null", access), ErrorCode::not_a_filter);
  }
  const std::string cut = scratch / "cut";
  FilterFile::create(cut, plan_of(Layout::blocked)).close();
  for (const Access access : {Access::read, Access::write})
    EXPECT_EQ(open(cut + std::string("\0/other", 7), access), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] {
              FilterFile::create(cut + std::string("\0", 1), plan_of(Layout::blocked),
                                 {.replace = true});
            }),
            ErrorCode::invalid_argument);
  EXPECT_EQ(open(scratch / ".", Access::read), ErrorCode::not_a_filter);
  EXPECT_EQ(open(scratch / ".", Access::write), ErrorCode::io);
  EXPECT_EQ(
      code_of([&] { FilterFile::create(scratch / "no/such/place", plan_of(Layout::blocked)); }),
      ErrorCode::missing);
}

TEST(FilterFile, TakesOverFromEveryDurability) {
  Scratch scratch;
  const std::string path = scratch / "f";
  FilterFile::create(path, plan_of(Layout::blocked)).close();
  std::uint64_t keys = 0;
  for (int round = 0; round < 2; ++round) {
    for (const Durability durability : kDurabilities) {
      auto file = FilterFile::open(path, {.access = Access::write, .durability = durability});
      EXPECT_EQ(missing(file.view(), 0, keys), 0U);
      file.insert_hashes(hashes_of(file.view().hasher(), keys, 50));
      keys += 50;
    }
  }
  EXPECT_EQ(missing(FilterFile::open(path).view(), 0, keys), 0U);
  EXPECT_TRUE(verify(path).ok());
}

}  // namespace
}  // namespace bloomery::test
