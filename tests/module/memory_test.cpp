// Memory that was sent: what a fork that saves gives back of it, and that nobody else does.
#include "server/memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "counted_memory.hpp"
#include "server/api.hpp"

namespace {

using namespace bloomery::server;

constexpr std::size_t kPart = std::size_t{1} << 20;
constexpr std::size_t kBytes = 3 * kPart + 1000;

int flags = 0;
int told(Context*) { return flags; }

// Ones, from 64 bytes after the start of a page on, as an allocator lays out arrays.
class SentParts : public testing::Test {
 protected:
  void SetUp() override {
    api.GetContextFlags = told;
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    room_ =
        std::span(static_cast<std::byte*>(mmap(nullptr, kBytes + 2 * page, PROT_READ | PROT_WRITE,
                                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
                  kBytes + 2 * page);
    ASSERT_NE(room_.data(), MAP_FAILED);
    std::ranges::fill(room_, std::byte{0xFF});
    array = room_.subspan(64, kBytes);
    whole = room_.subspan(page, (64 + kBytes) / page * page - page);
  }
  void TearDown() override {
    munmap(room_.data(), room_.size());
    api = {};
  }

  void send() const {
    Sent sent;
    for (std::size_t at = 0; at < kBytes; at += kPart)
      sent.give_back(array.subspan(at, std::min(kPart, kBytes - at)));
  }
  [[nodiscard]] std::ptrdiff_t zeros() const { return std::ranges::count(room_, std::byte{0}); }

  std::span<std::byte> array;
  std::span<std::byte> whole;  // pages of it

 private:
  std::span<std::byte> room_;
};

TEST_F(SentParts, GoByAForkThatSavesWithThePagesBetweenThem) {
  flags = kContextIsChild;
  send();
  EXPECT_EQ(std::ranges::count(whole, std::byte{0}), std::ssize(whole));
  EXPECT_EQ(zeros(), std::ssize(whole));  // what shares a page with others stays
}

TEST_F(SentParts, GoOnlyAsFarAsTheyFollowEachOther) {
  flags = kContextIsChild;
  Sent sent;
  sent.give_back(array.first(kPart));
  sent.give_back(array.last(kPart));
  EXPECT_EQ(array[kPart], std::byte{0xFF});
  EXPECT_EQ(std::ranges::count(array.subspan(kPart, kBytes - 2 * kPart), std::byte{0}), 0);
  EXPECT_GT(zeros(), std::ssize(array.first(kPart)));
}

TEST_F(SentParts, StayOutsideAServer) {
  api = {};
  send();
  EXPECT_EQ(zeros(), 0);
  EXPECT_EQ(allocated_size(array.data()), 0U);
}

// The system does not take locked pages back.
TEST_F(SentParts, AreZeroedWhereTheyCannotBeGivenBack) {
  if (mlock(array.data(), kPart) != 0) GTEST_SKIP() << "no memory can be locked";
  zero(array.data(), kPart);
  EXPECT_EQ(zeros(), std::ssize(array.first(kPart)));
  EXPECT_EQ(std::ranges::count(array.first(kPart), std::byte{0}), zeros());
}

TEST(Memory, OfMoreThanTheMachineHasIsNotAskedFor) {
  const bloomery::test::CountedMemory memory;
  EXPECT_EQ(allocate_zeroed(SIZE_MAX / 2), nullptr);
  EXPECT_EQ(allocate_aligned(SIZE_MAX / 2), nullptr);
  EXPECT_EQ(bloomery::test::CountedMemory::largest, 0U);
}

// The first allocation may be at another address, and is given back then.
TEST(Memory, ThatIsAlignedIsOneAllocation) {
  const bloomery::test::CountedMemory memory;
  std::size_t& held = bloomery::test::CountedMemory::held;
  std::vector<void*> all;
  for (std::size_t bytes = 64; bytes < 10'000; bytes += 64) {
    all.push_back(allocate_aligned(bytes));
    ASSERT_NE(all.back(), nullptr);
    const std::span array(aligned(all.back()), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0U);
    EXPECT_EQ(std::ranges::count(array, std::byte{0}), std::ssize(array));
    EXPECT_EQ(held, all.size());
  }
  // There may be no memory for the second.
  std::size_t refused = 0;
  for (std::size_t bytes = 64; bytes < 10'000; bytes += 64) {
    bloomery::test::CountedMemory::allocations_left = 1;
    void* const one = allocate_aligned(bytes);
    EXPECT_EQ(held, all.size() + (one != nullptr));
    refused += one == nullptr;
    release(one);
  }
  EXPECT_GT(refused, 0U);
  for (void* const each : all) release(each);
  EXPECT_EQ(held, 0U);
}

TEST_F(SentParts, StayInTheServerAndWhereAScriptRuns) {
  for (const int where : {0, kContextIsLua, kContextIsChild | kContextIsLua}) {
    flags = where;
    send();
    EXPECT_EQ(zeros(), 0) << where;
  }
}

}  // namespace
