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

#include <bloomery/counting_view.hpp>
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <ostream>
#include <string>
#include <vector>

#include "support/key_families.hpp"
#include "support/random.hpp"
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

// ---- the same of a plain filter or a counting one, whose array is that of the equivalent plain filter ----------

inline const FilterView& array_of(const FilterView& filter) { return filter; }
inline Filter array_of(const CountingView& filter) { return filter.to_plain(); }

struct FprCase {
  Layout layout;
  double fpr;
  Hasher hasher;
};

inline std::string family_and_seed(const Hasher& hasher) {
  return (hasher.family() == HashFamily::xxh3 ? "xxh3_seed_" : "siphash_seed_") +
         std::to_string(hasher.seed().low);
}

inline void PrintTo(const FprCase& it, std::ostream* out) {
  *out << to_string(it.layout) << " " << it.fpr << " " << family_and_seed(it.hasher);
}

inline std::string name_of_case(const testing::TestParamInfo<FprCase>& info) {
  const FprCase& it = info.param;
  return std::string(to_string(it.layout)) + "_1e" +
         std::to_string(std::lround(-std::log10(it.fpr))) + "_" + family_and_seed(it.hasher);
}

template <class AnyFilter>
std::string describe_fpr(const AnyFilter& filter) {
  return describe(array_of(filter)) + ", rate " + std::to_string(filter.plan().fpr) + ", " +
         family_and_seed(filter.hasher());
}

// (a) with random keys: so many, or a few more.
template <class AnyFilter>
void check_random_keys(const AnyFilter& filter, double wanted, double tolerance, Random& random) {
  std::vector<std::uint64_t> keys(1 << 14);
  double looked = 0;
  std::uint64_t hits = 0;
  for (; looked < wanted; looked += static_cast<double>(keys.size())) {
    std::generate(keys.begin(), keys.end(), std::ref(random));
    hits += filter.may_contain_many(keys);
  }
  check_hits(array_of(filter), looked, hits, tolerance, describe_fpr(filter));
}

// All three with the keys of a family, in filters of these layouts and rates: the first 50,000 keys are inserted, the
// following ones are absent.
template <class AnyFilter, class Layouts>
void check_family(const KeyFamily& family, const Layouts& layouts, const Hasher& hasher,
                  std::initializer_list<double> fprs) {
  constexpr std::uint64_t kCapacity = 50'000;
  const std::vector<Hash128> inserted = family.hashes(hasher, 0, kCapacity);
  std::vector<AnyFilter> filters;
  for (const double fpr : fprs)
    for (const Layout layout : layouts) {
      filters.emplace_back(plan(kCapacity, fpr, layout), hasher);
      filters.back().insert_hashes(inserted);
      check_array(array_of(filters.back()), describe_fpr(filters.back()));
    }
  // A part at a time, so that millions of keys need no memory.
  constexpr std::uint64_t kPart = 100'000;
  std::vector<std::uint64_t> hits(filters.size());
  const auto absent = static_cast<std::uint64_t>(sample_for(std::min(fprs)).keys);
  for (std::uint64_t done = 0; done < absent; done += kPart) {
    const std::vector<Hash128> part = family.hashes(hasher, kCapacity + done, kPart);
    for (std::size_t i = 0; i < filters.size(); ++i)
      if (static_cast<double>(done) < sample_for(filters[i].plan().fpr).keys)
        hits[i] += filters[i].may_contain_hashes(part);
  }
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const Sample sample = sample_for(filters[i].plan().fpr);
    check_hits(array_of(filters[i]), sample.keys, hits[i], sample.tolerance,
               std::string(family.name) + ", " + describe_fpr(filters[i]));
  }
}

}  // namespace bloomery::test
