// Pages that are taken away: what is left, and that the system gets them.
#include "pages.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <span>
#include <thread>

#include "memory.hpp"

namespace {

using namespace bloomery::server;

constexpr std::size_t kBytes = std::size_t{16} << 20;

struct FreeBytes {
  void operator()(std::byte* bytes) const { std::free(bytes); }
};
using Bytes = std::unique_ptr<std::byte, FreeBytes>;

// Ones, at no page's start.
constexpr std::size_t kShift = 192;
Bytes ones() {
  Bytes bytes(static_cast<std::byte*>(std::malloc(kBytes + kShift)));
  std::fill_n(bytes.get(), kBytes + kShift, std::byte{0xFF});
  return bytes;
}

bool are_all(std::span<const std::byte> bytes, int value) {
  return std::ranges::all_of(bytes, [&](std::byte one) { return one == std::byte(value); });
}

std::size_t resident() {
  std::size_t size = 0;
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> size >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(Pages, AreZeroAfterwardsAndCanBeUsed) {
  const Bytes bytes = ones();
  if (!take_pages_away(bytes.get() + kShift, kBytes)) GTEST_SKIP() << "the system moves no pages";
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  EXPECT_TRUE(are_all({bytes.get(), kShift}, 0xFF)) << "before the array";
  EXPECT_TRUE(are_all({bytes.get() + kShift + page, kBytes - 2 * page}, 0));
  std::fill_n(bytes.get(), kBytes, std::byte{0x55});
  EXPECT_TRUE(are_all({bytes.get(), kBytes}, 0x55));
}

TEST(Pages, GoBackToTheSystem) {
  const Bytes bytes = ones();
  const std::size_t before = resident();
  if (!take_pages_away(bytes.get(), kBytes)) GTEST_SKIP() << "the system moves no pages";
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (resident() + kBytes / 2 > before && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_LT(resident() + kBytes / 2, before);
}

TEST(Pages, OfLessThanAPageStay) {
  alignas(64) std::array<std::byte, 64> few = {};
  EXPECT_FALSE(take_pages_away(few.data(), few.size()));
  EXPECT_FALSE(take_pages_away(few.data(), 0));
}

// Where the thread is not, nothing may wait for it.
TEST(Pages, StayInTheChildOfAFork) {
  const Bytes bytes = ones();
  (void)take_pages_away(bytes.get(), kBytes / 2);  // the thread runs, in the parent
  const pid_t child = fork();
  if (child == 0) _exit(take_pages_away(bytes.get(), kBytes) ? 1 : 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Clear, LeavesZerosWhereverItBeginsAndEnds) {
  for (const std::size_t from : {std::size_t{0}, std::size_t{64}, kShift})
    for (const std::size_t bytes :
         {std::size_t{64}, kManyPages - 64, kManyPages, kBytes - 4096 - 64}) {
      const Bytes memory = ones();
      clear(memory.get() + from, bytes);
      EXPECT_TRUE(are_all({memory.get() + from, bytes}, 0)) << from << ", " << bytes;
      EXPECT_TRUE(are_all({memory.get(), from}, 0xFF)) << from << ", " << bytes;
      EXPECT_TRUE(are_all({memory.get() + from + bytes, kShift}, 0xFF)) << from << ", " << bytes;
    }
}

}  // namespace
