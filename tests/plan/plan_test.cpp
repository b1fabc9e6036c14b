// Plans: the sizes of the yardstick, every direction, and the ends of every range.
#include <bloomery/error.hpp>
#include <bloomery/plan.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "support/shapes.hpp"

namespace bloomery {
namespace {

using test::kLayouts;

// Bits a key that each layout needs at the best k with Poisson loads: the yardstick.
struct Yardstick {
  double rate, lower_bound, classic, line, pair;
};
constexpr Yardstick kYardstick[] = {
    {1e-2, 6.64, 9.59, 9.90, 9.66},     {1e-3, 9.97, 14.38, 15.49, 14.60},
    {1e-4, 13.29, 19.17, 21.91, 19.79}, {1e-5, 16.61, 23.97, 29.48, 25.19},
    {1e-6, 19.93, 28.76, 38.51, 30.98},
};

// Line has one bit in each of k <= 16 words. At 1e-4 and below the best k would be above what
// words allow, which costs up to 1.9 %.
double line_allowance(double rate) { return rate > 2e-4 ? 1.01 : rate > 2e-5 ? 1.013 : 1.019; }

TEST(Plan, NeedsTheBitsOfTheYardstick) {
  for (const Yardstick& row : kYardstick) {
    const double classic = plan(100'000'000, row.rate, Layout::classic).bits_per_key();
    const double line = plan(100'000'000, row.rate, Layout::line).bits_per_key();
    const double pair = plan(100'000'000, row.rate, Layout::pair).bits_per_key();
    EXPECT_NEAR(classic, row.classic, row.classic * 0.005) << row.rate;
    EXPECT_LE(line, row.line * line_allowance(row.rate)) << row.rate;
    EXPECT_LE(pair, row.pair * 1.01) << row.rate;
    EXPECT_GE(line, classic);
    EXPECT_GE(pair, classic);
    EXPECT_NEAR(lower_bound_bits(row.rate), row.lower_bound, 0.006);
  }
}

TEST(Plan, ChoosesTheLayoutByTheRate) {
  EXPECT_EQ(plan(1000, 0.5).layout, Layout::line);
  EXPECT_EQ(plan(1000, 1e-4).layout, Layout::line);
  EXPECT_EQ(plan(1000, 0.99e-4).layout, Layout::pair);
  EXPECT_EQ(plan(1000, 1e-10).layout, Layout::pair);
  EXPECT_EQ(plan(1000, 0.99e-10).layout, Layout::classic);
  EXPECT_EQ(plan(1000, 1e-15).layout, Layout::classic);
}

// From one key to 10^13, from one half to 1e-15: a valid plan that keeps its promise with no
// line to spare, or an error that names the limit.
TEST(Plan, KeepsItsPromiseOverTheWholeRange) {
  for (const Layout layout : kLayouts)
    for (std::uint64_t n = 1; n <= kMaxCapacity; n *= 10)
      for (const double rate : {0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12, 1e-15}) {
        SCOPED_TRACE(std::string(to_string(layout)) + " " + std::to_string(n) + " at 10^" +
                     std::to_string(std::log10(rate)));
        try {
          const Plan it = plan(n, rate, layout);
          EXPECT_NO_THROW(validate(it));
          EXPECT_EQ(it.capacity, n);
          EXPECT_EQ(it.rate, rate);
          EXPECT_EQ(it.layout, layout);
          EXPECT_LE(predicted_rate(it, static_cast<double>(n)), rate);
          if (it.lines() > 1) {
            EXPECT_GT(
                predicted_rate(layout, it.bits - kLineBits, it.hashes, static_cast<double>(n)),
                rate);
          }
          EXPECT_GE(it.bits_per_key(), lower_bound_bits(rate));
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::too_large) << error.what();
          // Only what really cannot be: no layout needs twenty times the lower bound, but for
          // narrow lines at rates that they are not for.
          const std::uint32_t cells = cell_bits(layout);
          if (cells == 0 || rate > 1e-7) {
            EXPECT_GT(static_cast<double>(n) * lower_bound_bits(rate) * 20,
                      static_cast<double>(max_bits(layout)))
                << error.what();
          }
          const char* limit = cells == 0 ? "2^40 bits" : cells == 4 ? "2^38 cells" : "2^37 cells";
          EXPECT_NE(std::string(error.what()).find(limit), std::string::npos) << error.what();
        }
      }
}

TEST(Plan, MoreKeysOrALowerRateNeverNeedFewerBits) {
  for (const Layout layout : kLayouts) {
    std::uint64_t before = 0;
    for (double n = 1; n < 1e9; n *= 1.37) {
      const std::uint64_t bits = plan(static_cast<std::uint64_t>(n), 0.001, layout).bits;
      EXPECT_GE(bits, before) << n;
      before = bits;
    }
    before = 0;
    for (double rate = 0.5; rate > 1e-9; rate /= 1.7) {
      const std::uint64_t bits = plan(100'000, rate, layout).bits;
      EXPECT_GE(bits, before) << rate;
      before = bits;
    }
  }
}

TEST(Plan, RateRisesWithItemsAndFallsWithBits) {
  for (const Layout layout : kLayouts)
    for (const std::uint32_t k : test::hash_counts(layout)) {
      double before = -1;
      for (double items = 0; items < 40'000; items += 500) {
        const double rate = predicted_rate(layout, 200 * kLineBits, k, items);
        EXPECT_GE(rate, before * (1 - 1e-9)) << to_string(layout) << " k " << k << " " << items;
        EXPECT_GE(rate, 0);
        EXPECT_LE(rate, 1);
        before = rate;
      }
      before = 1;
      for (std::uint64_t lines = 1; lines < 100'000; lines = lines * 5 / 4 + 1) {
        const double rate = predicted_rate(layout, lines * kLineBits, k, 10'000);
        EXPECT_LE(rate, before * (1 + 1e-9)) << to_string(layout) << " k " << k << " " << lines;
        before = rate;
      }
    }
}

// Beyond 4,096 lines another formula may take over: no step may show.
TEST(Plan, RateHasNoStepWhereFormulasMeet) {
  for (const std::uint32_t k : {1, 7, 16}) {
    const double below = predicted_rate(Layout::line, 4096 * kLineBits, k, 4096 * 40.0);
    const double above = predicted_rate(Layout::line, 4097 * kLineBits, k, 4097 * 40.0);
    EXPECT_NEAR(above / below, 1, 2e-3) << k;
    EXPECT_EQ(predicted_rate(Layout::line, 4096 * kLineBits, k, 0), 0);
  }
}

// ---- every direction ---------------------------------------------------------------------------

struct Known {
  std::optional<std::uint64_t> capacity;
  std::optional<double> rate;
  std::optional<std::uint64_t> bits;
  std::optional<std::uint32_t> hashes;
};

Plan solve_for(Layout layout, const Known& known) {
  return solve({.capacity = known.capacity,
                .rate = known.rate,
                .bits = known.bits,
                .hashes = known.hashes,
                .layout = layout});
}

void check_directions(Layout layout, std::uint64_t n, double rate) {
  const Plan whole = plan(n, rate, layout);
  const std::uint64_t bits = whole.bits;
  const std::uint32_t k = whole.hashes;
  const auto items = static_cast<double>(n);
  EXPECT_EQ(solve_for(layout, {n, rate, {}, k}), whole);
  const Plan given = solve_for(layout, {n, {}, bits, k});
  EXPECT_EQ(given.bits, bits);
  EXPECT_LE(given.rate, rate);
  EXPECT_DOUBLE_EQ(given.rate, predicted_rate(whole, items));
  // The best hashes are better than every other count.
  const Plan best = solve_for(layout, {n, {}, bits, {}});
  EXPECT_LE(best.rate, given.rate);
  for (const std::uint32_t other : test::hash_counts(layout))
    EXPECT_GE(predicted_rate(layout, bits, other, items), best.rate * (1 - 1e-12)) << other;
  // At least as many keys as asked, and one more is too many.
  const Plan room = solve_for(layout, {{}, rate, bits, k});
  EXPECT_GE(room.capacity, n);
  EXPECT_LE(predicted_rate(room, static_cast<double>(room.capacity)), rate);
  EXPECT_GT(predicted_rate(room, static_cast<double>(room.capacity) + 1), rate);
  const Plan most = solve_for(layout, {{}, rate, bits, {}});
  EXPECT_GE(most.capacity, room.capacity);
  const Plan checked = solve_for(layout, {n, rate, bits, k});
  EXPECT_EQ(checked, whole);
  for (const Plan& it : {given, best, room, most, checked}) EXPECT_NO_THROW(validate(it));
}

TEST(Plan, EveryDirectionLeadsBack) {
  for (const Layout layout : kLayouts)
    for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{10}, std::uint64_t{1000},
                                  std::uint64_t{1'234'567}, std::uint64_t{5'000'000'000}})
      for (const double rate : {0.3, 0.01, 1e-4, 1e-6}) {
        if (cell_bits(layout) != 0 && n > 2'000'000 && rate < 0.01) continue;  // over 128 GiB
        SCOPED_TRACE(std::string(to_string(layout)) + " " + std::to_string(n) + " at " +
                     std::to_string(rate));
        check_directions(layout, n, rate);
      }
}

// From the hashes alone the size or the load is the one at which no other number does better.
// In narrow lines, whose exact rate ripples from one number to the next, some never are the best.
TEST(Plan, HashesGiveTheSizeAtWhichTheyAreTheBest) {
  for (const Layout layout : test::kPlainLayouts)
    for (const std::uint32_t k : test::hash_counts(layout))
      for (const std::uint64_t n : {std::uint64_t{5'000}, std::uint64_t{1'234'567}}) {
        SCOPED_TRACE(std::string(to_string(layout)) + ", k " + std::to_string(k) + ", " +
                     std::to_string(n));
        const Plan sized = solve_for(layout, {n, {}, {}, k});
        EXPECT_EQ(sized.hashes, k);
        EXPECT_EQ(sized.capacity, n);
        EXPECT_DOUBLE_EQ(sized.rate, predicted_rate(sized, static_cast<double>(n)));
        EXPECT_EQ(solve_for(layout, {n, {}, sized.bits, {}}).hashes, k);
        const Plan loaded = solve_for(layout, {{}, {}, sized.bits, k});
        EXPECT_EQ(solve_for(layout, {loaded.capacity, {}, sized.bits, {}}).hashes, k);
        // A size leads back to its load, up to the rounding of one to whole lines.
        EXPECT_GE(loaded.capacity, n);
        EXPECT_LE(static_cast<double>(loaded.capacity - n),
                  1 + 2.0 * static_cast<double>(n) / static_cast<double>(sized.lines()));
        for (const Plan& it : {sized, loaded}) EXPECT_NO_THROW(validate(it));
      }
}

// With classic half of the bits are then ones: k n = m ln 2.
TEST(Plan, BestHashesOfClassicAreTheTextbooks) {
  const double ln2 = std::log(2.0);
  EXPECT_NEAR(solve_for(Layout::classic, {1'000'000, {}, {}, 7}).bits_per_key(), 7 / ln2, 6e-4);
  EXPECT_NEAR(static_cast<double>(solve_for(Layout::classic, {{}, {}, 51'200'000, 7}).capacity),
              51'200'000 * ln2 / 7, 1);
  // A lone key in the smallest filter, and the largest of all.
  EXPECT_EQ(solve_for(Layout::line, {1, {}, {}, 1}).bits, kLineBits);
  EXPECT_EQ(solve_for(Layout::classic, {{}, {}, 512, 64}).capacity, 5U);
  EXPECT_NEAR(static_cast<double>(solve_for(Layout::classic, {{}, {}, kMaxBits, 1}).capacity),
              static_cast<double>(kMaxBits) * ln2, 1);
}

// Few hashes are equally hopeless here, and the best is far from them.
TEST(Plan, FindsTheBestHashesBeyondHopelessOnes) {
  EXPECT_NEAR(plan(1'000'000'000, 1e-12, Layout::classic).bits_per_key(), 57.51, 0.1);
  EXPECT_NEAR(plan(1'000'000'000, 1e-15, Layout::classic).bits_per_key(), 71.89, 0.1);
  EXPECT_GE(solve_for(Layout::classic, {{}, 1e-15, 512, {}}).capacity, 1U);
  EXPECT_GE(solve_for(Layout::pair, {{}, 1e-12, 512 * 200, {}}).capacity, 100U);
}

TEST(Plan, BitsAreRoundedDownToWholeLinesAndUpToOne) {
  const auto bits_of = [](std::uint64_t bits) {
    return solve_for(Layout::line, {1, {}, bits, {}}).bits;
  };
  EXPECT_EQ(bits_of(1), 512U);
  EXPECT_EQ(bits_of(511), 512U);
  EXPECT_EQ(bits_of(512), 512U);
  EXPECT_EQ(bits_of(1023), 512U);
  EXPECT_EQ(bits_of(1024), 1024U);
  EXPECT_EQ(bits_of(kMaxBits), kMaxBits);
}

TEST(Plan, TheTextbooksFormula) {
  // The tables that every text on the subject prints: m/n = 10, k = 7: 0.00819.
  EXPECT_NEAR(textbook_rate(10, 7), 0.00819, 5e-6);
  EXPECT_NEAR(textbook_rate(8, 4), 0.0240, 5e-5);
  EXPECT_NEAR(textbook_rate(16, 11), 0.000459, 1e-6);
  EXPECT_NEAR(textbook_rate(2, 1), 0.393, 5e-4);
  EXPECT_DOUBLE_EQ(lower_bound_bits(0.25), 2);
  EXPECT_NEAR(predicted_rate(Layout::classic, 512'000'000, 7, 51'200'000), textbook_rate(10, 7),
              1e-8);
}

TEST(Plan, NamesItsLayouts) {
  EXPECT_EQ(to_string(Layout::line), "line");
  EXPECT_EQ(to_string(Layout::pair), "pair");
  EXPECT_EQ(to_string(Layout::classic), "classic");
  EXPECT_EQ(max_hashes(Layout::line), 16U);
  EXPECT_EQ(max_hashes(Layout::pair), 32U);
  EXPECT_EQ(max_hashes(Layout::classic), 64U);
}

}  // namespace
}  // namespace bloomery
