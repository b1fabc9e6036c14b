// Pages that are taken away, and pages that are made: what is left, and what the system gets.
#include "server/pages.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "server/memory.hpp"
#include "support/used_memory.hpp"

namespace {

using namespace bloomery::server;

constexpr std::size_t kMovedBytes = std::size_t{16} << 20;

struct FreeBytes {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using OwnBytes = std::unique_ptr<std::byte, FreeBytes>;

// Ones, at no page's start.
constexpr std::size_t kShift = 192;
OwnBytes ones() {
  OwnBytes bytes(static_cast<std::byte*>(std::malloc(kMovedBytes + kShift)));
  std::fill_n(bytes.get(), kMovedBytes + kShift, std::byte{0xFF});
  let_be_small(bytes.get(), kMovedBytes + kShift);  // as everything that is freed
  return bytes;
}

bool are_all(std::span<const std::byte> bytes, int value) {
  return std::ranges::all_of(bytes, [&](std::byte one) { return one == std::byte(value); });
}

// The system has so many bytes back, in a while.
void go_back(std::size_t before, std::size_t bytes) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (bloomery::test::used_memory().resident + bytes > before &&
         std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_LE(bloomery::test::used_memory().resident + bytes, before);
}

TEST(Pages, AreZeroAfterwardsAndCanBeUsed) {
  const OwnBytes bytes = ones();
  const std::span<std::byte> zeros = take_pages_away(bytes.get() + kShift, kMovedBytes);
  if (zeros.empty()) GTEST_SKIP() << "the system moves no pages";
  EXPECT_GE(zeros.size(), kMovedBytes - 2 * kManyPages);
  EXPECT_TRUE(are_all({bytes.get(), zeros.data()}, 0xFF));
  EXPECT_TRUE(are_all(zeros, 0));
  EXPECT_TRUE(are_all({zeros.data() + zeros.size(), bytes.get() + kShift + kMovedBytes}, 0xFF));
  std::fill_n(bytes.get(), kMovedBytes, std::byte{0x55});
  EXPECT_TRUE(are_all({bytes.get(), kMovedBytes}, 0x55));
}

// So that the tests here are skipped for no other reason, and that a machine on which the place
// of a moved page cannot be used (an emulator's) has none moved.
TEST(Pages, AreMovedWhereTheirPlaceCanBeUsed) {
#ifdef MREMAP_DONTUNMAP
  void* const page =
      mmap(nullptr, kMovedBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  void* const moved =
      mremap(page, kMovedBytes, kMovedBytes, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, nullptr);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const bool can = moved != MAP_FAILED && write(ends[1], page, 1) == 1;
  for (const int end : ends) close(end);
  munmap(page, kMovedBytes);
  if (moved != MAP_FAILED) munmap(moved, kMovedBytes);
  const OwnBytes bytes = ones();
  EXPECT_EQ(!take_pages_away(bytes.get(), kMovedBytes).empty(), can);
#endif
}

TEST(Pages, GoBackToTheSystem) {
  const OwnBytes bytes = ones();
  const std::size_t before = bloomery::test::used_memory().resident;
  if (take_pages_away(bytes.get(), kMovedBytes).empty())
    GTEST_SKIP() << "the system moves no pages";
  go_back(before, kMovedBytes / 2);
}

TEST(Pages, OfLessThanAPageStay) {
  alignas(64) std::array<std::byte, 64> few = {};
  EXPECT_TRUE(take_pages_away(few.data(), few.size()).empty());
  EXPECT_TRUE(take_pages_away(few.data(), 0).empty());
}

// More at once than the thread remembers: the rest is given back at once.
TEST(Pages, OfManyArraysAtOnceAllGoBack) {
  std::vector<OwnBytes> all(3000);
  for (OwnBytes& bytes : all) {
    bytes.reset(static_cast<std::byte*>(std::malloc(std::size_t{64} << 10)));
    std::fill_n(bytes.get(), std::size_t{64} << 10, std::byte{0xFF});
  }
  const std::size_t before = bloomery::test::used_memory().resident;
  for (const OwnBytes& bytes : all)
    if (take_pages_away(bytes.get(), std::size_t{64} << 10).empty())
      GTEST_SKIP() << "none are moved";
  go_back(before, all.size() * (std::size_t{64} << 10) / 2);
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (const OwnBytes& bytes : all)
    ASSERT_TRUE(are_all({bytes.get() + page, (std::size_t{64} << 10) - 2 * page}, 0));
}

// Where the thread is not, nothing may wait for it.
TEST(Pages, StayInTheChildOfAFork) {
  const OwnBytes bytes = ones();
  (void)take_pages_away(bytes.get(), kMovedBytes / 2);  // the thread runs, in the parent
  const pid_t child = fork();
  if (child == 0) _exit(take_pages_away(bytes.get(), kMovedBytes).empty() ? 0 : 1);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// ---- huge pages ---------------------------------------------------------------------------------

// Straight from the system: malloc may give what was used before.
struct Mapping {
  explicit Mapping(std::size_t bytes)
      : size(bytes),
        first(static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
  ~Mapping() {
    let_be_small(first, size);
    munmap(first, size);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::size_t size;
  std::byte* first;
};

class HugePages : public testing::Test {
 protected:
  void SetUp() override {
    std::string modes;
    std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), modes);
    if (modes.empty() || modes.find("[never]") != std::string::npos || !can_make_pages())
      GTEST_SKIP() << "the system has none";
    huge_pages_wanted = true;
  }
  void TearDown() override { huge_pages_wanted = false; }

  // How much of it has pages.
  static std::size_t made(const Mapping& memory) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> there(memory.size / page);
    if (mincore(memory.first, memory.size, there.data()) != 0) return 0;
    return page * static_cast<std::size_t>(std::ranges::count_if(
                      there, [](unsigned char one) { return (one & 1) != 0; }));
  }
  // Writes to every n-th page.
  static void touch(const Mapping& memory, std::size_t n) {
    for (std::size_t at = 0; at < memory.size; at += n * kSmallPage)
      memory.first[at] = std::byte{7};
  }
  // A system before Linux 6.1 cannot, and an emulator promises it and does not.
  static bool can_make_pages() {
    const Mapping probe(kMovedBytes);
    touch(probe, 2);
    const auto whole = whole_units(probe.first, probe.size, std::size_t{2} << 20);
    constexpr int kCollapse = 25;
    return madvise(whole.data(), whole.size(), kCollapse) == 0 && made(probe) >= whole.size();
  }
  // Waits until the thread has made the pages, but for less than 2 MiB at each end.
  static bool are_made(const Mapping& memory) {
    touch(memory, 2);
    make_pages_huge(memory.first, memory.size);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (made(memory) + (std::size_t{4} << 20) < memory.size) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }
};

TEST_F(HugePages, JoinTheSmallOnesAndKeepWhatIsThere) {
  const Mapping memory(kMovedBytes);
  EXPECT_TRUE(are_made(memory));
  for (std::size_t at = 0; at < kMovedBytes; ++at)
    ASSERT_EQ(memory.first[at], std::byte(at % (2 * kSmallPage) == 0 ? 7 : 0)) << at;
}

// Look-ups of what was never written leave the system's page of zeros, which takes no memory.
TEST_F(HugePages, AreNotMadeWherePagesWereOnlyRead) {
  const Mapping memory(kMovedBytes);
  std::size_t zeros = 0;
  for (std::size_t at = 0; at < memory.size; at += kSmallPage)
    zeros += *const_cast<const volatile std::byte*>(memory.first + at) == std::byte{};
  ASSERT_EQ(zeros, memory.size / kSmallPage);
  EXPECT_FALSE(are_mostly_there(memory.first, memory.size));
}

// So few pages that the system is asked about all of them at once.
TEST_F(HugePages, AreWorthItWhereHalfOfThePagesAreThere) {
  const Mapping memory(100 * kSmallPage);
  madvise(memory.first, memory.size, MADV_NOHUGEPAGE);  // one page at a time
  for (std::size_t page = 0; page < 50; ++page) {
    EXPECT_FALSE(are_mostly_there(memory.first, memory.size)) << page;
    memory.first[page * kSmallPage] = std::byte{7};
  }
  EXPECT_TRUE(are_mostly_there(memory.first, memory.size));
}

// A server asks often, and has so many descriptors.
TEST_F(HugePages, LeaveNoDescriptorOpen) {
  const Mapping memory(kMovedBytes);
  const auto open_now = [] {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
  };
  const auto before = open_now();
  for (int i = 0; i < 10; ++i) (void)are_mostly_there(memory.first, memory.size);
  EXPECT_EQ(open_now(), before);
}

// To join them would copy them.
TEST_F(HugePages, AreNotMadeOfPagesThatAForkShares) {
  const Mapping memory(kMovedBytes);
  touch(memory, 1);
  ASSERT_TRUE(are_mostly_there(memory.first, memory.size));
  std::array<int, 2> ends;
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    char byte = 0;
    _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  EXPECT_FALSE(are_mostly_there(memory.first, memory.size));
  close(ends[0]);
  close(ends[1]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(are_mostly_there(memory.first, memory.size));
}

// What a header says about the items of a filter is no reason to take memory.
TEST_F(HugePages, AreNotMadeWhereFewSmallOnesAre) {
  const Mapping memory(kMovedBytes);
  touch(memory, 3);
  EXPECT_FALSE(are_mostly_there(memory.first, memory.size));
  make_pages_huge(memory.first, memory.size);
  const Mapping later(kMovedBytes);
  EXPECT_TRUE(are_made(later));
  EXPECT_LE(made(memory), memory.size / 3 + kSmallPage);
  EXPECT_TRUE(are_mostly_there(later.first, later.size));
}

// The thread goes through its jobs in order, and the first one takes it a while: when a later one
// is done, the one in between was not begun.
TEST_F(HugePages, AreNotMadeForMemoryThatIsFreed) {
  const Mapping first(16 * kMovedBytes);
  const Mapping large(16 * kMovedBytes);
  const Mapping later(kMovedBytes);
  for (const Mapping* memory : {&first, &large}) {
    touch(*memory, 2);
    make_pages_huge(memory->first, memory->size);
  }
  let_be_small(large.first, large.size);
  EXPECT_TRUE(are_made(later));
  EXPECT_LT(made(large), large.size / 4 * 3);
}

TEST_F(HugePages, AreNotMadeWhereTheyAreNotWanted) {
  huge_pages_wanted = false;
  const Mapping large(kMovedBytes);
  touch(large, 2);
  make_pages_huge(large.first, large.size);
  huge_pages_wanted = true;
  const Mapping later(kMovedBytes);
  EXPECT_TRUE(are_made(later));
  EXPECT_EQ(made(large), large.size / 2);
}

// Several mappings may not move together. What is left of 2 MiB is given back then, and is not written with zeros.
TEST_F(HugePages, GoBackWhereTheyCannotBeMoved) {
  const Mapping memory(kMovedBytes);
  let_be_huge(memory.first, memory.size);
  constexpr std::size_t kPart = std::size_t{1} << 20;
  for (std::size_t at = 0; at < memory.size; at += 2 * kPart)
    ASSERT_EQ(madvise(memory.first + at, kPart, MADV_NOHUGEPAGE), 0);
  touch(memory, 1);
  const std::span<std::byte> zeros = take_pages_away(memory.first, memory.size);
  if (zeros.empty()) GTEST_SKIP() << "the system moves no pages";
  EXPECT_LE(made(memory), memory.size - zeros.size());
  EXPECT_TRUE(are_all(zeros, 0));
}

// One byte in any place, and a part of zeros and the end beside it.
TEST(Used, IsCopiedAndMergedWhereverItIs) {
  for (const std::size_t size : {1UL, 64UL, 4095UL, 4096UL, 4097UL, 20000UL})
    for (const std::size_t at : {0UL, 1UL, 63UL, 4094UL, 4095UL, 4096UL, 8191UL, 19999UL}) {
      if (at >= size) continue;
      std::vector<std::byte> from(size);
      from[at] = std::byte{0x80};
      std::vector<std::byte> copied(size);
      copy_used(from, copied.data());
      EXPECT_EQ(copied, from);
      std::vector<std::byte> merged(size, std::byte{0x01});
      auto expected = merged;
      expected[at] = std::byte{0x81};
      merge_used(from, merged.data());
      EXPECT_EQ(merged, expected);
    }
}

TEST(Clear, LeavesZerosWhereverItBeginsAndEnds) {
  for (const std::size_t from : {std::size_t{0}, std::size_t{64}, kShift})
    for (const std::size_t bytes :
         {std::size_t{64}, kManyPages - 64, kManyPages, kMovedBytes - 4096 - 64}) {
      const OwnBytes memory = ones();
      clear(memory.get() + from, bytes);
      EXPECT_TRUE(are_all({memory.get() + from, bytes}, 0)) << from << ", " << bytes;
      EXPECT_TRUE(are_all({memory.get(), from}, 0xFF)) << from << ", " << bytes;
      EXPECT_TRUE(are_all({memory.get() + from + bytes, kShift}, 0xFF)) << from << ", " << bytes;
    }
}

}  // namespace
