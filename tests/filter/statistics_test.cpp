// The stated rate is the real one. Three questions, so that a failure names its cause:
//
//   (a) is the share of absent keys that are answered "maybe" the one that the array implies?
//   (b) does the array hold the ones that theory says?
//   (c) does the plan predict what the array implies?
//
// Bounds. (a) 6000 expected hits, fail outside 10 %. By Chernoff a Poisson of mean 6000 leaves
// [5400, 6600] with probability below exp(-6000 * 0.00484) + exp(-6000 * 0.00517) < 3e-13, and
// one of mean 7200 (a rate 20 % high) stays below 6600 with less than exp(-7200 * 0.00357) <
// 1e-11. Below p = 1e-4: 300 expected hits, outside 50 %: exp(-300 * 0.108) + exp(-300 * 0.153)
// < 1e-14; a rate twice as high stays below 450 with less than exp(-600 * 0.0342) < 2e-9.
// (b), (c) eight standard errors: below 2e-15 for a normal variable.
// A run asks about 1,000 such questions: a false alarm is rarer than 1e-9 a run, if seeds were
// drawn anew; they are fixed, so that a run that passes passes again.
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "support/key_families.hpp"
#include "support/shapes.hpp"
#include "support/statistics.hpp"

namespace bloomery {
namespace {

constexpr double kRates[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6};

std::string describe(const FilterView& filter, const Hasher& hasher) {
  return test::describe(filter) + ", rate " + std::to_string(filter.plan().rate) + ", " +
         (hasher.family() == HashFamily::xxh3 ? "xxh3" : "siphash") + " seed " +
         std::to_string(hasher.seed().low);
}

// (b) and (c), of an array that holds exactly its capacity.
void check_array(const FilterView& filter, const std::string& what) {
  const Plan& plan = filter.plan();
  const test::MeanAndError ones = test::expected_ones(plan, plan.capacity);
  const auto counted = static_cast<double>(test::ones_of(filter.bytes()));
  EXPECT_NEAR(counted, ones.mean, 8 * ones.error)
      << "(b) " << what << ": off by " << (counted - ones.mean) / ones.error << " sigma";
  const test::MeanAndError implied = test::implied_rate(filter);
  const double exact = test::exact_rate(plan, plan.capacity);
  EXPECT_NEAR(implied.mean, exact, 8 * implied.error)
      << "(c) " << what << ": off by " << (implied.mean - exact) / implied.error << " sigma";
  EXPECT_LE(exact, plan.rate) << "(c) " << what;
  EXPECT_GE(exact, plan.rate * 0.93) << "(c) " << what << ": more bits than it needs";
}

struct Sample {
  double keys;
  double tolerance;
};

Sample sample_for(double rate) {
  return rate >= 1e-4 ? Sample{6000 / rate, 0.1} : Sample{300 / rate, 0.5};
}

// (a), of `keys` look-ups of which `hits` were answered "maybe".
void check_hits(const FilterView& filter, double keys, std::uint64_t hits, double tolerance,
                const std::string& what) {
  const double implied = test::implied_rate(filter).mean;
  const double measured = static_cast<double>(hits) / keys;
  EXPECT_NEAR(measured / implied, 1, tolerance)
      << "(a) " << what << ": measured " << measured << ", the array implies " << implied;
}

// ---- random integers: all layouts and rates ----------------------------------------------------

struct Case {
  Layout layout;
  double rate;
  Hasher hasher;
};

void PrintTo(const Case& it, std::ostream* out) {
  *out << to_string(it.layout) << " " << it.rate << " seed " << it.hasher.seed().low;
}

class Statistics : public testing::TestWithParam<Case> {};

std::vector<Case> cases() {
  std::vector<Case> out;
  std::vector<std::uint64_t> seeds = {0, 0x5EED};
  for (std::uint64_t i = 0; test::nightly() && i < 8; ++i) seeds.push_back(test::mix(i));
  for (const Layout layout : test::kPlainLayouts)
    for (const double rate : kRates) {
      for (const std::uint64_t seed : seeds)
        if (rate > 2e-6 || seed == 0 || test::nightly())
          out.push_back({layout, rate, Hasher(HashFamily::xxh3, {.low = seed, .high = 0})});
      if (rate > 2e-4 || test::nightly())
        out.push_back({layout, rate, Hasher(HashFamily::siphash, {.low = 7, .high = 9})});
    }
  return out;
}

// 256 KiB or so of bits: in cache, so that the samples are cheap, and thousands of lines.
std::uint64_t capacity_for(double rate, Layout layout) {
  return static_cast<std::uint64_t>(2e6 / plan(1'000'000, rate, layout).bits_per_key());
}

TEST_P(Statistics, OfRandomKeys) {
  const Case& parameters = GetParam();
  const Plan shape =
      plan(capacity_for(parameters.rate, parameters.layout), parameters.rate, parameters.layout);
  Filter filter(shape, parameters.hasher);
  const std::string what = describe(filter, parameters.hasher);
  test::Random random(test::mix(parameters.hasher.seed().low) + shape.hashes);
  std::vector<std::uint64_t> keys(1 << 14);
  for (std::uint64_t done = 0; done < shape.capacity; done += keys.size()) {
    keys.resize(std::min<std::uint64_t>(keys.size(), shape.capacity - done));
    std::generate(keys.begin(), keys.end(), std::ref(random));
    filter.insert_many(keys);
  }
  check_array(filter, what);
  const Sample sample = sample_for(shape.rate);
  const double wanted = sample.keys * (test::nightly() ? 4 : 1);
  double looked = 0;
  std::uint64_t hits = 0;
  keys.resize(1 << 14);
  for (; looked < wanted; looked += static_cast<double>(keys.size())) {
    for (std::uint64_t& key : keys) key = random();
    hits += filter.may_contain_many(keys);
  }
  check_hits(filter, looked, hits, sample.tolerance, what);
}

INSTANTIATE_TEST_SUITE_P(All, Statistics, testing::ValuesIn(cases()), [](const auto& param) {
  const Case& it = param.param;
  const auto digits = static_cast<int>(std::lround(-std::log10(it.rate)));
  return std::string(to_string(it.layout)) + "_1e" + std::to_string(digits) +
         (it.hasher.family() == HashFamily::xxh3 ? "_xxh3_seed_" : "_siphash_seed_") +
         std::to_string(it.hasher.seed().low);
});

// ---- structured keys: they test the hash -------------------------------------------------------

class StatisticsOfFamily : public testing::TestWithParam<std::size_t> {
 protected:
  [[nodiscard]] static const test::KeyFamily& family() { return test::key_families()[GetParam()]; }

  // The first `capacity` keys of the family are inserted, the following ones are absent.
  static void check(const Hasher& hasher, std::span<const double> rates, std::uint64_t capacity) {
    const double lowest = *std::min_element(rates.begin(), rates.end());
    const auto absent = static_cast<std::uint64_t>(sample_for(lowest).keys);
    std::vector<Hash128> inserted = family().hashes(hasher, 0, capacity);
    std::vector<std::uint64_t> hits(rates.size() * std::size(test::kPlainLayouts));
    std::vector<Filter> filters;
    for (const double rate : rates)
      for (const Layout layout : test::kPlainLayouts) {
        filters.emplace_back(plan(capacity, rate, layout), hasher);
        filters.back().insert_hashes(inserted);
        check_array(filters.back(), describe(filters.back(), hasher));
      }
    // A part at a time, so that millions of keys need no memory.
    constexpr std::uint64_t kPart = 100'000;
    for (std::uint64_t done = 0; done < absent; done += kPart) {
      const std::vector<Hash128> part = family().hashes(hasher, capacity + done, kPart);
      for (std::size_t i = 0; i < filters.size(); ++i)
        if (static_cast<double>(done) < sample_for(filters[i].plan().rate).keys)
          hits[i] += filters[i].may_contain_hashes(part);
    }
    for (std::size_t i = 0; i < filters.size(); ++i)
      check_hits(filters[i], sample_for(filters[i].plan().rate).keys, hits[i],
                 sample_for(filters[i].plan().rate).tolerance, describe(filters[i], hasher));
  }
};

TEST_P(StatisticsOfFamily, WithXxh3) {
  constexpr double kBoth[] = {1e-2, 1e-3};
  std::vector<std::uint64_t> seeds = {0, 0x5EED};
  for (std::uint64_t i = 0; test::nightly() && i < 8; ++i) seeds.push_back(test::mix(i));
  for (const std::uint64_t seed : seeds)
    check(Hasher(HashFamily::xxh3, {.low = seed, .high = 0}),
          seed == 0 || family().integer != nullptr ? std::span(kBoth) : std::span(kBoth, 1),
          50'000);
}

TEST_P(StatisticsOfFamily, WithSipHash) {
  constexpr double kOne[] = {1e-2};
  check(Hasher(HashFamily::siphash, {.low = 0xFEED, .high = 0xBEEF}), kOne, 50'000);
}

INSTANTIATE_TEST_SUITE_P(Keys, StatisticsOfFamily,
                         testing::Range(std::size_t{0}, test::key_families().size()),
                         [](const auto& param) {
                           std::string name = test::key_families()[param.param].name;
                           for (char& letter : name)
                             if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
                           return name;
                         });

}  // namespace
}  // namespace bloomery
