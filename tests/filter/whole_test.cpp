// The whole filter: merge, intersect, clear, copy, move, borrowed bits, and their refusals.
#include <bloomery/concurrent_filter.hpp>
#include <bloomery/error.hpp>
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.hpp"
#include "support/layouts.hpp"
#include "support/moved_from.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

TEST(Whole, MergeIsTheFilterOfBothSets) {
  for (const Layout layout : kLayouts) {
    const Plan plan = bloomery::plan(2000, 0.01, layout);
    Filter left(plan), right(plan), both(plan);
    for (std::uint64_t key = 0; key < 2000; ++key) {
      (key % 2 == 0 ? left : right).insert(key);
      both.insert(key);
    }
    left.merge(right);
    EXPECT_TRUE(same_bits(left, both));
    left.merge(left);
    EXPECT_TRUE(same_bits(left, both));
  }
}

TEST(Whole, IntersectKeepsWhatIsInBoth) {
  for (const Layout layout : kLayouts) {
    const Plan plan = bloomery::plan(2000, 0.01, layout);
    Filter left(plan), right(plan);
    for (std::uint64_t key = 0; key < 2000; ++key) left.insert(key);
    for (std::uint64_t key = 1000; key < 3000; ++key) right.insert(key);
    left.intersect(right);
    for (std::uint64_t key = 1000; key < 2000; ++key) ASSERT_TRUE(left.may_contain(key));
    std::uint64_t kept = 0;
    for (std::uint64_t key = 0; key < 1000; ++key) kept += left.may_contain(key);
    EXPECT_LT(kept, 200U);
  }
}

TEST(Whole, RefusesToMixWhatDiffersAndNamesIt) {
  const Plan base{Layout::blocked2, 5120, 8, 100, 0.01};
  const Seed seed{.low = 1, .high = 2};
  const auto with = [&](auto change) {
    Plan other = base;
    change(other);
    return other;
  };
  struct Difference {
    Plan plan;
    Hasher hasher;
    std::vector<std::string> words;
  };
  const Hasher siphash(HashFamily::siphash, seed);
  const std::vector<Difference> differences = {
      {with([](Plan& it) { it.layout = Layout::standard; }),
       siphash,
       {"layout", "blocked2", "standard"}},
      {with([](Plan& it) { it.bits = 5632; }), siphash, {"bits", "5120", "5632"}},
      {with([](Plan& it) { it.hashes = 6; }), siphash, {"hashes", "8", "6"}},
      {base, Hasher(HashFamily::xxh3, {.low = 1, .high = 0}), {"hash family", "xxh3", "siphash"}},
      {base, Hasher(HashFamily::siphash, {.low = 1, .high = 3}), {"seed"}},
      {base, Hasher(HashFamily::siphash, {.low = 9, .high = 2}), {"seed"}},
  };
  for (const Difference& difference : differences) {
    Filter one(base, siphash), other(difference.plan, difference.hasher);
    one.insert(1);
    other.insert(2);
    const Filter before = one.copy();
    for (const auto& word : difference.words) {
      expect_error(ErrorCode::mismatch, {"the filters differ in", word}, [&] { one.merge(other); });
      expect_error(ErrorCode::mismatch, {"the filters differ in", word}, [&] { other.merge(one); });
      expect_error(ErrorCode::mismatch, {word}, [&] { one.intersect(other); });
      expect_error(ErrorCode::mismatch, {word},
                   [&] { FilterView::require_same_scheme(one, other); });
    }
    EXPECT_TRUE(same_bits(one, before));
  }
}

// Capacity and rate are promises, not places of bits.
TEST(Whole, MixesWhatDiffersInPromisesAlone) {
  Filter one(Plan{Layout::blocked, 5120, 8, 100, 0.01}),
      other(Plan{Layout::blocked, 5120, 8, 300, 0.2});
  other.insert(5);
  EXPECT_NO_THROW(one.merge(other));
  EXPECT_TRUE(one.may_contain(5));
}

TEST(Whole, ClearForgetsEverything) {
  for (const Layout layout : kLayouts) {
    Filter filter(plan(100, 0.01, layout));
    const Filter empty = filter.copy();
    for (int key = 0; key < 100; ++key) filter.insert(key);
    EXPECT_FALSE(same_bits(filter, empty));
    filter.clear();
    EXPECT_TRUE(same_bits(filter, empty));
    EXPECT_TRUE(filter.insert(1));
  }
}

TEST(Whole, CopiesAndMovesLeadSeparateLives) {
  for (const std::uint64_t capacity : {100U, 3'000'000U}) {  // both kinds of memory
    Filter one(plan(capacity, 0.01), Hasher(HashFamily::xxh3, {.low = 5, .high = 0}));
    one.insert("first");
    Filter two = one.copy();
    EXPECT_EQ(two.plan(), one.plan());
    EXPECT_EQ(two.hasher().seed(), one.hasher().seed());
    EXPECT_NE(two.bytes().data(), one.bytes().data());
    two.insert("second");
    EXPECT_TRUE(two.may_contain("first"));
    EXPECT_FALSE(one.may_contain("second"));
    const std::byte* const bytes = two.bytes().data();
    Filter three = std::move(two);
    EXPECT_EQ(three.bytes().data(), bytes);
    EXPECT_EQ(three.mutable_bytes().data(), bytes);
    EXPECT_TRUE(three.may_contain("second"));
    one = std::move(three);
    EXPECT_EQ(one.bytes().data(), bytes);
    EXPECT_TRUE(one.may_contain("second"));
    one.insert("third");
    EXPECT_TRUE(one.may_contain("third"));
  }
}

// Everything that a filter without bits can be asked, on every kernel.
void expect_has_no_bits(Filter& empty) {
  SCOPED_TRACE(describe(empty));
  expect_knows_nothing(empty);
  const std::vector<Hash128> hashes(100, Hash128{~std::uint64_t{0}, 7});
  empty.prefetch(hashes[0]);
  ConcurrentFilter shared(empty);
  EXPECT_FALSE(shared.insert(3));
  EXPECT_TRUE(shared.may_contain(4));
  EXPECT_EQ(shared.insert_hashes(hashes), 0U);
  EXPECT_EQ(shared.may_contain_hashes(hashes), hashes.size());
  EXPECT_EQ(empty.capacity(), 0U);
  EXPECT_TRUE(empty.bytes().empty());
  EXPECT_TRUE(empty.mutable_bytes().empty());
  expect_error(ErrorCode::invalid_argument, {"0 bits"}, [&] { (void)empty.copy(); });
  Filter other(Plan{empty.plan().layout, 512, empty.plan().hashes, 1, 0.5}, empty.hasher());
  expect_error(ErrorCode::mismatch, {"bits"}, [&] { empty.merge(other); });
  expect_error(ErrorCode::mismatch, {"bits"}, [&] { other.intersect(empty); });
  EXPECT_FALSE(other.may_contain("first"));
}

// Its bits belong to another filter, or to nobody: under AddressSanitizer the second case shows
// a use of them, and the first filter's bytes show it everywhere.
TEST(Whole, AFilterThatWasMovedFromTouchesNoBits) {
  for (const Layout layout : kLayouts)
    for (const detail::Kernel* kernel : detail::kernels_of(layout))
      for (const std::uint64_t capacity : {100U, 3'000'000U}) {
        Filter one = with_kernel(plan(capacity, 0.01, layout), *kernel);
        one.insert("first");
        const Filter before = one.copy();
        Filter holder = std::move(one);
        expect_has_no_bits(one);  // NOLINT(bugprone-use-after-move): it is specified
        EXPECT_TRUE(same_bits(holder, before));
        Filter target(plan(50, 0.1, layout));
        target = std::move(holder);
        EXPECT_TRUE(same_bits(target, before));
        { const Filter gone = std::move(target); }
        expect_has_no_bits(holder);  // NOLINT(bugprone-use-after-move)
        expect_has_no_bits(target);  // NOLINT(bugprone-use-after-move)
        // Assigned to, it is a filter again; and nothing is lost to itself.
        one = before.copy();
        Filter& itself = one;
        one = std::move(itself);
        EXPECT_TRUE(same_bits(one, before));
        EXPECT_TRUE(one.may_contain("first"));
        EXPECT_FALSE(one.may_contain("second"));
        Filter nothing = std::move(holder);
        expect_has_no_bits(nothing);
      }
}

TEST(Whole, BorrowsBitsOfTheRightSizeAndAlignment) {
  const Plan plan{Layout::blocked, 2048, 4, 100, 0.01};
  alignas(64) std::byte storage[512] = {};
  const std::span<std::byte> bits(storage, 256);
  FilterView view(plan, Hasher(), bits);
  EXPECT_TRUE(view.insert("key"));
  // Another view of the same bytes sees the key: nothing is kept elsewhere.
  EXPECT_TRUE(FilterView(plan, Hasher(), bits).may_contain("key"));
  EXPECT_EQ(view.bytes().data(), storage);
  EXPECT_EQ(view.bytes().size(), 256U);
  for (const std::size_t size : {0U, 64U, 255U, 257U, 512U})
    expect_error(ErrorCode::mismatch, {"256 bytes", std::to_string(size)},
                 [&] { FilterView(plan, Hasher(), std::span(storage, size)); });
  for (const std::size_t offset : {1U, 8U, 32U, 63U})
    expect_error(ErrorCode::invalid_argument, {"64-byte aligned"},
                 [&] { FilterView(plan, Hasher(), std::span(storage + offset, 256)); });
  Plan broken = plan;
  broken.hashes = 17;
  expect_error(ErrorCode::invalid_argument, {"hashes"},
               [&] { FilterView(broken, Hasher(), bits); });
}

TEST(Whole, ChecksThePlanBeforeItAllocates) {
  // Of the second no system has the memory, which would be another error.
  for (const std::uint64_t bits : {kMaxBits * 2, std::uint64_t{1} << 62})
    expect_error(ErrorCode::too_large, {"2^40"}, [&] {
      Filter(Plan{Layout::blocked, bits, 4, 100, 0.01});
    });
  expect_error(ErrorCode::invalid_argument, {"multiple of 512"}, [] {
    Filter(Plan{Layout::blocked, 513, 4, 100, 0.01});
  });
  expect_error(ErrorCode::invalid_argument, {"even number"}, [] {
    Filter(Plan{Layout::blocked2, 512, 3, 100, 0.01});
  });
}

// A hash function's 32 bits would give the rate a floor of n/2^32: with 128 bits a filter of a
// great many bits per key has no false positive at all.
TEST(Whole, NoFloorUnderTheFpr) {
  for (const Layout layout : kLayouts) {
    Filter filter(plan_of(layout, 1 << 16, 8));
    std::vector<std::uint64_t> keys(1000), others(hurried() ? 200'000 : 2'000'000);
    for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = i << 32;
    for (std::uint64_t i = 0; i < others.size(); ++i) others[i] = (i % 1000) << 32 | (1 + i / 1000);
    filter.insert_many(keys);
    EXPECT_EQ(filter.may_contain_many(others), 0U) << to_string(layout);
  }
}

}  // namespace
}  // namespace bloomery::test
