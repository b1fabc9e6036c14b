// Memory for bits: zeroed, aligned to a line, owned once, and refused with an error.
#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/error.hpp>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "support/effort.hpp"
#include "support/expect_error.hpp"
#include "support/refused_calls.hpp"
#include "support/used_memory.hpp"

namespace bloomery::detail {
namespace {

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(),
                     [](std::byte byte) { return byte == std::byte{}; });
}

TEST(BitMemory, IsZeroedAlignedAndWritableToItsLastByte) {
  constexpr std::size_t kMiB = std::size_t{1} << 20;
  for (const std::size_t size : {std::size_t{64}, std::size_t{128}, std::size_t{4096}, kMiB,
                                 2 * kMiB - 64, 2 * kMiB, 2 * kMiB + 64, 5 * kMiB + 192}) {
    BitMemory memory(size);
    ASSERT_EQ(memory.bytes().size(), size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % 64, 0U) << size;
    EXPECT_TRUE(all_zero(memory.bytes())) << size;
    std::fill(memory.bytes().begin(), memory.bytes().end(), std::byte{0xFF});
  }
}

TEST(BitMemory, IsZeroedThoughTheHeapWasNot) {
  for (int round = 0; round < 50; ++round) {
    BitMemory memory(4096);
    ASSERT_TRUE(all_zero(memory.bytes()));
    std::fill(memory.bytes().begin(), memory.bytes().end(), std::byte{0xFF});
  }
}

// A program may have a filter for each of its users.
TEST(BitMemory, TakesNoHugePageForAFewBytes) {
  constexpr std::size_t kFilters = 500, kHugePage = std::size_t{2} << 20;
  std::vector<BitMemory> filters;
  const std::size_t before = test::used_memory().reserved;
  for (std::size_t i = 0; i < kFilters; ++i) filters.emplace_back(64);
  EXPECT_LT(test::used_memory().reserved, before + kFilters * kHugePage / 4);
}

TEST(BitMemory, MovesWithoutCopyingAndLeavesNothingBehind) {
  for (const std::size_t size : {std::size_t{512}, std::size_t{4} << 20}) {
    BitMemory first(size);
    std::byte* const data = first.bytes().data();
    BitMemory second(std::move(first));
    EXPECT_EQ(second.bytes().data(), data);
    EXPECT_TRUE(first.bytes().empty());  // NOLINT(bugprone-use-after-move): it is specified
    BitMemory third(64);
    third = std::move(second);
    EXPECT_EQ(third.bytes().data(), data);
    EXPECT_EQ(third.bytes().size(), size);
    third.bytes().back() = std::byte{1};
  }
}

bool is_free(std::byte* from, std::size_t bytes) {
  void* const there =
      ::mmap(from, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (there == MAP_FAILED) return false;
  ::munmap(there, bytes);
  return there == from;
}

constexpr int kElsewhere = 77;

// Memory on huge pages begins and ends at their edges, and what was asked for before and behind them goes
// back. Some systems give it at an edge at once; where there is only one place, a page behind an edge, none
// can. This process has no other place left, so it is one of its own.
void use_the_only_place() {
  constexpr std::size_t kMiB = std::size_t{1} << 20, kPage = 4096;
  const auto take = [](std::size_t bytes) {
    return ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  };
  auto* const start = static_cast<std::byte*>(take(16 * kMiB));
  std::byte* const edge =
      start + (2 * kMiB - reinterpret_cast<std::uintptr_t>(start) % (2 * kMiB)) % (2 * kMiB);
  for (std::size_t bytes = std::size_t{1} << 46; bytes >= kPage; bytes /= 2)
    while (take(bytes) != MAP_FAILED) {
    }
  std::byte* const place = edge + kPage;
  ::munmap(place, 6 * kMiB);
  {
    const BitMemory memory(4 * kMiB);
    if (memory.bytes().data() != edge + 2 * kMiB) ::_exit(kElsewhere);
    if (!is_free(place, 2 * kMiB - kPage)) ::_exit(2);
    if (!is_free(edge + 6 * kMiB, kPage)) ::_exit(3);
    if (is_free(edge + 2 * kMiB, kPage) || is_free(edge + 6 * kMiB - kPage, kPage)) ::_exit(4);
  }
  ::_exit(is_free(place, 6 * kMiB) ? 0 : 5);
}

TEST(BitMemory, KeepsNoAddressesBeyondItself) {
#ifndef __x86_64__
  GTEST_SKIP() << "it may be an emulator, which has the address space for itself";
#endif
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer has the address space for itself";
  const pid_t child = ::fork();
  if (child == 0) use_the_only_place();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kElsewhere) GTEST_SKIP() << "there are other places after all";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// 2^57 bytes are beyond the address space of every machine that this runs on; sizes near
// 2^64 must not wrap into a small allocation.
TEST(BitMemory, RefusesWhatNoMachineHas) {
  constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
  for (const std::size_t size : {std::size_t{1} << 57, kMost / 2, kMost - (std::size_t{4} << 20),
                                 kMost - (std::size_t{2} << 20), kMost - 63, kMost})
    test::expect_error(ErrorCode::no_memory, {std::to_string(size)},
                       [&] { BitMemory memory(size); });
}

// Memory for a small filter may run out too, in a process that may have no more.
TEST(BitMemory, RefusesAFewBytesThatAreNotThere) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer has the address space for itself";
  const int failed = test::failed_in_child([] {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_AS, &none);
    try {
      const BitMemory memory(1'000'000);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::no_memory) return 1;
      return std::string_view(error.what()).find(" 1000000 bytes") != std::string_view::npos ? 0
                                                                                             : 2;
    }
    return kElsewhere;
  });
  if (failed == kElsewhere) GTEST_SKIP() << "an emulator does not know the limit";
  EXPECT_EQ(failed, 0);
}

// As many bytes as the largest filter. The system may lend them, and then nothing is touched.
TEST(BitMemory, TheLargestFilterIsLentOrRefused) {
  try {
    const BitMemory memory(std::size_t{1} << 37);
    EXPECT_EQ(memory.bytes().size(), std::size_t{1} << 37);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.bytes().data()) % 64, 0U);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::no_memory);
  }
}

}  // namespace
}  // namespace bloomery::detail
