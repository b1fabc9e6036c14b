// A lack of memory while keys are collected or built: an error that loses no key that was acknowledged.
#include <bloomery/error.hpp>
#include <bloomery/frozen_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <span>
#include <vector>

namespace {

// The allocation after which one of at least so many bytes fails; negative: none does.
long fail_after = -1;
std::size_t fail_from = 0;
std::size_t failed = 0;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  if (fail_after >= 0 && size >= fail_from && fail_after-- == 0) {
    ++failed;
    throw std::bad_alloc();
  }
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace bloomery {
namespace {

constexpr std::uint64_t kKeys = 2'200'000;

// Keys one part after the other; what cannot be added is tried once more.
std::size_t fill(FrozenBuilder& builder, const std::vector<std::uint64_t>& keys) {
  std::size_t refused = 0;
  for (std::size_t at = 0; at < keys.size(); at += 10'000) {
    const auto part = std::span(keys).subspan(at, std::min<std::size_t>(10'000, keys.size() - at));
    try {
      builder.insert_many(part);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::no_memory);
      ++refused;
      builder.insert_many(part);
    }
  }
  return refused;
}

// The largest allocations: the first keys, as they grow, the buckets, the list of chunks, and that as it grows.
// The most frequent ones are the chunks.
TEST(FrozenMemory, ThatIsLackingLosesNoKey) {
  std::vector<std::uint64_t> keys(kKeys);
  for (std::uint64_t i = 0; i < kKeys; ++i) keys[i] = i;
  std::size_t refusals = 0;
  for (const std::size_t from : {std::size_t{1} << 15, std::size_t{4'000}})
    for (const long after : {0L, 6L, 7L, 8L, 9L, 3'000L}) {
      if (from < 5'000 && after < 1'000) continue;
      fail_from = from;
      FrozenBuilder builder(0.01);
      failed = 0;
      fail_after = after;
      const std::size_t refused = fill(builder, keys);
      fail_after = -1;
      EXPECT_EQ(refused, failed);
      refusals += refused;
      const FrozenFilter filter = builder.build();
      ASSERT_EQ(filter.may_contain_many(keys), kKeys) << from << " bytes, " << after;
      EXPECT_EQ(filter.keys(), kKeys);
    }
  EXPECT_GE(refusals, 5U);
}

TEST(FrozenMemory, ThatIsLackingAtTheEndIsAnError) {
  std::vector<std::uint64_t> keys(kKeys);
  for (std::uint64_t i = 0; i < kKeys; ++i) keys[i] = i;
  std::size_t errors = 0;
  for (const long after : {0L, 1L, 2L, 3L, 4L, 6L, 8L}) {
    FrozenBuilder builder(0.01);
    builder.insert_many(keys);
    fail_from = 1;
    fail_after = after;
    try {
      const FrozenFilter filter = builder.build();
      fail_after = -1;
      EXPECT_EQ(filter.may_contain_many(keys), kKeys);
    } catch (const Error& error) {
      fail_after = -1;
      EXPECT_EQ(error.code(), ErrorCode::no_memory);
      EXPECT_EQ(builder.inserted(), kKeys);
      ++errors;
    }
    // It is as new, or has its keys.
    const bool has_keys = builder.inserted() != 0;
    builder.insert(kKeys + 7);
    const FrozenFilter next = builder.build();
    EXPECT_TRUE(next.may_contain(kKeys + 7));
    EXPECT_EQ(next.keys(), has_keys ? kKeys + 1 : 1);
    if (has_keys) {
      EXPECT_EQ(next.may_contain_many(keys), kKeys);
    }
  }
  EXPECT_GT(errors, 3U);
}

}  // namespace
}  // namespace bloomery
