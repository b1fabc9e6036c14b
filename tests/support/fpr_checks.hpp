// The stated rate is the real one. Three questions, so that a failure names its cause:
//
//   (a) is the share of absent keys that are answered "maybe" the one that the array implies?
//   (b) does the array have as many ones as theory predicts?
//   (c) does the plan predict what the array implies?
//
// Bounds. (a) 6000 expected hits, fail outside 10 %. By Chernoff a Poisson of mean 6000 leaves
// [5400, 6600] with probability below exp(-6000 * 0.00484) + exp(-6000 * 0.00517) < 3e-13, and
// one of mean 7200 (a rate 20 % high) stays below 6600 with less than exp(-7200 * 0.00357) <
// 1e-11. Below p = 1e-4: 300 expected hits, outside 50 %: exp(-300 * 0.108) + exp(-300 * 0.153)
// < 1e-14; a rate twice as high stays below 450 with less than exp(-600 * 0.0342) < 2e-9.
// (b), (c) eight standard errors: below 2e-15 for a normal variable.
// A run asks about 1,000 such questions: with random seeds a correct filter would fail in fewer than
// 1e-9 of the runs; the seeds are fixed, so that the result is always the same.
#pragma once

#include <bloomery/filter_view.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "support/statistics.hpp"

namespace bloomery::test {

// (b) and (c), for an array that is filled exactly to its capacity.
inline void check_array(const FilterView& filter, const std::string& what) {
  const Plan& plan = filter.plan();
  const MeanAndError ones = expected_ones(plan, plan.capacity);
  const auto counted = static_cast<double>(ones_of(filter.bytes()));
  EXPECT_NEAR(counted, ones.mean, 8 * ones.error)
      << "(b) " << what << ": off by " << (counted - ones.mean) / ones.error << " sigma";
  const MeanAndError implied = implied_fpr(filter);
  const double exact = exact_fpr(plan, plan.capacity);
  EXPECT_NEAR(implied.mean, exact, 8 * implied.error)
      << "(c) " << what << ": off by " << (implied.mean - exact) / implied.error << " sigma";
  EXPECT_LE(exact, plan.fpr) << "(c) " << what;
  EXPECT_GE(exact, plan.fpr * 0.93) << "(c) " << what << ": more bits than it needs";
}

struct Sample {
  double keys;
  double tolerance;
};

inline Sample sample_for(double fpr) {
  return fpr >= 1e-4 ? Sample{6000 / fpr, 0.1} : Sample{300 / fpr, 0.5};
}

// (a), for `hits` false positives among `keys` look-ups.
inline void check_hits(const FilterView& filter, double keys, std::uint64_t hits, double tolerance,
                       const std::string& what) {
  const double implied = implied_fpr(filter).mean;
  const double measured = static_cast<double>(hits) / keys;
  EXPECT_NEAR(measured / implied, 1, tolerance)
      << "(a) " << what << ": measured " << measured << ", the array implies " << implied;
}

}  // namespace bloomery::test
