// Statistics from a sample of a large filter: near those of all bits, and the same where the filter is small.
#include <gtest/gtest.h>
#include <bloomery/bloomery.hpp>

#include "filter/statistics.hpp"

#include <bitset>
#include <cmath>
#include <random>
#include <vector>

#include "support/effort.hpp"
#include "support/layouts.hpp"

namespace bloomery::test {
namespace {

std::vector<std::uint64_t> keys_up_to(std::uint64_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = i;
  return keys;
}

// 7 standard errors are exceeded with a probability of less than 1e-11. Items and rate follow from the fill:
// their derivatives are below 4 and 4 k times that, relatively.
template <class Filter>
void expect_near(const Filter& filter, std::uint32_t hashes) {
  const Stats all = filter.stats(Precision::exact), sample = filter.stats();
  EXPECT_FALSE(all.sampled);
  EXPECT_EQ(all.fill_error, 0);
  EXPECT_NEAR(all.fill, filter.fill(), 1e-12);
  EXPECT_DOUBLE_EQ(all.estimated_items, filter.estimated_items());
  EXPECT_DOUBLE_EQ(all.current_fpr, filter.current_fpr());
  EXPECT_EQ(all.over_capacity, filter.over_capacity());

  EXPECT_TRUE(sample.sampled);
  EXPECT_GT(sample.fill_error, 0);
  EXPECT_LT(sample.fill_error, 0.001);
  const double error = 7 * sample.fill_error;
  EXPECT_NEAR(sample.fill, all.fill, error);
  EXPECT_NE(sample.fill, all.fill) << "it is a sample";
  EXPECT_NEAR(sample.estimated_items / all.estimated_items, 1, 4 * error / all.fill);
  EXPECT_NEAR(sample.current_fpr / all.current_fpr, 1, 4 * hashes * error / all.fill);
  EXPECT_EQ(sample.over_capacity, all.over_capacity);
}

// Throwing n keys of k bits into s bits and counting: the spread of the shares over many such samples is the
// standard error that is stated. Of 4,000 samples the spread is known to 1.2 %; 8 % is 7 standard errors, a chance of
// less than 1e-11.
TEST(SampledStats, ErrorIsTheSpreadOfSamples) {
  constexpr std::uint64_t kBits = 512, kSamples = 4000;
  for (const std::uint32_t hashes : {1U, 4U, 8U})
    for (const double load : {0.2, 0.7, 2.0}) {
      // A sample has a Poisson number of the keys of the whole.
      const double mean = load * kBits / hashes;
      std::mt19937_64 random(hashes);
      std::poisson_distribution<int> keys(mean);
      double sum = 0, squares = 0;
      for (std::uint64_t i = 0; i < kSamples; ++i) {
        std::bitset<kBits> bits;
        for (int key = keys(random); key > 0; --key)
          for (std::uint32_t hash = 0; hash < hashes; ++hash) bits.set(random() % kBits);
        const double fill = static_cast<double>(bits.count()) / kBits;
        sum += fill;
        squares += fill * fill;
      }
      const double fill = sum / kSamples;
      const double spread = std::sqrt(squares / kSamples - fill * fill);
      EXPECT_NEAR(detail::fill_error(1 - std::exp(-load), hashes, kBits) / spread, 1, 0.08)
          << hashes << " hashes, load " << load;
    }
  EXPECT_EQ(detail::fill_error(1, 4, kBits), 0);
  EXPECT_EQ(detail::fill_error(0, 4, kBits), 0);
}

TEST(SampledStats, OfPlainFilters) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard}) {
    SCOPED_TRACE(to_string(layout));
    Filter filter(Plan{layout, 512 * 200'000, 6, 10'000'000, 0.01});
    filter.insert_many(keys_up_to(9'000'000));
    EXPECT_FALSE(filter.stats().over_capacity);
    expect_near(filter, 6);
    filter.insert_many(keys_up_to(11'000'000));
    EXPECT_TRUE(filter.stats().over_capacity);
    expect_near(filter, 6);
  }
}

TEST(SampledStats, OfCountingFilters) {
  for (const Layout layout : kNarrowLayouts) {
    SCOPED_TRACE(to_string(layout));
    const std::uint64_t counters = 200'000 * (counter_bits(layout) == 4 ? 128 : 64);
    CountingFilter filter(Plan{layout, counters, 4, counters / 10, 0.05});
    filter.insert_many(keys_up_to(counters / 10));
    expect_near(filter, 4);
    for (int i = 0; i < 300; ++i) filter.insert_many(keys_up_to(1000));
    EXPECT_GT(filter.saturated_counters(), 3000U);
    EXPECT_GT(filter.saturated_counters(Precision::sampled), 0U);
    EXPECT_LT(filter.saturated_counters(Precision::sampled), 20'000U);
  }
}

// A smaller sub-filter or slice is no sample. Each has two with keys.
TEST(SampledStats, OfScalableAndWindowFilters) {
  ScalableFilter scalable(scalable_plan(hurried() ? 3'000'000 : 5'000'000, 0.01, 2));
  scalable.insert_many(keys_up_to(hurried() ? 3'100'000 : 9'000'000));
  expect_near(scalable, 8);
  WindowFilter window(window_plan(WindowUnit::insertions, 12'000'000, 12'000'000, 0.01, 3));
  window.insert_many(keys_up_to(hurried() ? 4'500'000 : 14'000'000));
  expect_near(window, 8);
  // The bits that are looked at: 65,536 blocks of each slice, and of each sub-filter that has more.
  constexpr double kLookedAt = 512.0 * 65'536;
  const Stats of_window = window.stats();
  EXPECT_DOUBLE_EQ(of_window.fill_error,
                   detail::fill_error(of_window.fill, window.plan().slice.hashes, 4 * kLookedAt));
  double variance = 0;
  for (const FilterView* sub_filter : scalable.sub_filters()) {
    const Plan& plan = sub_filter->plan();
    ASSERT_GT(plan.blocks(), 65'536U);
    const double error = detail::fill_error(sub_filter->stats().fill, plan.hashes, kLookedAt);
    EXPECT_DOUBLE_EQ(sub_filter->stats().fill_error, error);
    const double share = static_cast<double>(plan.bits) / static_cast<double>(scalable.bits());
    variance += error * error * share * share;
  }
  EXPECT_DOUBLE_EQ(scalable.stats().fill_error, std::sqrt(variance));
}

TEST(SampledStats, OfSmallFiltersAreExact) {
  Filter filter(Plan{Layout::blocked, 512 * 65'536, 6, 3'000'000, 0.01});
  filter.insert_many(keys_up_to(2'000'000));
  EXPECT_FALSE(filter.stats().sampled);
  EXPECT_EQ(filter.stats().fill, filter.fill());
}

// Of a filter that is elsewhere. At its capacity a filter is over it only if that is more than four standard errors of
// the sample, which are nearly all of what makes the estimate uncertain here.
TEST(SampledStats, OfAShareAreThoseThatFollowFromIt) {
  const Plan it = plan(1'000'000, 0.01, Layout::standard);
  const double full = 1 - std::exp(-1e6 * it.hashes / static_cast<double>(it.bits));
  const auto over = [&](double ones, double error) {
    return detail::stats_from(it, {.ones = ones, .error = error, .sampled = true}).over_capacity;
  };
  EXPECT_FALSE(over(full * 0.95, 0));
  EXPECT_TRUE(over(full * 1.05, 0));
  EXPECT_TRUE(over(full * 1.05, full * 0.012));
  EXPECT_FALSE(over(full * 1.05, full * 0.013));
  const Stats stats = detail::stats_from(it, {.ones = full, .error = 0.001, .sampled = true});
  EXPECT_EQ(stats.fill, full);
  EXPECT_EQ(stats.fill_error, 0.001);
  EXPECT_TRUE(stats.sampled);
  EXPECT_NEAR(stats.estimated_items, 1e6, 1e3);
  EXPECT_NEAR(stats.current_fpr, 0.01, 0.0005);
  const Stats all = detail::stats_from(it, {.ones = 1, .error = 0, .sampled = false});
  EXPECT_FALSE(all.sampled);
  EXPECT_TRUE(std::isinf(all.estimated_items));
  EXPECT_EQ(all.current_fpr, 1);
  EXPECT_TRUE(all.over_capacity);
}

// Forged files can have sub-filters of any rate.
TEST(FprOfSubFilters, IsAProbabilityWhateverTheirRates) {
  const double rates[] = {0, 5e-324, 1e-300, 0.01, 0.5, 0.999, 1 - 1e-12, 1 - 0x1p-53, 1};
  for (const double first : rates)
    for (const double second : rates)
      for (const double third : rates)
        for (const std::uint32_t hashes : {1U, 2U, 7U, 64U}) {
          detail::FprOfSubFilters fpr;
          fpr.add(hashes, first);
          fpr.add(hashes, second);
          fpr.add(8, third);
          EXPECT_GE(fpr.of_all(), first);
          EXPECT_LE(fpr.of_all(), std::min(1.0, (first + second + third) * (1 + 1e-9)))
              << first << ", " << second << ", " << third << ", hashes " << hashes;
        }
}

}  // namespace
}  // namespace bloomery::test
