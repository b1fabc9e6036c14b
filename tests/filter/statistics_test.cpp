// The stated rate is the real one, of every layout and every family of keys.
//
// What is asked and with which bounds: support/fpr_checks.hpp.
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "support/fpr_checks.hpp"
#include "support/layouts.hpp"

namespace bloomery::test {
namespace {

constexpr double kFprs[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6};

// ---- random integers: all layouts and rates ----------------------------------------------------

using Statistics = testing::TestWithParam<FprCase>;

std::vector<FprCase> plain_cases() {
  std::vector<FprCase> out;
  std::vector<std::uint64_t> seeds = {0, 0x5EED};
  for (std::uint64_t i = 0; nightly() && i < 8; ++i) seeds.push_back(mix(i));
  for (const Layout layout : kPlainLayouts)
    for (const double fpr : kFprs) {
      for (const std::uint64_t seed : seeds)
        if (fpr > 2e-4 || seed == 0 || nightly())
          out.push_back({layout, fpr, Hasher(HashFamily::xxh3, {.low = seed, .high = 0})});
      if (fpr > 2e-4 || nightly())
        out.push_back({layout, fpr, Hasher(HashFamily::siphash, {.low = 7, .high = 9})});
    }
  return out;
}

// 256 KiB or so of bits: in cache, so that the samples are cheap, and thousands of blocks.
std::uint64_t capacity_for(double fpr, Layout layout) {
  return static_cast<std::uint64_t>(2e6 / plan(1'000'000, fpr, layout).bits_per_key());
}

TEST_P(Statistics, OfRandomKeys) {
  const FprCase& parameters = GetParam();
  const Plan plan = bloomery::plan(capacity_for(parameters.fpr, parameters.layout), parameters.fpr,
                                   parameters.layout);
  Filter filter(plan, parameters.hasher);
  Random random(mix(parameters.hasher.seed().low) + plan.hashes);
  std::vector<std::uint64_t> keys(1 << 14);
  for (std::uint64_t done = 0; done < plan.capacity; done += keys.size()) {
    keys.resize(std::min<std::uint64_t>(keys.size(), plan.capacity - done));
    std::generate(keys.begin(), keys.end(), std::ref(random));
    filter.insert_many(keys);
  }
  check_array(filter, describe_fpr(filter));
  const Sample sample = sample_for(plan.fpr);
  check_random_keys(filter, sample.keys * (nightly() ? 4 : 1), sample.tolerance, random);
}

INSTANTIATE_TEST_SUITE_P(All, Statistics, testing::ValuesIn(plain_cases()), name_of_case);

// ---- structured keys: they test the hash -------------------------------------------------------

class StatisticsOfFamily : public OfEachFamily {
 protected:
  static void check(const Hasher& hasher, std::initializer_list<double> fprs) {
    check_family<Filter>(family(), kPlainLayouts, hasher, fprs);
  }
};

TEST_P(StatisticsOfFamily, WithXxh3) {
  std::vector<std::uint64_t> seeds = {0};
  // A seed changes the hash of an integer altogether; strings are hashed by the same code with any.
  if (family().integer != nullptr || nightly()) seeds.push_back(0x5EED);
  for (std::uint64_t i = 0; nightly() && i < 8; ++i) seeds.push_back(mix(i));
  for (const std::uint64_t seed : seeds)
    if (const Hasher hasher(HashFamily::xxh3, {.low = seed, .high = 0});
        seed == 0 || family().integer != nullptr)
      check(hasher, {1e-2, 1e-3});
    else
      check(hasher, {1e-2});
}

TEST_P(StatisticsOfFamily, WithSipHash) {
  check(Hasher(HashFamily::siphash, {.low = 0xFEED, .high = 0xBEEF}), {1e-2});
}

INSTANTIATE_TEST_SUITE_P(Keys, StatisticsOfFamily, testing::ValuesIn(key_families()),
                         name_of_family);

}  // namespace
}  // namespace bloomery::test
