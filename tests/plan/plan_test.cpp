// Plans: the sizes of the yardstick, every direction, and the ends of every range.
#include <bloomery/counting_plan.hpp>
#include <bloomery/error.hpp>
#include <bloomery/plan.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "plan/layouts.hpp"
#include "support/layouts.hpp"

namespace bloomery::test {
namespace {

// Bits per key that each layout needs at the best k with Poisson loads: the yardstick.
struct Yardstick {
  double fpr, lower_bound, standard, block, blocked2;
};
constexpr Yardstick kYardstick[] = {
    {1e-2, 6.64, 9.59, 9.90, 9.66},     {1e-3, 9.97, 14.38, 15.49, 14.60},
    {1e-4, 13.29, 19.17, 21.91, 19.79}, {1e-5, 16.61, 23.97, 29.48, 25.19},
    {1e-6, 19.93, 28.76, 38.51, 30.98},
};

// Block has one bit in each of k <= 16 words. At 1e-4 and below the best k would be above what
// words allow, which costs up to 1.9 %.
double block_allowance(double fpr) { return fpr > 2e-4 ? 1.01 : fpr > 2e-5 ? 1.013 : 1.019; }

TEST(Plan, NeedsTheBitsOfTheYardstick) {
  for (const Yardstick& row : kYardstick) {
    const double standard = plan(100'000'000, row.fpr, Layout::standard).bits_per_key();
    const double block = plan(100'000'000, row.fpr, Layout::blocked).bits_per_key();
    const double blocked2 = plan(100'000'000, row.fpr, Layout::blocked2).bits_per_key();
    EXPECT_NEAR(standard, row.standard, row.standard * 0.005) << row.fpr;
    EXPECT_LE(block, row.block * block_allowance(row.fpr)) << row.fpr;
    EXPECT_LE(blocked2, row.blocked2 * 1.01) << row.fpr;
    EXPECT_GE(block, standard);
    EXPECT_GE(blocked2, standard);
    EXPECT_NEAR(lower_bound_bits(row.fpr), row.lower_bound, 0.006);
  }
}

TEST(Plan, ChoosesTheLayoutByTheFpr) {
  EXPECT_EQ(plan(1000, 0.5).layout, Layout::blocked);
  EXPECT_EQ(plan(1000, 1e-4).layout, Layout::blocked);
  EXPECT_EQ(plan(1000, 0.99e-4).layout, Layout::blocked2);
  EXPECT_EQ(plan(1000, 1e-10).layout, Layout::blocked2);
  EXPECT_EQ(plan(1000, 0.99e-10).layout, Layout::standard);
  EXPECT_EQ(plan(1000, 1e-15).layout, Layout::standard);
}

// Two blocks from the power of ten on at which one takes over 1.4 times the memory, and not before.
TEST(Plan, ChoosesTwoBlocksOfCountersByTheFpr) {
  struct Row {
    std::uint32_t width;
    double from;
    Layout one, two;
  };
  for (const Row& row : {Row{4, 1e-4, Layout::blocked128, Layout::blocked2x128},
                         Row{8, 1e-3, Layout::blocked64, Layout::blocked2x64}}) {
    EXPECT_EQ(counting_layout(row.width), row.one);
    EXPECT_EQ(counting_layout(row.width, row.from), row.one);
    EXPECT_EQ(counting_layout(row.width, 0.99 * row.from), row.two);
    const auto times = [&](double fpr) {
      return counting_bits_per_key(10'000'000, fpr, row.one) /
             counting_bits_per_key(10'000'000, fpr, row.two);
    };
    EXPECT_GT(times(row.from), 1.4);
    EXPECT_LT(times(10 * row.from), 1.4);
    // Two blocks have no odd number of hashes.
    const PlanRequest request{.capacity = 1000, .fpr = 0.5 * row.from};
    EXPECT_EQ(counting_plan(request, row.width).plan.layout, row.two);
    for (const std::uint32_t hashes : {9U, 10U}) {
      PlanRequest with = request;
      with.hashes = hashes;
      EXPECT_EQ(counting_plan(with, row.width).plan.layout, hashes == 9 ? row.one : row.two);
    }
  }
}

// From one key to 10^13, from one half to 1e-15: a valid plan that keeps its promise with no
// block to spare, or an error that names the limit.
TEST(Plan, KeepsItsPromiseOverTheWholeRange) {
  for (const Layout layout : kLayouts)
    for (std::uint64_t n = 1; n <= kMaxCapacity; n *= 10)
      for (const double fpr : {0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12, 1e-15}) {
        SCOPED_TRACE(std::string(to_string(layout)) + " " + std::to_string(n) + " at 10^" +
                     std::to_string(std::log10(fpr)));
        try {
          const Plan it = plan(n, fpr, layout);
          EXPECT_NO_THROW(validate(it));
          EXPECT_EQ(it.capacity, n);
          EXPECT_EQ(it.fpr, fpr);
          EXPECT_EQ(it.layout, layout);
          EXPECT_LE(predicted_fpr(it, static_cast<double>(n)), fpr);
          if (it.blocks() > 1) {
            EXPECT_GT(
                predicted_fpr(layout, it.bits - kBlockBits, it.hashes, static_cast<double>(n)),
                fpr);
          }
          EXPECT_GE(it.bits_per_key(), lower_bound_bits(fpr));
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::too_large) << error.what();
          // Only what really cannot be: no layout needs twenty times the lower bound, but for
          // narrow blocks at rates that they are not for.
          const std::uint32_t counters = counter_bits(layout);
          if (counters != 0 && counting_bits_per_key(n, fpr, layout) > kMostCountingBitsPerKey &&
              std::string(error.what()).find("limit of 2,048;") != std::string::npos)
            continue;
          if (counters == 0 || fpr > 1e-7) {
            EXPECT_GT(static_cast<double>(n) * lower_bound_bits(fpr) * 20,
                      static_cast<double>(max_bits(layout)))
                << error.what();
          }
          const char* limit = counters == 0   ? "2^40 bits"
                              : counters == 4 ? "2^38 counters"
                                              : "2^37 counters";
          EXPECT_NE(std::string(error.what()).find(limit), std::string::npos) << error.what();
        }
      }
}

TEST(Plan, MoreKeysOrALowerFprNeverNeedFewerBits) {
  for (const Layout layout : kLayouts) {
    std::uint64_t before = 0;
    for (double n = 1; n < 1e9; n *= 1.37) {
      const std::uint64_t bits = plan(static_cast<std::uint64_t>(n), 0.001, layout).bits;
      EXPECT_GE(bits, before) << n;
      before = bits;
    }
    before = 0;
    // Some counters are refused below.
    const double lowest = layout == Layout::blocked64 ? 1e-6 : 1e-9;
    for (double fpr = 0.5; fpr > lowest; fpr /= 1.7) {
      const std::uint64_t bits = plan(100'000, fpr, layout).bits;
      EXPECT_GE(bits, before) << fpr;
      before = bits;
    }
  }
}

// ---- every direction ---------------------------------------------------------------------------

struct Known {
  std::optional<std::uint64_t> capacity;
  std::optional<double> fpr;
  std::optional<std::uint64_t> bits;
  std::optional<std::uint32_t> hashes;
};

Plan solve_for(Layout layout, const Known& known) {
  return solve({.capacity = known.capacity,
                .fpr = known.fpr,
                .bits = known.bits,
                .hashes = known.hashes,
                .layout = layout});
}

// As many keys as fit with the best number of hashes: with no other number one more does.
Plan most_keys(Layout layout, double fpr, std::uint64_t bits) {
  const Plan most = solve_for(layout, {{}, fpr, bits, {}});
  const auto items = static_cast<double>(most.capacity);
  EXPECT_LE(predicted_fpr(most, items), fpr);
  for (const std::uint32_t other : hash_counts(layout))
    EXPECT_GT(predicted_fpr(layout, bits, other, items + 1), fpr)
        << other << " hashes hold more keys";
  return most;
}

void check_directions(Layout layout, std::uint64_t n, double fpr) {
  const Plan whole = plan(n, fpr, layout);
  const std::uint64_t bits = whole.bits;
  const std::uint32_t k = whole.hashes;
  const auto items = static_cast<double>(n);
  EXPECT_EQ(solve_for(layout, {n, fpr, {}, k}), whole);
  const Plan given = solve_for(layout, {n, {}, bits, k});
  EXPECT_EQ(given.bits, bits);
  EXPECT_LE(given.fpr, fpr);
  EXPECT_DOUBLE_EQ(given.fpr, predicted_fpr(whole, items));
  // The best hashes are better than every other count.
  const Plan best = solve_for(layout, {n, {}, bits, {}});
  EXPECT_LE(best.fpr, given.fpr);
  for (const std::uint32_t other : hash_counts(layout))
    EXPECT_GE(predicted_fpr(layout, bits, other, items), best.fpr * (1 - 1e-12)) << other;
  // At least as many keys as asked, and one more is too many.
  const Plan room = solve_for(layout, {{}, fpr, bits, k});
  EXPECT_GE(room.capacity, n);
  EXPECT_LE(predicted_fpr(room, static_cast<double>(room.capacity)), fpr);
  EXPECT_GT(predicted_fpr(room, static_cast<double>(room.capacity) + 1), fpr);
  const Plan most = most_keys(layout, fpr, bits);
  EXPECT_GE(most.capacity, room.capacity);
  const Plan checked = solve_for(layout, {n, fpr, bits, k});
  EXPECT_EQ(checked, whole);
  for (const Plan& it : {given, best, room, most, checked}) EXPECT_NO_THROW(validate(it));
}

TEST(Plan, EveryDirectionLeadsBack) {
  for (const Layout layout : kLayouts)
    for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{10}, std::uint64_t{1000},
                                  std::uint64_t{1'234'567}, std::uint64_t{5'000'000'000}})
      for (const double fpr : {0.3, 0.01, 1e-4, 1e-6}) {
        if (counter_bits(layout) != 0 && n > 2'000'000 && fpr < 0.01) continue;  // over 128 GiB
        SCOPED_TRACE(std::string(to_string(layout)) + " " + std::to_string(n) + " at " +
                     std::to_string(fpr));
        check_directions(layout, n, fpr);
      }
}

TEST(Plan, SmallestAndLargestArraysHoldAsManyKeysAsTheyCan) {
  for (const Layout layout : kPlainLayouts)
    for (const std::uint64_t bits : {kBlockBits, max_bits(layout)})
      for (const double fpr : {0.5, 0.01, 1e-15}) {
        SCOPED_TRACE(std::string(to_string(layout)) + ", " + std::to_string(bits) + " bits at " +
                     std::to_string(fpr));
        EXPECT_NO_THROW(validate(most_keys(layout, fpr, bits)));
      }
}

// From the hashes alone the size or the load is the one at which no other number does better.
// In narrow blocks, whose exact rate ripples from one number to the next, some never are the best.
TEST(Plan, HashesGiveTheSizeAtWhichTheyAreTheBest) {
  for (const Layout layout : kPlainLayouts)
    for (const std::uint32_t k : hash_counts(layout))
      for (const std::uint64_t n : {std::uint64_t{5'000}, std::uint64_t{1'234'567}}) {
        SCOPED_TRACE(std::string(to_string(layout)) + ", k " + std::to_string(k) + ", " +
                     std::to_string(n));
        const Plan sized = solve_for(layout, {n, {}, {}, k});
        EXPECT_EQ(sized.hashes, k);
        EXPECT_EQ(sized.capacity, n);
        EXPECT_DOUBLE_EQ(sized.fpr, predicted_fpr(sized, static_cast<double>(n)));
        EXPECT_EQ(solve_for(layout, {n, {}, sized.bits, {}}).hashes, k);
        const Plan loaded = solve_for(layout, {{}, {}, sized.bits, k});
        EXPECT_EQ(solve_for(layout, {loaded.capacity, {}, sized.bits, {}}).hashes, k);
        // A size leads back to its load, up to the rounding of one to whole blocks.
        EXPECT_GE(loaded.capacity, n);
        EXPECT_LE(static_cast<double>(loaded.capacity - n),
                  1 + 2.0 * static_cast<double>(n) / static_cast<double>(sized.blocks()));
        for (const Plan& it : {sized, loaded}) EXPECT_NO_THROW(validate(it));
      }
}

// In narrow blocks the number is near the best, and the size is what it always was.
TEST(Plan, HashesOfNarrowBlocksGiveTheseSizes) {
  const auto bits = [](Layout layout, std::uint64_t n, std::uint32_t k) {
    const Plan sized = solve_for(layout, {n, {}, {}, k});
    const double best = solve_for(layout, {n, {}, sized.bits, {}}).fpr;
    EXPECT_LE(sized.fpr, 1.2 * best) << to_string(layout) << " " << k;
    return sized.bits;
  };
  EXPECT_EQ(bits(Layout::blocked128, 1'000'000, 2), 2'972'160U);
  EXPECT_EQ(bits(Layout::blocked128, 1'000'000, 4), 6'565'888U);
  EXPECT_EQ(bits(Layout::blocked128, 12'345, 7), 190'976U);
  EXPECT_EQ(bits(Layout::blocked64, 1'000'000, 2), 3'067'904U);
  EXPECT_EQ(bits(Layout::blocked64, 1'000'000, 4), 7'624'192U);
  EXPECT_EQ(bits(Layout::blocked64, 12'345, 6), 210'944U);
  EXPECT_EQ(bits(Layout::blocked2x128, 1'000'000, 4), 5'943'808U);
  EXPECT_EQ(bits(Layout::blocked2x64, 12'345, 10), 280'576U);
}

// With standard half of the bits are then ones: k n = m ln 2.
TEST(Plan, BestHashesOfStandardAreTheTextbooks) {
  const double ln2 = std::log(2.0);
  EXPECT_NEAR(solve_for(Layout::standard, {1'000'000, {}, {}, 7}).bits_per_key(), 7 / ln2, 6e-4);
  EXPECT_NEAR(static_cast<double>(solve_for(Layout::standard, {{}, {}, 51'200'000, 7}).capacity),
              51'200'000 * ln2 / 7, 1);
  // A lone key in the smallest filter, and the largest of all.
  EXPECT_EQ(solve_for(Layout::blocked, {1, {}, {}, 1}).bits, kBlockBits);
  EXPECT_EQ(solve_for(Layout::standard, {{}, {}, 512, 64}).capacity, 5U);
  EXPECT_NEAR(static_cast<double>(solve_for(Layout::standard, {{}, {}, kMaxBits, 1}).capacity),
              static_cast<double>(kMaxBits) * ln2, 1);
}

// The search may pass through the largest arrays, in which a few keys set hardly a bit.
TEST(Plan, FewKeysTakeNoMoreThanTheirNeighbours) {
  for (const double fpr : {1e-6, 1e-9, 1e-12, 1e-15})
    for (std::uint64_t keys = 2; keys < 600; ++keys)
      EXPECT_LE(plan(keys - 1, fpr, Layout::standard).bits, plan(keys, fpr, Layout::standard).bits)
          << keys << " " << fpr;
  EXPECT_EQ(plan(491, 1e-15, Layout::standard).bits, 35'328U);
  EXPECT_EQ(solve_for(Layout::standard, {121, 0.4, {}, 64}).bits, 2048U);
}

// Few hashes are equally hopeless here, and the best is far from them.
TEST(Plan, FindsTheBestHashesBeyondHopelessOnes) {
  EXPECT_NEAR(plan(1'000'000'000, 1e-12, Layout::standard).bits_per_key(), 57.51, 0.1);
  EXPECT_NEAR(plan(1'000'000'000, 1e-15, Layout::standard).bits_per_key(), 71.89, 0.1);
  EXPECT_GE(solve_for(Layout::standard, {{}, 1e-15, 512, {}}).capacity, 1U);
  EXPECT_GE(solve_for(Layout::blocked2, {{}, 1e-12, 512 * 200, {}}).capacity, 100U);
}

// One block less is too little whatever the hash count, and no lower count does with as many.
TEST(Plan, IsTheSmallestAndHasTheFewestHashes) {
  for (const Layout layout : kLayouts)
    for (const std::uint64_t keys :
         {1UL, 7UL, 60UL, 500UL, 9'000UL, 70'000UL, 3'000'000UL, 1'000'000'000UL})
      for (const double fpr : {0.5, 0.2, 0.03, 0.004, 1e-4, 3e-6, 1e-8}) {
        if (layout == Layout::blocked64 && fpr < 1e-6) continue;  // refused
        const Plan found = plan(keys, fpr, layout);
        const auto items = static_cast<double>(keys);
        const std::uint32_t step = detail::key_blocks(layout);
        EXPECT_LE(predicted_fpr(found, items), fpr) << to_string(layout) << " " << keys;
        for (std::uint32_t hashes = step; hashes <= max_hashes(layout); hashes += step) {
          const std::uint64_t bits = hashes < found.hashes ? found.bits : found.bits - kBlockBits;
          if (bits == 0) continue;
          EXPECT_GT(predicted_fpr(layout, bits, hashes, items), fpr)
              << to_string(layout) << " " << keys << " " << fpr << " " << hashes;
        }
      }
}

// A thread keeps its latest plans; a request that differs in one thing only is another one.
TEST(Plan, IsThatOfItsOwnRequest) {
  const Plan best = solve_for(Layout::standard, {1000, 0.01, {}, {}});
  EXPECT_EQ(solve_for(Layout::standard, {1000, 0.01, {}, 3}).hashes, 3U);
  EXPECT_EQ(solve_for(Layout::standard, {1000, 0.01, {}, 4}).hashes, 4U);
  EXPECT_EQ(solve_for(Layout::standard, {1000, 0.02, {}, {}}).fpr, 0.02);
  EXPECT_EQ(solve_for(Layout::standard, {2000, 0.01, {}, {}}).capacity, 2000U);
  EXPECT_EQ(solve_for(Layout::blocked, {1000, 0.01, {}, {}}).layout, Layout::blocked);
  EXPECT_EQ(solve_for(Layout::standard, {1000, 0.01, {}, {}}), best);
}

TEST(Plan, BitsAreRoundedDownToWholeBlocksAndUpToOne) {
  const auto bits_of = [](std::uint64_t bits) {
    return solve_for(Layout::blocked, {1, {}, bits, {}}).bits;
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
  EXPECT_NEAR(textbook_fpr(10, 7), 0.00819, 5e-6);
  EXPECT_NEAR(textbook_fpr(8, 4), 0.0240, 5e-5);
  EXPECT_NEAR(textbook_fpr(16, 11), 0.000459, 1e-6);
  EXPECT_NEAR(textbook_fpr(2, 1), 0.393, 5e-4);
  EXPECT_DOUBLE_EQ(lower_bound_bits(0.25), 2);
  EXPECT_NEAR(predicted_fpr(Layout::standard, 512'000'000, 7, 51'200'000), textbook_fpr(10, 7),
              1e-8);
}

// Filters made from one request on different CPUs are merged, so their plans are equal.
TEST(Plan, IsTheSameOnEveryCpu) {
  std::uint64_t plans = 0, digest = 0;
  for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard})
    for (double fpr = 0.3; fpr > 1e-7; fpr *= 0.83)
      for (std::uint64_t keys = 10; keys < 1'000'000'000; keys = keys * 7 + 3) {
        const Plan each = plan(keys, fpr, layout);
        digest = digest * 1'000'003 + each.bits * 31 + each.hashes;
        ++plans;
      }
  EXPECT_EQ(plans, 2430U);
  EXPECT_EQ(digest, 0x82ea42d170accac5);
}

// Where most of a sum cancels: low rates, and counters, whose blocks have fewer bits. Long doubles of x86-64 made the
// first one 2,048 counters larger than those of aarch64.
TEST(Plan, OfLowRatesAndCountersIsTheSameOnEveryCpu) {
  EXPECT_EQ(plan(300'000'000, 2e-9, Layout::blocked128).bits, 90'418'708'992U);
  std::uint64_t plans = 0, digest = 0;
  const auto note = [&](const auto& make) {
    std::uint64_t bits = 1;
    try {
      const Plan each = make();
      bits = each.bits * 31 + each.hashes;
    } catch (const Error&) {
      // It would take too many bits.
    }
    digest = digest * 1'000'003 + bits;
    ++plans;
  };
  for (double fpr = 0.3; fpr > 1e-15; fpr *= 0.19)
    for (std::uint64_t keys = 10; keys < 1'000'000'000; keys = keys * 29 + 3) {
      for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard})
        note([&] { return plan(keys, fpr, layout); });
      for (const std::uint32_t width : {4U, 8U})
        note([&] { return counting_plan({.capacity = keys, .fpr = fpr}, width).plan; });
    }
  EXPECT_EQ(plans, 630U);
  EXPECT_EQ(digest, 0x9c1481e4d49541d9);
}

TEST(Plan, NamesItsLayouts) {
  EXPECT_EQ(to_string(Layout::blocked), "blocked");
  EXPECT_EQ(to_string(Layout::blocked2), "blocked2");
  EXPECT_EQ(to_string(Layout::standard), "standard");
  EXPECT_EQ(max_hashes(Layout::blocked), 16U);
  EXPECT_EQ(max_hashes(Layout::blocked2), 32U);
  EXPECT_EQ(max_hashes(Layout::standard), 64U);
  EXPECT_EQ(to_string(Layout::blocked128), "blocked128");
  EXPECT_EQ(to_string(Layout::blocked64), "blocked64");
  EXPECT_EQ(to_string(Layout::blocked2x128), "blocked2x128");
  EXPECT_EQ(to_string(Layout::blocked2x64), "blocked2x64");
  EXPECT_EQ(to_string(Layout{9}), "unknown");
  for (const Layout layout : {Layout::blocked128, Layout::blocked64, Layout::blocked2x128,
                              Layout::blocked2x64, Layout{9}}) {
    const bool is_two = layout == Layout::blocked2x128 || layout == Layout::blocked2x64;
    EXPECT_EQ(max_hashes(layout), layout == Layout{9} ? 0U : is_two ? 32U : 16U);
  }
}

}  // namespace
}  // namespace bloomery::test
