// The sub-filters of a filter that grows: pinned, and never more than the stated rate together.
#include <bloomery/error.hpp>
#include <bloomery/scalable_plan.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

std::optional<ErrorCode> refusal(const ScalablePlan& plan, std::uint32_t sub_filter,
                                 const std::string& naming) {
  try {
    (void)sub_filter_plan(plan, sub_filter);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(naming), std::string::npos) << error.what();
    return error.code();
  }
  return std::nullopt;
}

std::optional<ErrorCode> refusal(std::uint64_t capacity, double fpr, std::uint32_t growth,
                                 double tightening, const std::string& naming) {
  try {
    (void)scalable_plan(capacity, fpr, growth, tightening);
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(naming), std::string::npos) << error.what();
    return error.code();
  }
  return std::nullopt;
}

// However many sub-filters there are, their shares sum up to no more than the stated rate, in doubles
// added exactly enough (long double has 11 more bits on x86-64; elsewhere the sum is checked to
// within its own rounding).
TEST(ScalablePlan, SharesNeverSumUpToMoreThanTheFpr) {
  for (const double fpr : {0.5, 0.3, 0.01, 0.001, 1e-6, 1e-10, 1e-14})
    for (double tightening = min_tightening(fpr); tightening <= kMaxTightening;
         tightening += 0.01) {
      if (fpr * (1 - tightening) < kMinFpr) continue;
      // Growth 1, so that nothing but the rate and the limit of 64 sub-filters ends it.
      ScalablePlan plan = scalable_plan(100, fpr, 1, tightening, Layout::standard);
      long double sum = 0;
      std::uint32_t sub_filters = 0;
      try {
        for (; sub_filters < kMaxSubFilters; ++sub_filters) {
          const double share = sub_filter_fpr(plan, sub_filters);
          EXPECT_GE(share, kMinFpr);
          sum += share;
        }
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::too_large);
      }
      EXPECT_LE(static_cast<double>(sum), fpr) << fpr << " by " << tightening;
      if (sizeof(long double) > sizeof(double)) {
        EXPECT_LE(sum, fpr) << fpr << " by " << tightening;
      }
      // Nor is much of the rate given away: what is left is the share of the sub-filters to come.
      const double left = std::pow(tightening, sub_filters);
      EXPECT_NEAR(static_cast<double>(sum), fpr * (1 - left), fpr * 1e-12);
    }
}

// The plan of each sub-filter keeps to its share, and has room for `growth` times as many keys.
TEST(ScalablePlan, SubFiltersKeepToTheirShares) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard})
    for (const std::uint32_t growth : {1U, 2U, 3U, 8U}) {
      const ScalablePlan plan = scalable_plan(1000, 0.01, growth, 0.8, layout);
      double capacity = 1000, share = 0.01 * (1 - 0.8);
      for (std::uint32_t i = 0; i < 8; ++i, capacity *= growth, share *= 0.8) {
        const Plan sub_filter = sub_filter_plan(plan, i);
        EXPECT_EQ(sub_filter.layout, layout);
        EXPECT_EQ(static_cast<double>(sub_filter.capacity), capacity);
        EXPECT_EQ(sub_filter.capacity, sub_filter_capacity(plan, i));
        EXPECT_EQ(sub_filter.fpr, sub_filter_fpr(plan, i));
        EXPECT_NEAR(sub_filter.fpr, share, share * 1e-14);
        EXPECT_LE(predicted_fpr(sub_filter, capacity), sub_filter.fpr);
      }
    }
}

TEST(ScalablePlan, TakesTheLayoutOfTheTotalFpr) {
  // The first sub-filter's share is below 1e-4, where plan() alone would take `blocked2`.
  EXPECT_EQ(scalable_plan(1000, 1e-4).first.layout, Layout::blocked);
  EXPECT_EQ(scalable_plan(1000, 9e-5).first.layout, Layout::blocked2);
  EXPECT_EQ(scalable_plan(1000, 1e-10).first.layout, Layout::blocked2);
  EXPECT_EQ(scalable_plan(1000, 1e-11).first.layout, Layout::standard);
  EXPECT_EQ(scalable_plan(1000, 1e-11, 2, 0.5, Layout::blocked).first.layout, Layout::blocked);
}

// Files that older versions made have such plans.
TEST(ScalablePlan, IsValidBelowTheRatioOfNewFilters) {
  ScalablePlan old = scalable_plan(1000, 0.5, 2, 0.5);
  old.tightening = kMinTightening;
  EXPECT_NO_THROW(validate(old));
  EXPECT_EQ(sub_filter_plan(old, 1).capacity, 2000U);
}

// A file stores the sub-filters of such a plan: these never change.
TEST(ScalablePlan, SubFiltersArePinned) {
  struct Golden {
    ScalablePlan plan;
    std::uint32_t sub_filter;
    std::uint64_t capacity, bits;
    std::uint32_t hashes;
    double fpr;
  };
  const ScalablePlan usual = scalable_plan(1'000'000, 0.001);
  const ScalablePlan eight = scalable_plan(1'000'000, 1e-6, 8, 0.5);
  const ScalablePlan standard = scalable_plan(100, 0.01, 3, 0.7, Layout::standard);
  const Golden golden[] = {
      {usual, 0, 1000000, 20947968, 11, 0.00015000000000000001},
      {usual, 1, 2000000, 42889728, 11, 0.00012750000000000001},
      {usual, 2, 4000000, 87758848, 12, 0.00010837500000000001},
      {usual, 9, 512000000, 13092155392, 13, 3.4742541942480462e-05},
      {eight, 0, 1000000, 33108480, 20, 4.9999999999999998e-07},
      {eight, 1, 8000000, 279778816, 20, 2.4999999999999999e-07},
      {eight, 3, 512000000, 19914249728, 22, 6.2499999999999997e-08},
      {standard, 0, 100, 1536, 4, 0.0030000000000000005},
      {standard, 1, 300, 4096, 6, 0.0021000000000000003},
      {standard, 5, 24300, 384512, 11, 0.00050420999999999994},
  };
  for (const Golden& it : golden) {
    const Plan sub_filter = sub_filter_plan(it.plan, it.sub_filter);
    EXPECT_EQ(sub_filter.capacity, it.capacity);
    EXPECT_EQ(sub_filter.bits, it.bits);
    EXPECT_EQ(sub_filter.hashes, it.hashes);
    EXPECT_EQ(sub_filter.fpr, it.fpr) << it.sub_filter;
  }
}

TEST(ScalablePlan, RefusesNumbersThatNoFilterHas) {
  using enum ErrorCode;
  EXPECT_EQ(refusal(1000, 0.01, 0, 0.5, "growth 0"), invalid_argument);
  EXPECT_EQ(refusal(1000, 0.01, 1001, 0.5, "growth 1,001"), invalid_argument);
  EXPECT_EQ(refusal(1000, 0.01, 2, 0.24, "tightening 0.24"), invalid_argument);
  EXPECT_EQ(refusal(1000, 0.01, 2, 0.96, "tightening 0.96"), invalid_argument);
  EXPECT_EQ(refusal(1000, 0.01, 2, std::nan(""), "tightening nan"), invalid_argument);
  EXPECT_EQ(refusal(1000, 0.051, 2, 0.44, "tightening 0.44 is too low"), invalid_argument);
  EXPECT_EQ(refusal(1000, 0.051, 2, 0.45, ""), std::nullopt);
  EXPECT_EQ(refusal(1000, 0.05, 2, kMinTightening, ""), std::nullopt);
  EXPECT_EQ(refusal(1000, std::nan(""), 2, 0.5, "rate of nan"), invalid_argument);
  EXPECT_EQ(refusal(1000, 0, 2, 0.5, "rate of 0"), invalid_argument);
  EXPECT_EQ(refusal(1000, 0.6, 2, 0.5, "rate of 0.6"), invalid_argument);
  EXPECT_EQ(refusal(1000, 1e-15, 2, 0.5, "from 2e-15"), invalid_argument);
  EXPECT_EQ(refusal(0, 0.01, 2, 0.5, "capacity is 0"), invalid_argument);
  EXPECT_EQ(refusal(kMaxCapacity, 0.01, 2, 0.5, "2^40"), too_large);
  EXPECT_EQ(refusal(1000, 2e-15, 1, 0.5, ""), std::nullopt);
  EXPECT_EQ(refusal(1, 0.5, 1000, 0.95, ""), std::nullopt);

  ScalablePlan greedy = scalable_plan(1000, 0.01);
  greedy.first.fpr = 0.01;
  EXPECT_THROW(validate(greedy), Error);
  ScalablePlan broken = scalable_plan(1000, 0.01);
  broken.first.bits = 100;
  EXPECT_THROW(validate(broken), Error);
  // A stored plan may claim what no request is granted.
  const auto refused = [](const std::string& naming, auto change) {
    ScalablePlan plan = scalable_plan(1000, 0.01);
    change(plan);
    expect_error(invalid_argument, {naming}, [&] { validate(plan); });
  };
  refused("growth 0", [](ScalablePlan& plan) { plan.growth = 0; });
  refused("growth 1,001", [](ScalablePlan& plan) { plan.growth = 1001; });
  refused("tightening 0.24", [](ScalablePlan& plan) { plan.tightening = 0.24; });
  refused("tightening nan", [](ScalablePlan& plan) { plan.tightening = std::nan(""); });
  refused("rate of 0.6", [](ScalablePlan& plan) { plan.fpr = 0.6; });
  refused("rate of nan", [](ScalablePlan& plan) { plan.fpr = std::nan(""); });
}

TEST(ScalablePlan, ListsItsSubFiltersAsFarAsItCanGrow) {
  const ScalablePlan plan = scalable_plan(1000, 0.01, 3);
  EXPECT_EQ(sub_filter_plans(plan, 0).size(), 1U);
  EXPECT_EQ(sub_filter_plans(plan, 1000).size(), 1U);
  EXPECT_EQ(sub_filter_plans(plan, 1001).size(), 2U);
  EXPECT_EQ(sub_filter_plans(plan, 4001).size(), 3U);
  constexpr double kAll = std::numeric_limits<double>::infinity();
  // Until the capacity, the bits, the share of the fpr, or the number of sub-filters ends it.
  for (const ScalablePlan& it :
       {plan, scalable_plan(std::uint64_t{1} << 32, 0.01, 2), scalable_plan(1000, 1e-14, 1, 0.5),
        scalable_plan(1000, 4 * kMinFpr, 1, 0.5),  // the second has the lowest rate of all
        scalable_plan(1000, 0.01, 1)}) {
    const std::vector<Plan> all = sub_filter_plans(it, kAll);
    for (std::uint32_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], sub_filter_plan(it, i));
    EXPECT_THROW((void)sub_filter_plan(it, static_cast<std::uint32_t>(all.size())), PlanError);
  }
}

TEST(ScalablePlan, TakesTheLeastRateThatItsErrorAdvises) {
  for (double tightening = kMinTightening; tightening <= kMaxTightening; tightening += 0.01) try {
      (void)scalable_plan(1000, 1e-15, 2, tightening);
      ADD_FAILURE() << tightening << " leaves less than 1e-15 for the first sub-filter";
    } catch (const PlanError& error) {
      const std::string text = error.what();
      const double least = std::stod(text.substr(text.find("give one from ") + 14));
      EXPECT_NO_THROW((void)scalable_plan(1000, least, 2, tightening)) << text;
    }
}

// The rate of a filter that is as full as it can be, and no rate of one that cannot be.
TEST(ScalablePlan, PredictsTheRateUpToTheLastKeyThatItHasRoomFor) {
  for (const ScalablePlan& plan :
       {scalable_plan(1000, 0.01, 1), scalable_plan(std::uint64_t{1} << 32, 0.01, 2),
        scalable_plan(1000, 1e-14, 1, 0.5), scalable_plan(1, 0.1, 1000)}) {
    double room = 0;
    for (const Plan& each : sub_filter_plans(plan, std::numeric_limits<double>::infinity()))
      room += static_cast<double>(each.capacity);
    const double full = predicted_fpr(plan, room);
    EXPECT_GT(full, 0);
    EXPECT_LE(full, plan.fpr);
    EXPECT_THROW((void)predicted_fpr(plan, room + 1), PlanError);
  }
}

TEST(ScalablePlan, HasNoMoreSubFiltersThanItsLimits) {
  const ScalablePlan equal = scalable_plan(1000, 0.01, 1);
  EXPECT_EQ(sub_filter_capacity(equal, kMaxSubFilters - 1), 1000U);
  EXPECT_GT(sub_filter_fpr(equal, kMaxSubFilters - 1), 0);
  for (const auto& beyond : std::initializer_list<std::function<void()>>{
           [&] { (void)sub_filter_capacity(equal, kMaxSubFilters); },
           [&] { (void)sub_filter_fpr(equal, kMaxSubFilters); },
           [&] { (void)sub_filter_plan(equal, kMaxSubFilters); }})
    expect_error(ErrorCode::too_large, {"65 sub-filters: 64 is the limit"}, beyond);
  // 10^13 keys are as many as a sub-filter may have.
  const ScalablePlan large = scalable_plan(10'000'000'000, 0.4, 1000, 0.45);
  EXPECT_EQ(sub_filter_capacity(large, 1), kMaxCapacity);
  expect_error(ErrorCode::too_large, {"more than 10^13 keys"},
               [&] { (void)sub_filter_capacity(large, 2); });
}

TEST(ScalablePlan, SaysWhyItCannotGrowFurther) {
  using enum ErrorCode;
  const ScalablePlan equal = scalable_plan(1000, 0.01, 1);
  EXPECT_EQ(sub_filter_plan(equal, 63).capacity, 1000U);
  EXPECT_EQ(refusal(equal, 64, "64 is the limit"), too_large);
  // 2^32 keys of 2^32 and more need over 2^40 bits at some sub-filter.
  const ScalablePlan large = scalable_plan(std::uint64_t{1} << 32, 0.01, 2);
  EXPECT_NO_THROW((void)sub_filter_plan(large, 3));
  EXPECT_EQ(refusal(large, 5, "2^40 bits"), too_large);
  EXPECT_EQ(refusal(large, 20, "10^13"), too_large);
  // 1e-14 * 0.5 * 0.5^i: 2.5e-15, 1.25e-15 and then too little.
  const ScalablePlan strict = scalable_plan(1000, 1e-14, 1, 0.5);
  EXPECT_NO_THROW((void)sub_filter_plan(strict, 2));
  EXPECT_EQ(refusal(strict, 3, "1e-15"), too_large);
}

}  // namespace
}  // namespace bloomery::test
