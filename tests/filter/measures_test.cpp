// Fill, rate as it stands, estimated items, over_capacity: what the bits themselves say.
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/layouts.hpp"
#include "support/random.hpp"
#include "support/statistics.hpp"

namespace bloomery::test {
namespace {

void insert_random(FilterView& filter, std::uint64_t count, Random& random) {
  for (std::uint64_t i = 0; i < count; ++i) filter.insert_hash(random.hash());
}

TEST(Measures, FillAndFprAreThoseOfTheBits) {
  Random random(21);
  for (const Layout layout : kLayouts)
    for (const std::uint32_t k : hash_counts(layout))
      for (const std::uint64_t blocks : {1, 2, 301}) {
        Filter filter(plan_of(layout, blocks, k));
        for (int round = 0; round < 4; ++round) {
          const auto ones = static_cast<double>(ones_of(filter.bytes()));
          const double implied = implied_fpr(filter).mean;
          ASSERT_DOUBLE_EQ(filter.fill(), ones / static_cast<double>(filter.plan().bits));
          ASSERT_NEAR(filter.current_fpr(), implied, implied * 1e-9) << describe(filter);
          insert_random(filter, blocks * 512 / k / 4, random);
        }
      }
}

// Above 4 MiB a sample of 65,536 blocks: within eight standard errors of such a sample.
TEST(Measures, FprOfALargeFilterIsSampled) {
  Random random(22);
  for (const Layout layout : {Layout::blocked, Layout::blocked2}) {
    Filter filter(plan_of(layout, 200'000, 12));
    insert_random(filter, hurried() ? 500'000 : 4'000'000, random);
    const MeanAndError all = implied_fpr(filter);
    const double error = all.error * std::sqrt(200'000.0 / 65'536);
    EXPECT_NEAR(filter.current_fpr(), all.mean, 8 * error) << describe(filter);
    EXPECT_NE(filter.current_fpr(), all.mean);
  }
}

// A run of ones, as salvage leaves it, is met in proportion.
TEST(Measures, AFilledRunCounts) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2}) {
    Filter filter(plan_of(layout, 200'000, 12));
    const auto bytes = filter.mutable_bytes();
    std::fill(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 10),
              std::byte{0xFF});
    EXPECT_NEAR(filter.current_fpr(), layout == Layout::blocked ? 0.1 : 0.01, 1e-4);
    EXPECT_DOUBLE_EQ(filter.fill(), 0.1);
  }
}

TEST(Measures, OfNothingAndOfEverything) {
  for (const Layout layout : kLayouts) {
    Filter filter(plan(1000, 0.01, layout));
    EXPECT_EQ(filter.fill(), 0);
    EXPECT_EQ(filter.current_fpr(), 0);
    EXPECT_EQ(filter.estimated_items(), 0);
    EXPECT_FALSE(filter.over_capacity());
    std::fill(filter.mutable_bytes().begin(), filter.mutable_bytes().end(), std::byte{0xFF});
    EXPECT_EQ(filter.fill(), 1);
    EXPECT_DOUBLE_EQ(filter.current_fpr(), 1);
    EXPECT_EQ(filter.estimated_items(), std::numeric_limits<double>::infinity());
    EXPECT_TRUE(filter.over_capacity());
    filter.clear();
    EXPECT_EQ(filter.fill(), 0);
    EXPECT_FALSE(filter.over_capacity());
  }
}

// The estimate's standard error: that of the ones, sqrt(m z (1 - z - c z)), over the ones that
// one more key adds, k z. Eight of them; from a tenth to three times the capacity.
TEST(Measures, EstimatedItemsAreTheItems) {
  Random random(23);
  for (const Layout layout : kLayouts)
    for (const double fpr : {0.3, 1e-2, 1e-4, 1e-6})
      for (const std::uint64_t n : {300U, 3000U, 100'000U})
        for (const double load : {0.1, 0.5, 1.0, 2.0, 3.0}) {
          Filter filter(plan(n, fpr, layout));
          const auto items = static_cast<double>(n) * load;
          insert_random(filter, static_cast<std::uint64_t>(items), random);
          const double m = static_cast<double>(filter.plan().bits), k = filter.plan().hashes;
          const double z = std::exp(-k * items / m), c = k * items / m;
          const double error = std::sqrt(m * z * (1 - z - c * z)) / (k * z);
          EXPECT_NEAR(filter.estimated_items(), items, 8 * error + 1)
              << describe(filter) << " " << items;
        }
}

// At exactly its capacity a filter calls itself over_capacity with the probability of four standard
// errors, 3.2e-5. Of 600 filters 0.02 are expected; four or more have a probability below
// 0.02^4 / 24 < 1e-8.
TEST(Measures, NotOverCapacityAtCapacity) {
  Random random(24);
  int over_capacity = 0;
  for (const Layout layout : kLayouts)
    for (const double fpr : {0.3, 1e-2, 1e-3, 1e-5})
      for (int round = 0; round < 50; ++round) {
        Filter filter(plan(1000, fpr, layout));
        insert_random(filter, 1000, random);
        over_capacity += filter.over_capacity();
      }
  EXPECT_LE(over_capacity, 3);
}

// 20 % more than 1000 keys are over four standard errors of the estimate (at most 21 keys
// each, at p = 0.5) and leave more than five of them to spare: missed once in 1e7.
TEST(Measures, OverCapacityBeyondIt) {
  Random random(25);
  for (const Layout layout : kLayouts)
    for (const double fpr : {0.3, 1e-2, 1e-3, 1e-5})
      for (const std::uint64_t n : {1000U, 10'000U, 100'000U}) {
        Filter filter(plan(n, fpr, layout));
        insert_random(filter, n * 6 / 5, random);
        EXPECT_TRUE(filter.over_capacity()) << describe(filter);
        EXPECT_GT(filter.current_fpr(), fpr) << describe(filter);
      }
}

}  // namespace
}  // namespace bloomery::test
