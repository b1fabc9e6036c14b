// The stated rate of counting filters is the real one, also after keys were removed.
//
// A counting filter answers what its equivalent plain filter answers, so the questions of
// support/fpr_checks.hpp are asked of that filter's bits, and the counting filter answers.
#include <bloomery/counting_filter.hpp>

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

std::string describe(const CountingView& filter) {
  return std::string(to_string(filter.plan().layout)) + ", k " +
         std::to_string(filter.plan().hashes) + ", rate " + std::to_string(filter.plan().fpr) +
         " seed " + std::to_string(filter.hasher().seed().low);
}

struct CountingCase {
  Layout layout;
  double fpr;
  Hasher hasher;
};

void PrintTo(const CountingCase& it, std::ostream* out) {
  *out << to_string(it.layout) << " at " << it.fpr << " seed " << it.hasher.seed().low;
}

class CountingStatistics : public testing::TestWithParam<CountingCase> {};

std::vector<CountingCase> cases() {
  std::vector<CountingCase> out;
  for (const Layout layout : test::kNarrowLayouts)
    for (const double fpr : {0.1, 1e-2, 1e-3, 1e-4, 1e-5}) {
      for (std::uint64_t seed = 0; seed < (test::nightly() ? 10U : 2U); ++seed)
        out.push_back(
            {layout, fpr,
             Hasher(HashFamily::xxh3, {.low = seed == 0 ? 0 : test::mix(seed), .high = 0})});
      if (fpr > 2e-4)
        out.push_back({layout, fpr, Hasher(HashFamily::siphash, {.low = 7, .high = 9})});
    }
  return out;
}

// To twice the capacity and back: what was taken back leaves the rate as if it had never been.
TEST_P(CountingStatistics, OfRandomKeysOfWhichHalfWereRemoved) {
  const CountingCase& it = GetParam();
  const Layout layout = it.layout;
  // Four million counters: thousands of blocks, in or near the cache, so that samples are cheap.
  const auto capacity =
      static_cast<std::uint64_t>(4e6 / plan(1'000'000, it.fpr, layout).bits_per_key());
  CountingFilter filter(plan(capacity, it.fpr, layout), it.hasher);
  test::Random random(test::mix(it.hasher.seed().low) + counter_bits(layout));
  std::vector<std::uint64_t> stay(capacity), go(capacity);
  std::generate(stay.begin(), stay.end(), std::ref(random));
  std::generate(go.begin(), go.end(), std::ref(random));
  filter.insert_many(stay);
  filter.insert_many(go);
  ASSERT_EQ(filter.saturated_counters(), 0U);
  ASSERT_EQ(filter.remove_many(go), capacity);
  const Filter plain = filter.to_plain();
  test::check_array(plain, describe(filter));

  const test::Sample sample = test::sample_for(it.fpr);
  std::vector<std::uint64_t> keys(1 << 14);
  double looked = 0;
  std::uint64_t hits = 0;
  for (; looked < sample.keys; looked += static_cast<double>(keys.size())) {
    std::generate(keys.begin(), keys.end(), std::ref(random));
    hits += filter.may_contain_many(keys);
  }
  test::check_hits(plain, looked, hits, sample.tolerance, describe(filter));
}

INSTANTIATE_TEST_SUITE_P(All, CountingStatistics, testing::ValuesIn(cases()),
                         [](const auto& param) {
                           const CountingCase& it = param.param;
                           const auto digits = static_cast<int>(std::lround(-std::log10(it.fpr)));
                           return std::string(to_string(it.layout)) + "_1e" +
                                  std::to_string(digits) +
                                  (it.hasher.family() == HashFamily::xxh3 ? "_xxh3_seed_"
                                                                          : "_siphash_seed_") +
                                  std::to_string(it.hasher.seed().low);
                         });

// ---- structured keys: they test the hash, here with fewer of its bits ------------------------

class CountingStatisticsOfFamily : public test::OfEachFamily {
 protected:
  static void check(const Hasher& hasher, std::initializer_list<double> fprs) {
    constexpr std::uint64_t kCapacity = 50'000, kPart = 100'000;
    const std::vector<Hash128> inserted = family().hashes(hasher, 0, kCapacity);
    std::vector<CountingFilter> filters;
    for (const double fpr : fprs)
      for (const Layout layout : test::kNarrowLayouts) {
        filters.emplace_back(plan(kCapacity, fpr, layout), hasher);
        filters.back().insert_hashes(inserted);
        test::check_array(filters.back().to_plain(), describe(filters.back()));
      }
    std::vector<std::uint64_t> hits(filters.size());
    const auto absent = static_cast<std::uint64_t>(test::sample_for(std::min(fprs)).keys);
    for (std::uint64_t done = 0; done < absent; done += kPart) {
      const std::vector<Hash128> part = family().hashes(hasher, kCapacity + done, kPart);
      for (std::size_t i = 0; i < filters.size(); ++i)
        if (static_cast<double>(done) < test::sample_for(filters[i].plan().fpr).keys)
          hits[i] += filters[i].may_contain_hashes(part);
    }
    for (std::size_t i = 0; i < filters.size(); ++i) {
      const test::Sample sample = test::sample_for(filters[i].plan().fpr);
      test::check_hits(filters[i].to_plain(), sample.keys, hits[i], sample.tolerance,
                       std::string(family().name) + ", " + describe(filters[i]));
    }
  }
};

TEST_P(CountingStatisticsOfFamily, WithXxh3) {
  const bool more = family().integer != nullptr || test::nightly();
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0x5EED}})
    if (more)
      check(Hasher(HashFamily::xxh3, {.low = seed, .high = 0}), {1e-2, 1e-3});
    else
      check(Hasher(HashFamily::xxh3, {.low = seed, .high = 0}), {1e-2});
}

TEST_P(CountingStatisticsOfFamily, WithSipHash) {
  check(Hasher(HashFamily::siphash, {.low = 0xFEED, .high = 0xBEEF}), {1e-2});
}

INSTANTIATE_TEST_SUITE_P(Keys, CountingStatisticsOfFamily, testing::ValuesIn(test::key_families()),
                         test::name_of_family);

}  // namespace
}  // namespace bloomery
