// The stated rate is the real one, of every layout and every family of keys.
//
// What is asked and with which bounds: support/fpr_checks.hpp.
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "support/fpr_checks.hpp"
#include "support/key_families.hpp"
#include "support/layouts.hpp"

namespace bloomery {
namespace {

constexpr double kFprs[] = {1e-2, 1e-3, 1e-4, 1e-5, 1e-6};

std::string describe(const FilterView& filter, const Hasher& hasher) {
  return test::describe(filter) + ", rate " + std::to_string(filter.plan().fpr) + ", " +
         (hasher.family() == HashFamily::xxh3 ? "xxh3" : "siphash") + " seed " +
         std::to_string(hasher.seed().low);
}

// ---- random integers: all layouts and rates ----------------------------------------------------

struct Case {
  Layout layout;
  double fpr;
  Hasher hasher;
};

void PrintTo(const Case& it, std::ostream* out) {
  *out << to_string(it.layout) << " " << it.fpr << " seed " << it.hasher.seed().low;
}

class Statistics : public testing::TestWithParam<Case> {};

std::vector<Case> plain_cases() {
  std::vector<Case> out;
  std::vector<std::uint64_t> seeds = {0, 0x5EED};
  for (std::uint64_t i = 0; test::nightly() && i < 8; ++i) seeds.push_back(test::mix(i));
  for (const Layout layout : test::kPlainLayouts)
    for (const double fpr : kFprs) {
      for (const std::uint64_t seed : seeds)
        if (fpr > 2e-4 || seed == 0 || test::nightly())
          out.push_back({layout, fpr, Hasher(HashFamily::xxh3, {.low = seed, .high = 0})});
      if (fpr > 2e-4 || test::nightly())
        out.push_back({layout, fpr, Hasher(HashFamily::siphash, {.low = 7, .high = 9})});
    }
  return out;
}

// 256 KiB or so of bits: in cache, so that the samples are cheap, and thousands of blocks.
std::uint64_t capacity_for(double fpr, Layout layout) {
  return static_cast<std::uint64_t>(2e6 / plan(1'000'000, fpr, layout).bits_per_key());
}

TEST_P(Statistics, OfRandomKeys) {
  const Case& parameters = GetParam();
  const Plan plan = bloomery::plan(capacity_for(parameters.fpr, parameters.layout), parameters.fpr,
                                   parameters.layout);
  Filter filter(plan, parameters.hasher);
  const std::string what = describe(filter, parameters.hasher);
  test::Random random(test::mix(parameters.hasher.seed().low) + plan.hashes);
  std::vector<std::uint64_t> keys(1 << 14);
  for (std::uint64_t done = 0; done < plan.capacity; done += keys.size()) {
    keys.resize(std::min<std::uint64_t>(keys.size(), plan.capacity - done));
    std::generate(keys.begin(), keys.end(), std::ref(random));
    filter.insert_many(keys);
  }
  test::check_array(filter, what);
  const test::Sample sample = test::sample_for(plan.fpr);
  const double wanted = sample.keys * (test::nightly() ? 4 : 1);
  double looked = 0;
  std::uint64_t hits = 0;
  keys.resize(1 << 14);
  for (; looked < wanted; looked += static_cast<double>(keys.size())) {
    for (std::uint64_t& key : keys) key = random();
    hits += filter.may_contain_many(keys);
  }
  test::check_hits(filter, looked, hits, sample.tolerance, what);
}

INSTANTIATE_TEST_SUITE_P(All, Statistics, testing::ValuesIn(plain_cases()), [](const auto& param) {
  const Case& it = param.param;
  const auto digits = static_cast<int>(std::lround(-std::log10(it.fpr)));
  return std::string(to_string(it.layout)) + "_1e" + std::to_string(digits) +
         (it.hasher.family() == HashFamily::xxh3 ? "_xxh3_seed_" : "_siphash_seed_") +
         std::to_string(it.hasher.seed().low);
});

// ---- structured keys: they test the hash -------------------------------------------------------

class StatisticsOfFamily : public test::OfEachFamily {
 protected:
  // The first `capacity` keys of the family are inserted, the following ones are absent.
  static void check(const Hasher& hasher, std::span<const double> fprs, std::uint64_t capacity) {
    const double lowest = *std::min_element(fprs.begin(), fprs.end());
    const auto absent = static_cast<std::uint64_t>(test::sample_for(lowest).keys);
    std::vector<Hash128> inserted = family().hashes(hasher, 0, capacity);
    std::vector<std::uint64_t> hits(fprs.size() * std::size(test::kPlainLayouts));
    std::vector<Filter> filters;
    for (const double fpr : fprs)
      for (const Layout layout : test::kPlainLayouts) {
        filters.emplace_back(plan(capacity, fpr, layout), hasher);
        filters.back().insert_hashes(inserted);
        test::check_array(filters.back(), describe(filters.back(), hasher));
      }
    // A part at a time, so that millions of keys need no memory.
    constexpr std::uint64_t kPart = 100'000;
    for (std::uint64_t done = 0; done < absent; done += kPart) {
      const std::vector<Hash128> part = family().hashes(hasher, capacity + done, kPart);
      for (std::size_t i = 0; i < filters.size(); ++i)
        if (static_cast<double>(done) < test::sample_for(filters[i].plan().fpr).keys)
          hits[i] += filters[i].may_contain_hashes(part);
    }
    for (std::size_t i = 0; i < filters.size(); ++i)
      test::check_hits(filters[i], test::sample_for(filters[i].plan().fpr).keys, hits[i],
                       test::sample_for(filters[i].plan().fpr).tolerance,
                       describe(filters[i], hasher));
  }
};

TEST_P(StatisticsOfFamily, WithXxh3) {
  constexpr double kBoth[] = {1e-2, 1e-3};
  std::vector<std::uint64_t> seeds = {0};
  // A seed changes the hash of an integer altogether; strings are hashed by the same code with any.
  if (family().integer != nullptr || test::nightly()) seeds.push_back(0x5EED);
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

INSTANTIATE_TEST_SUITE_P(Keys, StatisticsOfFamily, testing::ValuesIn(test::key_families()),
                         test::name_of_family);

}  // namespace
}  // namespace bloomery
