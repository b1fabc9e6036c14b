// dedup of input of unknown length: larger filters from hashes on disk, and what happens without a disk.
#include "stream/growing_lines.hpp"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "store/scratch.hpp"
#include "support/effort.hpp"
#include "support/file_limit.hpp"
#include "support/follow.hpp"

namespace bloomery {
namespace {

using cli::GrowingLines;
using cli::HashSpool;

constexpr std::uint64_t kFirst = 1000;
constexpr std::uint64_t kSpooled = 65'536;  // hashes that are held in memory before the first write

// $TMPDIR for as long as it lives.
class Directory {
 public:
  explicit Directory(const char* path) {
    if (const char* before = std::getenv("TMPDIR")) before_ = before;
    ::setenv("TMPDIR", path, 1);
  }
  ~Directory() { before_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before_.c_str(), 1); }

 private:
  std::string before_;
};

struct Deduplicated {
  explicit Deduplicated(double fpr = 1e-12)
      : filter(plan(kFirst, fpr), Hasher()),
        lines(filter, FilterSpec{.capacity = kFirst, .fpr = fpr}) {}

  // How many of the keys from `first` on are told to be new.
  std::uint64_t give(std::uint64_t first, std::uint64_t count) {
    const auto hashes = test::hashes_of(Hasher(), first, count);
    const std::unique_ptr<bool[]> answers(new bool[count]);
    lines.decide_lines({count, hashes, {}}, std::span(answers.get(), count));
    return static_cast<std::uint64_t>(std::count(answers.get(), answers.get() + count, true));
  }

  AnyFilter filter;
  GrowingLines lines;
};

// At 1e-12 no line is lost by chance: 300,000 lines have 3e-7 false positives.
void expect_each_line_once(Deduplicated& dedup, std::uint64_t count) {
  std::uint64_t given = 0;
  for (std::uint64_t part = 1; given < count; part = part * 3 % 20'011 + 1) {
    const std::uint64_t step = std::min(part, count - given);
    ASSERT_EQ(dedup.give(given, step), step) << given;
    given += step;
    ASSERT_EQ(dedup.give(given / 3, given / 2), 0U) << "after " << given;
  }
  EXPECT_EQ(dedup.give(0, count), 0U);
}

TEST(GrowingLines, AreEachNewOnceWhileTheFilterDoubles) {
  Deduplicated dedup;
  expect_each_line_once(dedup, 200'000);
  const FilterStats stats = dedup.filter.stats();
  EXPECT_EQ(stats.kind, Kind::plain);
  EXPECT_EQ(stats.capacity, 256'000U);
  EXPECT_FALSE(stats.over_capacity);
}

TEST(GrowingLines, KeepTheStatedRate) {
  // Of 100,000 distinct lines a share of at most 1 % is taken for repeats: 1,000, and five times its standard
  // deviation more at 6 sigma (190).
  Deduplicated dedup(0.01);
  EXPECT_GT(dedup.give(0, 100'000), 100'000U - 1'000 - 190);
}

TEST(GrowingLines, GrowBySubFiltersWhereThereIsNoDisk) {
  struct statfs system;
  const bool memory = ::statfs("/dev/shm", &system) == 0 && system.f_type == TMPFS_MAGIC;
  for (const char* const place : {"/dev/null", "/dev/shm"}) {
    if (place == std::string("/dev/shm") && !memory) continue;
    const Directory directory(place);
    Deduplicated dedup;
    expect_each_line_once(dedup, 200'000);
    const FilterStats stats = dedup.filter.stats();
    EXPECT_EQ(stats.kind, Kind::scalable);
    EXPECT_GT(stats.sub_filters.size(), 1U);
    EXPECT_FALSE(stats.over_capacity);
  }
}

TEST(GrowingLines, GrowBySubFiltersWhenTheDiskIsFull) {
  for (const rlim_t room : {rlim_t{1'000}, rlim_t{16} * kSpooled + 1'000}) {
    const test::FileLimit limit(room);
    Deduplicated dedup;
    expect_each_line_once(dedup, 300'000);
    const FilterStats stats = dedup.filter.stats();
    EXPECT_EQ(stats.kind, Kind::scalable);
    EXPECT_GT(stats.sub_filters.size(), 1U);
  }
}

std::vector<Hash128> hashes_in(const HashSpool& spool) {
  std::vector<Hash128> hashes;
  spool.for_each([&](auto part) { hashes.insert(hashes.end(), part.begin(), part.end()); });
  return hashes;
}

TEST(HashSpool, GivesWhatItWasGivenInOrder) {
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{1}, kSpooled - 1, kSpooled, kSpooled + 1, 3 * kSpooled}) {
    HashSpool spool;
    const auto hashes = test::hashes_of(Hasher(), 0, count);
    for (const Hash128 hash : hashes) ASSERT_TRUE(spool.add(hash));
    for (int again = 0; again < 2; ++again) EXPECT_TRUE(hashes_in(spool) == hashes) << count;
  }
}

#ifdef __x86_64__
// A system may write and read less than it is asked for. Here a child is traced, and each of its calls does about half.
TEST(HashSpool, GoesOnAfterWhatWasWrittenAndRead) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer does not like to be traced";
  const pid_t child = ::fork();
  if (child == 0) {
    const auto hashes = test::hashes_of(Hasher(), 0, 2 * kSpooled + 1);
    if (::ptrace(PTRACE_TRACEME, 0, 0, 0) != 0 || std::raise(SIGSTOP) != 0) ::_exit(3);
    HashSpool spool;
    for (const Hash128 hash : hashes)
      if (!spool.add(hash)) ::_exit(2);
    ::_exit(hashes_in(spool) == hashes ? 0 : 1);
  }
  int shortened = 0;
  const int status = test::follow(child, [&](pid_t pid, const __ptrace_syscall_info& call) {
    if (call.op == PTRACE_SYSCALL_INFO_ENTRY && call.entry.args[2] > 1000 &&
        (call.entry.nr == SYS_pread64 || call.entry.nr == SYS_pwrite64)) {
      ::ptrace(PTRACE_POKEUSER, pid, offsetof(user, regs.rdx), call.entry.args[2] / 2 + 1);
      ++shortened;
    }
    return false;
  });
  ASSERT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_GT(shortened, 20);
}
#endif

// What cannot be read back would be lines that are printed twice.
TEST(HashSpool, SaysSoWhenItsFileWasCut) {
  const auto removed_files = [] {
    std::set<std::string> paths;
    for (const auto& open : std::filesystem::directory_iterator("/proc/self/fd")) {
      std::error_code gone;
      const std::string name = std::filesystem::read_symlink(open.path(), gone);
      if (!gone && name.ends_with("(deleted)")) paths.insert(open.path());
    }
    return paths;
  };
  const std::set<std::string> others = removed_files();
  HashSpool spool;
  for (const Hash128 hash : test::hashes_of(Hasher(), 0, 2 * kSpooled))
    ASSERT_TRUE(spool.add(hash));
  int cut = 0;
  for (const std::string& path : removed_files())
    cut += !others.contains(path) && ::truncate(path.c_str(), 16 * kSpooled) == 0;
  ASSERT_EQ(cut, 1);
  EXPECT_THROW((void)hashes_in(spool), Error);
}

TEST(GrowingLines, AreOnDiskWhereTheDirectoryHasNoName) {
  struct statfs system {};
  if (::statfs("/var/tmp", &system) != 0 || system.f_type == TMPFS_MAGIC)
    GTEST_SKIP() << "/var/tmp is in memory";
  const Directory directory("");
  Deduplicated dedup;
  EXPECT_EQ(dedup.give(0, 100'000), 100'000U);
  EXPECT_EQ(dedup.filter.stats().kind, Kind::plain);
}

TEST(HashSpool, TriesTheDiskNoMoreAfterAFailure) {
  HashSpool spool;
  const auto hashes = test::hashes_of(Hasher(), 0, kSpooled + 1);
  {
    const Directory none("/nonexistent");
    for (std::uint64_t i = 0; i < kSpooled; ++i)
      ASSERT_EQ(spool.add(hashes[i]), i + 1 < kSpooled) << i;
  }
  EXPECT_FALSE(spool.add(hashes.back()));  // there is a disk now
  EXPECT_TRUE(hashes_in(spool) == hashes);
}

}  // namespace
}  // namespace bloomery
