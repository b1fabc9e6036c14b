// Each allocation of a growing filter's life fails once: Error{no_memory}, and what was there is whole.
#include <bloomery/error.hpp>
#include <bloomery/scalable_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "support/random.hpp"
#include "support/scarce_memory.hpp"

namespace bloomery::test {
namespace {

// Runs `call` with its n-th allocation failing; the error if it did fail.
template <class Call>
std::optional<ErrorCode> starved(std::uint64_t nth, Call call) {
  fail_after = static_cast<long>(nth) - 1;
  std::optional<ErrorCode> code;
  try {
    call();
  } catch (const Error& error) {
    fail_after = -1;
    code = error.code();
  }
  fail_after = -1;
  return code;
}

// Each sub-filter of the first has the bits of that of the second.
void expect_same_bits(const ScalableFilter& filter, const ScalableFilter& other) {
  for (std::size_t i = 0; i < filter.sub_filters().size(); ++i)
    EXPECT_TRUE(
        std::ranges::equal(filter.sub_filters()[i]->bytes(), other.sub_filters()[i]->bytes()));
}

// Small sub-filters are of the heap, large ones are mapped: both come before this many keys.
constexpr std::uint64_t kFirst = 140'000;
constexpr std::size_t kKeys = 1'000'000;

TEST(ScalableMemory, EveryAllocationMayFail) {
  const std::vector<Hash128> hashes = Random(11).hashes(kKeys);
  const ScalablePlan plan = scalable_plan(kFirst, 0.01);
  ScalableFilter never(plan);
  never.insert_hashes(hashes);
  ASSERT_GT(never.sub_filters().back()->bytes().size(), std::size_t{2} << 20);

  EXPECT_EQ(starved(1, [&] { const ScalableFilter none(plan); }), ErrorCode::no_memory);
  std::uint64_t failures = 0;
  for (std::uint64_t nth = 1;; ++nth) {
    ScalableFilter filter(plan);
    const auto failed = starved(nth, [&] { filter.insert_hashes(hashes); });
    if (!failed) break;
    ++failures;
    EXPECT_EQ(*failed, ErrorCode::no_memory);
    // The sub-filters before the one that could not be had are full, and every key of them is found.
    EXPECT_EQ(filter.inserted(), filter.capacity());
    EXPECT_LT(filter.sub_filters().size(), never.sub_filters().size());
    expect_same_bits(filter, never);
    // With memory again, the same keys make it what it would have been.
    filter.insert_hashes(hashes);
    EXPECT_EQ(filter.inserted(), never.inserted());
    ASSERT_EQ(filter.sub_filters().size(), never.sub_filters().size());
    expect_same_bits(filter, never);
    if (HasFailure()) FAIL() << "with allocation " << nth << " failing";
  }
  // Of the bits, the sub-filter, and the lists of sub-filters, for each of the sub-filters that were added.
  EXPECT_GE(failures, 3 * (never.sub_filters().size() - 1));
}

TEST(ScalableMemory, ASingleInsertMayBeTriedAgain) {
  ScalableFilter filter(100, 0.01);
  const std::vector<Hash128> hashes = Random(11).hashes(101);
  for (const Hash128 hash : std::span(hashes).first(100)) filter.insert_hash(hash);
  const std::uint64_t before = filter.inserted();
  ASSERT_EQ(before, 100U);
  for (std::uint64_t nth = 1;; ++nth) {
    const auto failed = starved(nth, [&] { filter.insert_hash(hashes.back()); });
    if (!failed) break;
    EXPECT_EQ(*failed, ErrorCode::no_memory);
    EXPECT_EQ(filter.inserted(), before);
    EXPECT_FALSE(filter.grown());
    EXPECT_EQ(filter.may_contain_hashes(std::span(hashes).first(100)), 100U);
  }
  EXPECT_TRUE(filter.grown());
  EXPECT_EQ(filter.may_contain_hashes(hashes), 101U);
}

TEST(ScalableMemory, WhatIsReservedCannotFail) {
  const std::vector<Hash128> hashes = Random(11).hashes(3000);
  const auto first = std::span(hashes).first(50), rest = std::span(hashes).subspan(50);
  ScalableFilter never(100, 0.01), filter(100, 0.01);
  never.insert_hashes(hashes);
  filter.insert_hashes(first);
  for (std::uint64_t nth = 1; starved(nth, [&] { filter.reserve(rest.size()); }); ++nth) {
    EXPECT_EQ(filter.inserted(), 50U);
    EXPECT_FALSE(filter.grown());
  }
  EXPECT_FALSE(filter.grown()) << "before there are keys for it";
  EXPECT_FALSE(starved(1, [&] { filter.reserve(rest.size()); })) << "it is there";
  // Keys that are not new take no room.
  EXPECT_FALSE(starved(1, [&] { filter.insert_hashes(first); }));
  EXPECT_FALSE(starved(1, [&] { filter.insert_hashes(rest); }));
  ASSERT_EQ(filter.sub_filters().size(), never.sub_filters().size());
  expect_same_bits(filter, never);
  EXPECT_EQ(filter.inserted(), never.inserted());
  filter.reserve(100'000);
  filter.clear();
  filter.insert_hashes(hashes);
  EXPECT_EQ(filter.sub_filters().size(), never.sub_filters().size())
      << "the first sub-filter is followed by the "
         "second, whatever was reserved";
}

TEST(ScalableMemory, AReservationThatFailsKeepsNothing) {
  const std::vector<Hash128> hashes = Random(11).hashes(3000);
  std::uint64_t nth = 1;
  for (;; ++nth) {
    ScalableFilter filter(100, 0.01);
    if (!starved(nth, [&] { filter.reserve(hashes.size()); })) break;
    EXPECT_EQ(starved(1, [&] { filter.insert_hashes(hashes); }), ErrorCode::no_memory);
    EXPECT_FALSE(filter.grown()) << "with allocation " << nth << " failing";
  }
  EXPECT_GT(nth, 5U);
}

TEST(ScalableMemory, IsNotReservedForAFilterThatWasMovedFrom) {
  ScalableFilter filter(100, 0.01);
  const ScalableFilter owner = std::move(filter);
  // NOLINTNEXTLINE(bugprone-use-after-move): it is specified
  EXPECT_FALSE(starved(1, [&] { filter.reserve(1'000); }));
}

}  // namespace
}  // namespace bloomery::test
