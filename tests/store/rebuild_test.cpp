// Rebuild and swap: the path shows the old filter or the new one, each whole, and nothing else.
#include "format/layout.hpp"
#include "store/every_call.hpp"
#include "store/session_script.hpp"

#include <sys/stat.h>

namespace bloomery::test {
namespace {

class Rebuild : public testing::Test {
 protected:
  void SetUp() override {
    auto file = FilterFile::create(path_, plan_);
    file.insert(1);
    file.close();
  }
  [[nodiscard]] bool has(std::uint64_t key) const {
    return FilterFile::open(path_).may_contain(key);
  }
  const Plan plan_ = plan_of(Layout::blocked);
  Scratch scratch_;
  std::string path_ = scratch_ / "cache.bloom";
};

TEST_F(Rebuild, IsSeenAtOnceAndWholeAfterClose) {
  ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
  auto reader = FilterFile::open(path_);
  const Plan larger = plan_of(Layout::blocked2, 512 * 300);
  auto file = FilterFile::rebuild(path_, larger, {.hasher = Hasher(HashFamily::xxh3, {.low = 5})});
  EXPECT_EQ(file.view().plan(), larger);
  EXPECT_TRUE(file.insert(2));
  file.insert_many(std::vector<std::uint64_t>{3, 4, 5});
  EXPECT_TRUE(file.may_contain(2));
  EXPECT_FALSE(file.may_contain(1));
  EXPECT_FALSE(reader.reload());
  EXPECT_TRUE(reader.may_contain(1) && has(1));
  EXPECT_FALSE(reader.may_contain(2));
  EXPECT_EQ(code_of([&] { file.sync(); }), ErrorCode::invalid_argument);
  file.close();
  EXPECT_TRUE(reader.may_contain(1)) << "until it asks";
  EXPECT_TRUE(reader.reload());
  EXPECT_EQ(missing(reader.view(), 2, 4), 0U);
  EXPECT_FALSE(reader.may_contain(1));
  EXPECT_EQ(reader.view().plan(), larger);
  EXPECT_EQ(reader.inserted(), 4U);
  EXPECT_TRUE(file.may_contain(2)) << "look-ups go on after close";
  EXPECT_EQ(code_of([&] { file.insert(6); }), ErrorCode::read_only);
  file.close();
  EXPECT_TRUE(verify(path_).ok());
  EXPECT_EQ(verify(path_).state, VerifyReport::State::clean);
  EXPECT_EQ(scratch_.files(), 1U);
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0640));
}

TEST_F(Rebuild, ThatIsDroppedLeavesTheOldOne) {
  {
    auto file = FilterFile::rebuild(path_, plan_);
    file.insert(2);
    EXPECT_EQ(scratch_.files(), 2U);
  }
  EXPECT_TRUE(has(1));
  EXPECT_FALSE(has(2));
  EXPECT_EQ(scratch_.files(), 1U);
  FilterFile::open(path_, {.access = Access::write}).close();
}

TEST_F(Rebuild, NeedsNoOldOne) {
  const std::string fresh = scratch_ / "fresh";
  {
    auto file = FilterFile::rebuild(fresh, plan_);
    file.insert(2);
    EXPECT_FALSE(std::filesystem::exists(fresh));
    EXPECT_EQ(code_of([&] { FilterFile::rebuild(fresh, plan_); }), ErrorCode::locked);
    EXPECT_EQ(code_of([&] { FilterFile::create(fresh, plan_); }), ErrorCode::locked);
    file.close();
  }
  EXPECT_TRUE(FilterFile::open(fresh).may_contain(2));
  std::filesystem::remove(fresh);

  // What has come to the path meanwhile is not overwritten.
  auto file = FilterFile::rebuild(fresh, plan_);
  std::ofstream(fresh) << "a letter";
  EXPECT_EQ(code_of([&] { file.close(); }), ErrorCode::exists);
  EXPECT_EQ(read_bytes(fresh).size(), 8U);
  std::filesystem::remove(fresh);
  file.insert(3);
  file.close();
  EXPECT_TRUE(FilterFile::open(fresh).may_contain(3));
}

// Something else has got the name that the new file is written under. It is neither published nor removed.
TEST_F(Rebuild, PublishesNothingElse) {
  for (const char* name : {"cache.bloom", "fresh"}) {
    const std::string path = scratch_ / name;
    const std::string temporary = scratch_ / (std::string(".") + name + ".new");
    const bool has_old = std::filesystem::exists(path);
    {
      auto file = FilterFile::rebuild(path, plan_);
      file.insert(2);
      std::ofstream(scratch_ / "letter") << "a letter";
      std::filesystem::rename(scratch_ / "letter", temporary);
      EXPECT_EQ(code_of([&] { file.close(); }), ErrorCode::missing);
    }
    EXPECT_EQ(read_bytes(temporary).size(), 8U);
    std::filesystem::remove(temporary);
    EXPECT_EQ(std::filesystem::exists(path), has_old);
  }
  EXPECT_TRUE(has(1));
}

void merge_in_pieces(FilterFile& file, std::span<const std::byte> bytes) {
  constexpr std::size_t kPiece = 50'001;
  for (std::size_t at = 0; at < bytes.size(); at += kPiece)
    file.merge_bytes(at, bytes.subspan(at, std::min(kPiece, bytes.size() - at)));
}

TEST_F(Rebuild, TakesAFilterInPieces) {
  // Two filters, over three chunks of the file, in pieces that end within them.
  const Plan large = plan_of(Layout::blocked, 512 * 3000);
  Filter one(large), other(large);
  for (std::uint64_t key = 0; key < 1'000; ++key) one.insert(key);
  for (std::uint64_t key = 1'000; key < 2'000; ++key) other.insert(key);
  auto file = FilterFile::rebuild(path_, large);
  file.merge_bytes(0, {});
  merge_in_pieces(file, one.bytes());
  merge_in_pieces(file, other.bytes());
  EXPECT_EQ(code_of([&] { file.merge_bytes(1, one.bytes()); }), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { file.merge_bytes(one.bytes().size() + 1, {}); }),
            ErrorCode::invalid_argument);
  EXPECT_TRUE(has(1));
  EXPECT_EQ(missing(file.view(), 0, 2'000), 0U);
  file.close();
  EXPECT_TRUE(verify(path_).ok());
  one.merge(other);
  auto there =
      FilterFile::open(path_, {.access = Access::write, .durability = Durability::process});
  EXPECT_TRUE(std::ranges::equal(there.view().bytes(), one.bytes()));
  // The estimate behind the count has a standard error far below 5 % here.
  EXPECT_NEAR(static_cast<double>(there.inserted()), 2'000, 100);
  EXPECT_EQ(code_of([&] { there.merge_bytes(0, one.bytes()); }), ErrorCode::invalid_argument);
  there.close();
  auto grows = FilterFile::rebuild(path_, scalable_plan(1'000, 0.01));
  EXPECT_EQ(code_of([&] { grows.merge_bytes(0, {}); }), ErrorCode::wrong_kind);
}

TEST_F(Rebuild, TakesACountingFilterInPieces) {
  for (const unsigned bits : {4U, 8U}) {
    const Plan large = plan_of(counting_layout(bits), 512 * 3000);
    CountingFilter one(large), other(large);
    // Some counters of the sum are saturated.
    for (std::uint64_t key = 0; key < 1'000; ++key)
      for (std::uint64_t times = 0; times <= key % 9; ++times) one.insert(key), other.insert(key);
    auto file = FilterFile::rebuild(path_, CountingPlan{large});
    merge_in_pieces(file, one.bytes());
    merge_in_pieces(file, other.bytes());
    EXPECT_EQ(code_of([&] { file.merge_bytes(1, one.bytes()); }), ErrorCode::invalid_argument);
    file.close();
    EXPECT_TRUE(verify(path_).ok());
    one.merge(other);
    const auto there = FilterFile::open(path_);
    EXPECT_TRUE(std::ranges::equal(there.counting().bytes(), one.bytes()));
    EXPECT_NEAR(static_cast<double>(there.inserted()), 1'000, 50);
  }
}

TEST_F(Rebuild, KeepsOtherWritersOut) {
  {
    const auto writer = FilterFile::open(path_, {.access = Access::write});
    EXPECT_EQ(code_of([&] { FilterFile::rebuild(path_, plan_); }), ErrorCode::locked);
  }
  auto file = FilterFile::rebuild(path_, plan_);
  for (const Durability durability : kDurabilities)
    EXPECT_EQ(code_of([&] {
                FilterFile::open(path_, {.access = Access::write, .durability = durability});
              }),
              ErrorCode::locked);
  EXPECT_EQ(code_of([&] { FilterFile::create(path_, plan_, {.replace = true}); }),
            ErrorCode::locked);
  EXPECT_EQ(code_of([&] { FilterFile::rebuild(path_, plan_); }), ErrorCode::locked);
  file.close();
  FilterFile::rebuild(path_, plan_).close();
  EXPECT_FALSE(has(1));
}

TEST_F(Rebuild, ReplacesADamagedFilterAndNothingElse) {
  auto bytes = read_bytes(path_);
  bytes[100] ^= bytes[4196] ^= std::byte{1};
  write_bytes(path_, bytes);
  auto file = FilterFile::rebuild(path_, plan_);
  file.insert(2);
  file.close();
  EXPECT_TRUE(has(2));
  // One of its two magics is enough, and the first where there is no room for the second.
  const auto whole = read_bytes(path_);
  for (const std::size_t at : {0, 4096}) {
    auto torn = whole;
    torn[at] ^= std::byte{1};
    write_bytes(path_, torn);
    FilterFile::rebuild(path_, plan_).close();
    EXPECT_TRUE(verify(path_).ok()) << at;
  }
  write_bytes(path_, std::span(whole).first(100));
  FilterFile::rebuild(path_, plan_).close();
  EXPECT_TRUE(verify(path_).ok());

  for (const std::size_t size : kStrangers) {
    const std::vector<std::byte> text(size, std::byte{'x'});
    write_bytes(path_, text);
    EXPECT_EQ(code_of([&] { FilterFile::rebuild(path_, plan_); }), ErrorCode::not_a_filter) << size;
    EXPECT_EQ(read_bytes(path_), text) << size;
  }
}

// A machine with an old filter of keys 0 to 99, on which one of keys 1000 to 1099 is built.
class RebuildOnTheMachine : public testing::TestWithParam<bool> {  // is there an old one?
 protected:
  RebuildOnTheMachine() {
    if (!GetParam()) return;
    auto file = Files(before_).create(kPath, plan_);
    file.insert_hashes(hashes_of(file.view().hasher(), 0, 100));
    file.close();
  }
  void rebuild(FakeOs& os) const {
    auto file = Files(os).rebuild(kPath, plan_);
    file.insert_hashes(hashes_of(file.view().hasher(), 1000, 99));
    file.insert(std::uint64_t{1099});
    file.close();
  }
  // True: it was the new one.
  bool expect_old_or_new(FakeOs& os) const {
    std::optional<FilterFile> file;
    try {
      file = Files(os).open(kPath);
    } catch (const Error& error) {
      EXPECT_FALSE(GetParam()) << error.what();
      EXPECT_EQ(error.code(), ErrorCode::missing) << error.what();
      return false;
    }
    const bool fresh = file->may_contain(std::uint64_t{1099});
    EXPECT_EQ(missing(file->view(), fresh ? 1000 : 0, 100), 0U);
    Filter all(plan_);
    for (std::uint64_t key = fresh ? 1000 : 0; key < (fresh ? 1100U : 100U); ++key) all.insert(key);
    EXPECT_TRUE(std::ranges::equal(all.bytes(), file->view().bytes()));
    const VerifyReport report = Files(os).verify(kPath);
    EXPECT_TRUE(report.ok() && report.state == VerifyReport::State::clean) << report.detail;
    return fresh;
  }
  const Plan plan_ = plan_of(Layout::blocked, 512 * 150);
  FakeOs before_;
};
INSTANTIATE_TEST_SUITE_P(, RebuildOnTheMachine, testing::Bool(), [](const auto& param) {
  return std::string(param.param ? "over_an_old_one" : "as_a_new_one");
});

TEST_P(RebuildOnTheMachine, LeavesOldOrNewWhereverItStops) {
  std::size_t old_ones = 0, new_ones = 0;
  stop_at_every_call(
      before_, 6, detail::FileLayout(plan_).journal_at, [&](FakeOs& os) { rebuild(os); },
      [&](FakeOs& after, int) {
        ++(expect_old_or_new(after) ? new_ones : old_ones);
        rebuild(after);  // what is left of it is in nobody's way
        EXPECT_TRUE(expect_old_or_new(after));
        EXPECT_EQ(after.names(), 1U);
      });
  EXPECT_GT(old_ones, 100U);
  EXPECT_GT(new_ones, 5U);
}

TEST_P(RebuildOnTheMachine, CanBeClosedAgainAfterAFault) {
  const auto sane = before_.after_kill();
  rebuild(*sane);
  std::size_t closed_again = 0;
  for (std::uint64_t call = 1; call <= sane->calls(); ++call) {
    SCOPED_TRACE("call " + std::to_string(call));
    const auto os = before_.after_kill();
    os->inject({.at = call, .error = ENOSPC});
    try {
      auto file = Files(*os).rebuild(kPath, plan_);
      file.insert_hashes(hashes_of(file.view().hasher(), 1000, 100));
      try {
        file.close();
      } catch (const Error&) {
        expect_old_or_new(*os->after_kill());
        if (os->open_files() == 0) continue;  // poisoned
        file.close();
        EXPECT_TRUE(expect_old_or_new(*os));
        ++closed_again;
      }
    } catch (const Error&) {
      expect_old_or_new(*os->after_kill());
    }
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GE(closed_again, 2U);
}

}  // namespace
}  // namespace bloomery::test
