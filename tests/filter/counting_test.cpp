// The laws of a counting filter: what inserts and removals leave in its counters, and what it refuses.
#include <bloomery/counting_filter.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "support/counting.hpp"
#include "support/key_families.hpp"
#include "support/layouts.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

TEST(Counting, InsertsAreTakenBack) {
  for (const Layout layout : kNarrowLayouts) {
    CountingFilter filter(plan(1000, 0.01, layout));
    const CountingFilter empty = filter.copy();
    const std::uint32_t width = filter.counter_bits();
    EXPECT_EQ(width, counter_bits(layout));
    EXPECT_EQ(filter.bytes().size(), filter.plan().bits * width / 8);
    EXPECT_TRUE(filter.insert("pear"));
    EXPECT_FALSE(filter.insert("pear"));
    EXPECT_TRUE(filter.insert(7));
    EXPECT_EQ(filter.count_at_most("pear"), 2U);
    EXPECT_EQ(filter.count_at_most(7), 1U);
    EXPECT_EQ(filter.count_at_most("plum"), 0U);
    EXPECT_FALSE(filter.remove("plum"));
    EXPECT_TRUE(filter.remove("pear"));
    EXPECT_TRUE(filter.may_contain("pear"));
    EXPECT_TRUE(filter.remove("pear"));
    EXPECT_FALSE(filter.may_contain("pear"));
    EXPECT_FALSE(filter.remove("pear"));
    EXPECT_TRUE(filter.may_contain(7));
    EXPECT_TRUE(filter.remove(7));
    EXPECT_TRUE(same_counters(filter, empty));
  }
}

// Every family of keys, far beyond the capacity too: what is there is found, and what was all
// taken back leaves nothing behind, but for counters that are saturated.
TEST(Counting, WhatIsThereIsFoundWhateverWasRemoved) {
  for (const KeyFamily& family : key_families())
    for (const Layout layout : kNarrowLayouts)
      for (const std::uint64_t keys : {300U, 3000U, 12'000U}) {
        CountingFilter filter(plan(3000, 0.01, layout));
        const std::vector<Hash128> stay = family.hashes(filter.hasher(), 0, keys);
        const std::vector<Hash128> go = family.hashes(filter.hasher(), keys, keys);
        filter.insert_hashes(stay);
        const CountingFilter before = filter.copy();
        filter.insert_hashes(go);
        ASSERT_EQ(filter.may_contain_hashes(stay), keys) << family.name;
        ASSERT_EQ(filter.may_contain_hashes(go), keys) << family.name;
        ASSERT_EQ(filter.remove_hashes(go), keys) << family.name;
        ASSERT_EQ(filter.may_contain_hashes(stay), keys)
            << family.name << " at " << to_string(layout);
        if (filter.saturated_counters() == 0) {
          ASSERT_TRUE(same_counters(filter, before)) << family.name;
        }
      }
}

// Up to 14 (254) a count is exact where no other key is near; at 15 (255) it is lost for good.
TEST(Counting, SaturatedCountersStick) {
  for (const Layout layout : kNarrowLayouts) {
    const std::uint64_t full = full_of(counter_bits(layout));
    CountingFilter filter(plan(1000, 0.01, layout));
    for (std::uint64_t times = 1; times < full; ++times) {
      filter.insert("often");
      ASSERT_EQ(filter.count_at_most("often"), times);
    }
    EXPECT_EQ(filter.saturated_counters(), 0U);
    CountingFilter almost = filter.copy();
    for (std::uint64_t times = 1; times < full; ++times) ASSERT_TRUE(almost.remove("often"));
    EXPECT_FALSE(almost.may_contain("often"));

    filter.insert("often");
    EXPECT_EQ(filter.count_at_most("often"), kUncounted);
    EXPECT_EQ(filter.saturated_counters(), filter.plan().hashes);
    const CountingFilter stuck = filter.copy();
    for (int i = 0; i < 600; ++i) ASSERT_FALSE(filter.insert("often"));
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(filter.remove("often"));
    EXPECT_TRUE(same_counters(filter, stuck));
    EXPECT_TRUE(filter.may_contain("often"));
  }
}

// Of n keys, each there r times, a counter has binomial(n, k/m) keys, nearly Poisson with mean kn/m,
// and saturates at ceil(15/r) (ceil(255/r)) of them. Each key moves k counters, so the saturated
// ones spread at most sqrt(k) times as far as independent ones would; eight of those deviations.
TEST(Counting, SaturationIsAsRareAsDocumentsSay) {
  struct Row {
    std::uint32_t width;
    std::uint64_t times;
    double share;
  };
  Random random(44);
  for (const Row& row : {Row{4, 1, 0}, Row{4, 2, 1.26e-7}, Row{4, 3, 2.64e-4}, Row{4, 5, 1.84e-2},
                         Row{8, 20, 0}, Row{8, 50, 4.40e-6}, Row{8, 100, 8.25e-3}}) {
    CountingFilter filter(200'000, 0.01, row.width);
    std::vector<Hash128> keys(200'000);
    for (Hash128& key : keys) key = random.hash();
    for (std::uint64_t times = 0; times < row.times; ++times) filter.insert_hashes(keys);
    const double expected = row.share * static_cast<double>(filter.plan().bits);
    const double deviation = std::sqrt(filter.plan().hashes * expected);
    EXPECT_NEAR(static_cast<double>(filter.saturated_counters()), expected,
                8 * deviation + 3 * filter.plan().hashes)
        << row.width << " bits, " << row.times << " times";
  }
}

// The promise of refusal, on a filter as full as its plan allows.
TEST(Counting, ARefusedRemovalChangesNothing) {
  Random random(41);
  for (const Layout layout : kNarrowLayouts) {
    CountingFilter filter(plan(5000, 0.01, layout));
    for (int i = 0; i < 5000; ++i) filter.insert_hash(random.hash());
    const CountingFilter before = filter.copy();
    std::vector<Hash128> strangers;
    while (strangers.size() < 5000) {
      const Hash128 hash = random.hash();
      if (!filter.may_contain_hash(hash)) strangers.push_back(hash);
    }
    for (const Hash128 hash : strangers) ASSERT_FALSE(filter.remove_hash(hash));
    EXPECT_EQ(filter.remove_hashes(strangers), 0U);
    EXPECT_TRUE(same_counters(filter, before));
  }
}

TEST(Counting, MeasuresKnowDistinctKeysNotCounts) {
  Random random(43);
  for (const Layout layout : kNarrowLayouts) {
    CountingFilter filter(plan(10'000, 0.01, layout));
    EXPECT_EQ(filter.fill(), 0);
    EXPECT_EQ(filter.current_fpr(), 0);
    EXPECT_EQ(filter.estimated_items(), 0);
    EXPECT_EQ(filter.saturated_counters(), 0U);
    EXPECT_FALSE(filter.over_capacity());
    std::vector<Hash128> keys(10'000);
    for (Hash128& key : keys) key = random.hash();
    for (int times = 0; times < 3; ++times) filter.insert_hashes(keys);
    EXPECT_NEAR(filter.estimated_items(), 10'000, 600);  // over eight standard errors
    EXPECT_FALSE(filter.over_capacity());
    for (int i = 0; i < 4000; ++i) filter.insert_hash(random.hash());
    EXPECT_TRUE(filter.over_capacity());
    EXPECT_GT(filter.current_fpr(), 0.01);
    filter.clear();
    EXPECT_EQ(filter.fill(), 0);
    EXPECT_FALSE(filter.may_contain_hash(keys[0]));
    std::fill(filter.mutable_bytes().begin(), filter.mutable_bytes().end(), std::byte{0xFF});
    EXPECT_EQ(filter.fill(), 1);
    EXPECT_EQ(filter.saturated_counters(), filter.plan().bits);
    EXPECT_DOUBLE_EQ(filter.current_fpr(), 1);
    EXPECT_EQ(filter.estimated_items(), std::numeric_limits<double>::infinity());
    EXPECT_TRUE(filter.over_capacity());
    EXPECT_EQ(filter.count_at_most("anything"), kUncounted);
  }
}

TEST(Counting, TakesKeysOfEveryKind) {
  CountingFilter filter(1000, 0.01);
  const std::vector<std::string> texts = {"a", "b", "c"};
  EXPECT_EQ(filter.insert_many(texts), 3U);
  EXPECT_TRUE(filter.may_contain(std::string_view("b")));
  EXPECT_TRUE(filter.may_contain(std::as_bytes(std::span("c", 1))));
  EXPECT_EQ(filter.may_contain_many(texts), 3U);
  EXPECT_EQ(filter.remove_many(texts), 3U);
  EXPECT_EQ(filter.may_contain_many(texts), 0U);
  const std::vector<int> integers = {-1, 2, 3};
  EXPECT_EQ(filter.insert_many(integers), 3U);
  EXPECT_EQ(filter.may_contain_many(std::vector<std::uint64_t>{2, 3, ~std::uint64_t{0}}), 3U);
  EXPECT_TRUE(filter.remove(-1));
  CountingFilter keyed(plan(1000, 0.01, Layout::blocked64),
                       Hasher(HashFamily::siphash, {.low = 1, .high = 2}));
  const std::vector<std::uint64_t> plain = {5, 6, 7};
  EXPECT_EQ(keyed.insert_many(plain), 3U);
  EXPECT_TRUE(keyed.remove(6));
  EXPECT_EQ(keyed.may_contain_many(plain), 2U);
  EXPECT_EQ(keyed.remove_many(plain), 2U);
}

}  // namespace
}  // namespace bloomery::test
