// The predicted rate against independent theory and against simulation.
#include "plan/rate.hpp"

#include <bloomery/error.hpp>
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "support/random.hpp"
#include "support/shapes.hpp"
#include "support/statistics.hpp"

namespace bloomery {
namespace {

// E[(ones/m)^k] after kn throws, from the exact distribution of the ones: throw by throw, the
// next bit was on with probability ones/m.
long double exact_classic(unsigned m, unsigned k, unsigned n) {
  std::vector<long double> ones(m + 1, 0.0L);
  ones[0] = 1;
  for (unsigned thrown = 0; thrown < k * n; ++thrown) {
    for (unsigned j = std::min(m, thrown + 1); j > 0; --j)
      ones[j] = ones[j] * j / m + ones[j - 1] * (m - j + 1) / m;
    ones[0] = 0;
  }
  long double sum = 0;
  for (unsigned j = 0; j <= m; ++j)
    sum += ones[j] * std::pow(static_cast<long double>(j) / m, static_cast<long double>(k));
  return sum;
}

// Above 1e-15, where plans live, within 3 % and on the safe side; within 0.2 % at the usual k.
TEST(Rate, ClassicIsTheExactOccupancy) {
  for (const unsigned m : {512U, 1024U, 1536U})
    for (const unsigned k : {1U, 2U, 3U, 5U, 7U, 10U, 15U, 20U, 40U, 64U})
      for (const unsigned n : {1U, 2U, 5U, 10U, 20U, 50U, 100U, 200U}) {
        if (k * n > 6 * m) continue;
        const auto exact = static_cast<double>(exact_classic(m, k, n));
        if (exact < 1e-15) continue;
        const double ratio = detail::classic_rate(m, k, n) / exact;
        EXPECT_GE(ratio, 1 - 1e-9) << m << " " << k << " " << n;
        EXPECT_LE(ratio, k <= 20 && exact > 1e-6 ? 1.002 : 1.03) << m << " " << k << " " << n;
      }
}

// The mean over binomial loads, load by load, in long doubles.
long double mean_over_loads(std::uint64_t lines, std::uint32_t k, std::uint64_t n) {
  const test::ExactLine exact(k);
  if (lines == 1) return exact.rate_at(static_cast<unsigned>(n));
  const long double share = 1.0L / static_cast<long double>(lines);
  const auto all = static_cast<long double>(n);
  long double sum = 0;
  for (std::uint64_t i = 0; i <= n; ++i) {
    const auto load = static_cast<long double>(i);
    const long double log_probability = std::lgamma(all + 1) - std::lgamma(load + 1) -
                                        std::lgamma(all - load + 1) + load * std::log(share) +
                                        (all - load) * std::log1p(-share);
    sum += std::exp(log_probability) * exact.rate_at(static_cast<unsigned>(i));
  }
  return sum;
}

TEST(Rate, ExactTheoryAgreesWithItself) {
  for (const std::uint32_t k : {1U, 4U, 7U, 12U, 16U})
    for (const std::uint64_t lines : {1U, 2U, 30U})
      for (const std::uint64_t n : {20U, 200U}) {
        const auto closed = test::ExactLine(k).rate(static_cast<long double>(lines), n);
        if (closed < 1e-10L) continue;  // the digits that cancel are all there are
        EXPECT_NEAR(static_cast<double>(mean_over_loads(lines, k, n) / closed), 1, 1e-5)
            << k << " " << lines << " " << n;
      }
}

// Exact theory itself against brute force: random lines.
TEST(Rate, ExactTheoryAgreesWithRandomLines) {
  test::Random random(11);
  for (const std::uint32_t k : {3U, 5U, 8U, 12U})
    for (const unsigned keys : {10U, 30U, 60U}) {
      const Plan shape = test::shape_of(Layout::line, 1, k);
      double sum = 0, squares = 0;
      constexpr int kRounds = 4000;
      for (int round = 0; round < kRounds; ++round) {
        Filter line(shape);
        for (unsigned i = 0; i < keys; ++i) line.insert_hash(random.hash());
        const double rate = test::implied_rate(line).mean;
        sum += rate;
        squares += rate * rate;
      }
      const double mean = sum / kRounds;
      const double error = std::sqrt((squares / kRounds - mean * mean) / kRounds);
      EXPECT_NEAR(mean, static_cast<double>(test::ExactLine(k).rate_at(keys)), 8 * error)
          << k << " " << keys;
    }
}

// What a plan states is an upper bound of exact theory, 0 to 6 % above it.
TEST(Rate, DefaultPlansStateAnUpperBound) {
  for (const Layout layout : {Layout::line, Layout::pair})
    for (const double rate :
         {0.3, 0.1, 0.03, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10})
      for (const std::uint64_t n : {20'000U, 1'000'000U}) {
        const Plan it = plan(n, rate, layout);
        const double exact = test::exact_rate(it, n);
        EXPECT_LE(exact, rate * 1.0005) << to_string(layout) << " " << rate << " " << n;
        EXPECT_GE(exact, rate * 0.94) << to_string(layout) << " " << rate << " " << n;
      }
}

// Also where the caller insists on a hash count that is far from the best: with few of them keys
// that share all their words are most of the rate.
TEST(Rate, PlansOfAnyHashCountStateAnUpperBound) {
  for (const Layout layout : {Layout::line, Layout::pair})
    for (const std::uint32_t k : test::hash_counts(layout))
      for (const double rate : {0.1, 1e-3, 1e-5, 1e-6, 1e-7, 1e-9}) {
        const PlanRequest request{
            .capacity = 100'000, .rate = rate, .bits = {}, .hashes = k, .layout = layout};
        const std::uint32_t words = layout == Layout::pair ? k / 2 : k;
        try {
          const Plan it = solve(request);
          const double exact = test::exact_rate(it, it.capacity);
          EXPECT_LE(exact, rate * 1.001) << to_string(layout) << " k " << k << " " << rate;
          EXPECT_GE(exact, rate * 0.75) << to_string(layout) << " k " << k << " " << rate;
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::too_large);
          EXPECT_LE(words, 2U) << error.what();
        }
      }
}

// ---- narrow lines: the rate itself, not a bound of it -------------------------------------------

// Against brute force: arrays of four and eight lines, filled key by key.
TEST(Rate, OfNarrowLinesAgreesWithRandomArrays) {
  test::Random random(13);
  for (const Layout layout : test::kNarrowLayouts)
    for (const std::uint32_t k : {1U, 2U, 5U, 8U, 11U, 16U})
      for (const unsigned keys : {5U, 20U, 60U, 150U}) {
        const Plan shape = test::shape_of(layout, 1, k);
        double sum = 0, squares = 0;
        constexpr int kRounds = 4000;
        for (int round = 0; round < kRounds; ++round) {
          Filter array(shape);
          for (unsigned i = 0; i < keys; ++i) array.insert_hash(random.hash());
          const double rate = test::implied_rate(array).mean;
          sum += rate;
          squares += rate * rate;
        }
        const double mean = sum / kRounds;
        const double error = std::sqrt((squares / kRounds - mean * mean) / kRounds);
        if (mean < 1e-7) continue;  // too few of the arrays have such a key
        EXPECT_NEAR(mean, predicted_rate(shape, keys), 8 * error)
            << to_string(layout) << " k " << k << " keys " << keys;
      }
}

// Against theory, worked out another way. Below 1e-9, where its digits cancel, an upper bound.
TEST(Rate, OfNarrowLinesIsTheExactOne) {
  for (const Layout layout : test::kNarrowLayouts)
    for (const std::uint32_t k : test::hash_counts(layout)) {
      const unsigned word_bits = test::word_bits_of(layout);
      const test::ExactLine theory(k, word_bits);
      for (const std::uint64_t lines : {1U, 100U, 100'000U})
        for (double load = 0.001; load < 300; load *= 1.7) {  // keys a line of 512 bits
          const Plan shape = test::shape_of(layout, lines, k);
          const auto items = static_cast<std::uint64_t>(load * static_cast<double>(lines)) + 1;
          const auto exact = static_cast<double>(
              theory.rate(static_cast<long double>(lines * 32 / word_bits), items));
          const double stated = predicted_rate(shape, static_cast<double>(items));
          SCOPED_TRACE(std::string(to_string(layout)) + " k " + std::to_string(k) + ", " +
                       std::to_string(items) + " keys in " + std::to_string(lines));
          if (exact >= 1e-9) {
            EXPECT_NEAR(stated / exact, 1, 1e-4);
          } else {
            EXPECT_LE(stated, 1.0001e-9);
            EXPECT_GE(stated, exact - 1e-12);
          }
        }
    }
}

// Many more bits than `line` needs, for a line holds fewer keys; these are what documents say.
TEST(Rate, OfNarrowLinesTakesTheseCells) {
  struct Row {
    double rate, four, eight;
  };
  for (const Row& row :
       {Row{0.01, 10.93, 12.31}, Row{1e-3, 19.38, 24.86}, Row{1e-4, 31.31, 47.27}}) {
    EXPECT_NEAR(plan(10'000'000, row.rate, Layout::line128).bits_per_key(), row.four, 0.01);
    EXPECT_NEAR(plan(10'000'000, row.rate, Layout::line64).bits_per_key(), row.eight, 0.01);
  }
}

// 0 to 4 times the capacity: the rate that a filter really has. The array's own randomness is
// averaged over several filters and bounded by eight standard errors.
TEST(Rate, IsThatOfAFilterAtAnyLoad) {
  if (test::hurried()) GTEST_SKIP() << "long only because it draws many samples";
  test::Random random(12);
  for (const Layout layout : test::kLayouts)
    for (const double rate : {0.1, 1e-2, 1e-3, 1e-4}) {
      const Plan it = plan(20'000, rate, layout);
      for (const double load : {0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0}) {
        const auto items = static_cast<std::uint64_t>(load * 20'000);
        constexpr int kFilters = 8;
        double mean = 0, variance = 0;
        for (int i = 0; i < kFilters; ++i) {
          Filter filter(it);
          for (std::uint64_t key = 0; key < items; ++key) filter.insert_hash(random.hash());
          const test::MeanAndError implied = test::implied_rate(filter);
          mean += implied.mean / kFilters;
          variance += implied.error * implied.error / kFilters / kFilters;
        }
        const double predicted = predicted_rate(it, static_cast<double>(items));
        const double noise = 8 * std::sqrt(variance);
        SCOPED_TRACE(std::string(to_string(layout)) + " " + std::to_string(rate) + " at " +
                     std::to_string(load));
        EXPECT_GE(predicted, mean * 0.98 - noise);
        EXPECT_LE(predicted, mean * 1.06 + noise);
      }
    }
}

}  // namespace
}  // namespace bloomery
