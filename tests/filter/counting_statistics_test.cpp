// The stated rate of counting filters is the real one, also after keys were removed.
//
// A counting filter answers what its equivalent plain filter answers, so the questions of
// support/fpr_checks.hpp are asked of that filter's bits, and the counting filter answers.
#include <bloomery/counting_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "support/fpr_checks.hpp"
#include "support/layouts.hpp"

namespace bloomery::test {
namespace {

using CountingStatistics = testing::TestWithParam<FprCase>;

std::vector<FprCase> cases() {
  std::vector<FprCase> out;
  for (const Layout layout : kNarrowLayouts)
    for (const double fpr : {0.1, 1e-2, 1e-3, 1e-4, 1e-5}) {
      for (std::uint64_t seed = 0; seed < (nightly() ? 10U : 2U); ++seed)
        out.push_back(
            {layout, fpr, Hasher(HashFamily::xxh3, {.low = seed == 0 ? 0 : mix(seed), .high = 0})});
      if (fpr > 2e-4)
        out.push_back({layout, fpr, Hasher(HashFamily::siphash, {.low = 7, .high = 9})});
    }
  return out;
}

// To twice the capacity and back: what was taken back leaves the rate as if it had never been.
TEST_P(CountingStatistics, OfRandomKeysOfWhichHalfWereRemoved) {
  const FprCase& it = GetParam();
  const Layout layout = it.layout;
  // Four million counters: thousands of blocks, in or near the cache, so that samples are cheap.
  const auto capacity =
      static_cast<std::uint64_t>(4e6 / plan(1'000'000, it.fpr, layout).bits_per_key());
  CountingFilter filter(plan(capacity, it.fpr, layout), it.hasher);
  Random random(mix(it.hasher.seed().low) + counter_bits(layout));
  std::vector<std::uint64_t> stay(capacity), go(capacity);
  std::generate(stay.begin(), stay.end(), std::ref(random));
  std::generate(go.begin(), go.end(), std::ref(random));
  filter.insert_many(stay);
  filter.insert_many(go);
  ASSERT_EQ(filter.saturated_counters(), 0U);
  ASSERT_EQ(filter.remove_many(go), capacity);
  check_array(filter.to_plain(), describe_fpr(filter));
  const Sample sample = sample_for(it.fpr);
  check_random_keys(filter, sample.keys, sample.tolerance, random);
}

INSTANTIATE_TEST_SUITE_P(All, CountingStatistics, testing::ValuesIn(cases()), name_of_case);

// ---- structured keys: they test the hash, here with fewer of its bits ------------------------

class CountingStatisticsOfFamily : public OfEachFamily {
 protected:
  static void check(const Hasher& hasher, std::initializer_list<double> fprs) {
    check_family<CountingFilter>(family(), kNarrowLayouts, hasher, fprs);
  }
};

TEST_P(CountingStatisticsOfFamily, WithXxh3) {
  const bool more = family().integer != nullptr || nightly();
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0x5EED}})
    if (more)
      check(Hasher(HashFamily::xxh3, {.low = seed, .high = 0}), {1e-2, 1e-3});
    else
      check(Hasher(HashFamily::xxh3, {.low = seed, .high = 0}), {1e-2});
}

TEST_P(CountingStatisticsOfFamily, WithSipHash) {
  check(Hasher(HashFamily::siphash, {.low = 0xFEED, .high = 0xBEEF}), {1e-2});
}

INSTANTIATE_TEST_SUITE_P(Keys, CountingStatisticsOfFamily, testing::ValuesIn(key_families()),
                         name_of_family);

}  // namespace
}  // namespace bloomery::test
