// Counting filters as wholes: made, merged, copied, moved, borrowed, and turned into plain ones.
#include <bloomery/counting_filter.hpp>
#include <bloomery/encode.hpp>
#include <bloomery/error.hpp>

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/counting.hpp"
#include "support/expect_error.hpp"
#include "support/layouts.hpp"
#include "support/moved_from.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

TEST(Counting, MergeAddsCountsAndSaturates) {
  for (const Layout layout : kNarrowLayouts) {
    const std::uint64_t full = full_of(counter_bits(layout));
    const Plan plan = bloomery::plan(2000, 0.01, layout);
    CountingFilter left(plan), right(plan), both(plan);
    for (std::uint64_t key = 0; key < 2000; ++key) {
      (key % 2 == 0 ? left : right).insert(key);
      both.insert(key);
    }
    for (std::uint64_t i = 0; i < full - 2; ++i) {
      left.insert("often");
      both.insert("often");
    }
    for (int i = 0; i < 5; ++i) {
      right.insert("often");
      both.insert("often");
    }
    left.merge(right);
    EXPECT_TRUE(same_counters(left, both));
    EXPECT_EQ(left.count_at_most("often"), kUncounted);
    CountingFilter twice = right.copy();
    twice.merge(twice);
    EXPECT_GE(twice.count_at_most("often"), 10U);
    EXPECT_TRUE(twice.remove(1));
    EXPECT_TRUE(twice.remove(1));
  }
}

TEST(Counting, RefusesToMixWhatDiffersAndNamesIt) {
  const Plan base{Layout::blocked128, 5120, 8, 100, 0.01};
  struct Difference {
    Plan plan;
    Hasher hasher;
    std::vector<std::string> words;
  };
  const std::vector<Difference> differences = {
      {{Layout::blocked64, 5120, 8, 100, 0.01}, Hasher(), {"layout", "blocked128", "blocked64"}},
      {{Layout::blocked128, 5632, 8, 100, 0.01}, Hasher(), {"bits", "5120", "5632"}},
      {{Layout::blocked128, 5120, 6, 100, 0.01}, Hasher(), {"hashes", "8", "6"}},
      {base, Hasher(HashFamily::siphash, {.low = 1}), {"hash family"}},
      {base, Hasher(HashFamily::xxh3, {.low = 1}), {"seed"}},
  };
  for (const Difference& difference : differences) {
    CountingFilter one(base), other(difference.plan, difference.hasher);
    one.insert(1);
    other.insert(2);
    const CountingFilter before = one.copy();
    for (const std::string& word : difference.words)
      expect_error(ErrorCode::mismatch, {"the filters differ in", word}, [&] { one.merge(other); });
    EXPECT_TRUE(same_counters(one, before));
  }
  CountingFilter one(base), other({Layout::blocked128, 5120, 8, 300, 0.2});
  other.insert(5);
  EXPECT_NO_THROW(one.merge(other));  // capacity and rate are promises, not places
  EXPECT_TRUE(one.may_contain(5));
}

// Law: the equivalent plain filter answers what the counting filter answers, and keeps doing so for new keys.
TEST(Counting, TheEquivalentPlainFilterAnswersTheSame) {
  Random random(42);
  for (const Layout layout : kNarrowLayouts)
    for (const double load : {0.0, 0.3, 1.0, 3.0}) {
      const std::uint32_t width = counter_bits(layout);
      CountingFilter filter(plan(4000, 0.01, layout),
                            Hasher(HashFamily::siphash, {.low = 4, .high = 2}));
      for (int i = 0; i < static_cast<int>(4000 * load); ++i) filter.insert_hash(random.hash());
      Filter plain = filter.to_plain();
      EXPECT_EQ(plain.plan(), filter.plan());
      EXPECT_EQ(plain.hasher().seed(), filter.hasher().seed());
      EXPECT_EQ(plain.bytes().size() * width, filter.bytes().size());
      for (int i = 0; i < 3000; ++i) {
        const Hash128 hash = random.hash();
        ASSERT_EQ(plain.may_contain_hash(hash), filter.may_contain_hash(hash));
        ASSERT_EQ(plain.insert_hash(hash), filter.insert_hash(hash));
      }
      const Filter again = filter.to_plain();
      EXPECT_TRUE(same_bits(plain, again));
      EXPECT_EQ(plain.fill(), filter.fill());
      EXPECT_NEAR(plain.current_fpr(), filter.current_fpr(), 1e-12);
      EXPECT_EQ(plain.estimated_items(), filter.estimated_items());
      EXPECT_EQ(plain.over_capacity(), filter.over_capacity());
    }
}

TEST(Counting, AnEquivalentPlainFilterCanBeSentAndStored) {
  CountingFilter filter(1000, 0.001);
  for (std::uint64_t key = 0; key < 1000; ++key) filter.insert(key);
  const Filter plain = filter.to_plain();
  const Filter again = decode(encode(plain));
  EXPECT_EQ(again.plan(), plain.plan());
  EXPECT_TRUE(same_bits(again, plain));
}

TEST(Counting, CopiesAndMovesLeadSeparateLives) {
  for (const std::uint64_t capacity : {100U, 1'000'000U}) {  // both kinds of memory
    CountingFilter one(plan(capacity, 0.01, Layout::blocked128),
                       Hasher(HashFamily::xxh3, {.low = 5}));
    one.insert("first");
    CountingFilter two = one.copy();
    EXPECT_EQ(two.hasher().seed(), one.hasher().seed());
    two.insert("second");
    EXPECT_FALSE(one.may_contain("second"));
    const std::byte* const bytes = two.bytes().data();
    CountingFilter three = std::move(two);
    EXPECT_EQ(three.bytes().data(), bytes);
    EXPECT_EQ(three.mutable_bytes().data(), bytes);
    one = std::move(three);
    EXPECT_EQ(one.bytes().data(), bytes);
    EXPECT_TRUE(one.may_contain("first"));
    EXPECT_TRUE(one.remove("second"));
  }
}

void expect_has_no_counters(CountingFilter& filter) {
  expect_knows_nothing(filter);
  EXPECT_TRUE(filter.remove("anything"));
  EXPECT_EQ(filter.remove_many(std::vector<std::uint64_t>(100, 7)), 100U);
  EXPECT_EQ(filter.count_at_most("anything"), kUncounted);
  EXPECT_EQ(filter.saturated_counters(), 0U);
  EXPECT_TRUE(filter.bytes().empty());
  filter.prefetch({1, 2});
  filter.merge(filter);
  expect_error(ErrorCode::invalid_argument, {"0 bits"}, [&] { (void)filter.copy(); });
  expect_error(ErrorCode::invalid_argument, {"0 bits"}, [&] { (void)filter.to_plain(); });
  CountingFilter real(plan(100, 0.01, filter.plan().layout));
  expect_error(ErrorCode::mismatch, {"bits"}, [&] { real.merge(filter); });
}

TEST(Counting, AFilterThatWasMovedFromTouchesNoCounters) {
  for (const Layout layout : kNarrowLayouts)
    for (const detail::CountingKernel* kernel : detail::kernels_of<detail::CountingKernel>(layout))
      for (const std::uint64_t capacity : {100U, 1'000'000U}) {
        CountingFilter one(plan(capacity, 0.01, layout));
        one.use_kernel(*kernel);
        one.insert("first");
        const CountingFilter before = one.copy();
        CountingFilter holder = std::move(one);
        expect_has_no_counters(one);  // NOLINT(bugprone-use-after-move): it is specified
        EXPECT_TRUE(same_counters(holder, before));
        one = before.copy();
        CountingFilter& itself = one;
        one = std::move(itself);
        EXPECT_TRUE(same_counters(one, before));
        one = std::move(holder);
        expect_has_no_counters(holder);  // NOLINT(bugprone-use-after-move)
        EXPECT_TRUE(one.remove("first"));
        EXPECT_FALSE(one.may_contain("first"));
      }
}

TEST(Counting, BorrowsCountersOfTheRightSizeAndAlignment) {
  for (const Layout layout : kNarrowLayouts) {
    const Plan plan{layout, 1024, 4, 100, 0.01};
    const std::size_t size = 128 * counter_bits(layout);
    EXPECT_EQ(counting_bytes(plan), size);
    alignas(64) std::byte storage[2048] = {};
    const std::span<std::byte> counters(storage, size);
    CountingView view(plan, Hasher(), counters);
    EXPECT_TRUE(view.insert("key"));
    EXPECT_TRUE(CountingView(plan, Hasher(), counters).may_contain("key"));
    EXPECT_EQ(view.bytes().data(), storage);
    for (const std::size_t wrong : {std::size_t{0}, std::size_t{128}, size - 1, size + 1})
      expect_error(ErrorCode::mismatch, {std::to_string(size) + " bytes", std::to_string(wrong)},
                   [&] { CountingView(plan, Hasher(), std::span(storage, wrong)); });
    for (const std::size_t offset : {1U, 8U, 32U, 63U})
      expect_error(ErrorCode::invalid_argument, {"64-byte aligned"},
                   [&] { CountingView(plan, Hasher(), std::span(storage + offset, size)); });
  }
}

TEST(Counting, ChecksThePlanBeforeItAllocates) {
  for (const Layout layout : kPlainLayouts) {
    const Plan plain{layout, 5120, 4, 100, 0.01};
    expect_error(ErrorCode::invalid_argument, {std::string(to_string(layout)), "cannot count"},
                 [&] { CountingFilter{plain}; });
  }
  for (const std::uint32_t width : {0U, 1U, 3U, 5U, 16U})
    expect_error(ErrorCode::invalid_argument, {std::to_string(width) + " bit", "use 4 or 8"},
                 [&] { CountingFilter(1000, 0.01, width); });
  // 128 GiB of counters, as of bits.
  EXPECT_EQ(max_bits(Layout::blocked128), kMaxBits / 4);
  EXPECT_EQ(max_bits(Layout::blocked64), kMaxBits / 8);
  expect_error(ErrorCode::too_large, {"2^38"}, [] {
    CountingFilter(Plan{Layout::blocked128, kMaxBits / 4 + 512, 4, 100, 0.01});
  });
  expect_error(ErrorCode::too_large, {"2^37"}, [] {
    CountingFilter(Plan{Layout::blocked64, kMaxBits / 4, 4, 100, 0.01});
  });
  expect_error(ErrorCode::too_large, {"2^37"}, [] {  // no system has the memory
    CountingFilter(Plan{Layout::blocked64, std::uint64_t{1} << 60, 4, 100, 0.01});
  });
  expect_error(ErrorCode::too_large, {"2^38 counters (128 GiB)"},
               [] { CountingFilter(100'000'000'000, 0.01); });
  expect_error(ErrorCode::invalid_argument, {"hashes"}, [] {
    CountingFilter(Plan{Layout::blocked64, 512, 17, 100, 0.01});
  });
}

}  // namespace
}  // namespace bloomery::test
