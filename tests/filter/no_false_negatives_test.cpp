// Never a false negative: every key that was inserted is found, by every kernel, in every
// layout, for every family of keys, at any load.
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/key_families.hpp"
#include "support/layouts.hpp"

namespace bloomery::test {
namespace {

struct Size {
  std::uint64_t blocks;
  std::uint64_t keys;
};

// From one block with more keys than bits to a load of one key a block.
std::vector<Size> sizes() {
  std::vector<Size> out = {{1, 1}, {1, 1000}, {2, 40}, {3, 100}, {200, 3'000}, {1031, 1000}};
  // More of the same, and larger than the caches near a core.
  if (nightly()) out.insert(out.end(), {{1000, 15'000}, {4099, 4000}, {200'003, 400'000}});
  return out;
}

// The fewest, the most and some between; fewer of them with two blocks, and with counters.
std::vector<std::uint32_t> some_hash_counts(Layout layout) {
  const std::uint32_t step = has_two_blocks(layout) ? 2 : 1;
  std::vector<std::uint32_t> counts = {step, 7 * step, max_hashes(layout)};
  if (counter_bits(layout) == 0) counts.push_back(step == 2 ? 8 : 10);
  if (counter_bits(layout) == 0 && step == 1) counts.insert(counts.end(), {6, 13});
  return counts;
}

class NoFalseNegatives : public OfEachFamily {};

// Inserts and look-ups may run on different machines: every pair of kernels,
// single and bulk.
TEST_P(NoFalseNegatives, WhicheverKernelInsertsAndWhicheverLooksUp) {
  for (const Hasher& hasher :
       {Hasher(), Hasher(HashFamily::siphash, {.low = 0xABCD, .high = 0x1234})})
    for (const Size size : sizes()) {
      const std::vector<Hash128> hashes = family().hashes(hasher, 0, size.keys);
      for (const Layout layout : kLayouts)
        for (const std::uint32_t k : some_hash_counts(layout)) {
          const auto kernels = detail::kernels_of(layout);
          const Plan plan = plan_of(layout, size.blocks, k);
          for (const detail::Kernel* inserter : kernels)
            for (const bool bulk : {false, true}) {
              Filter filter = with_kernel(plan, *inserter, hasher);
              if (bulk)
                filter.insert_hashes(hashes);
              else
                for (const Hash128 hash : hashes) filter.insert_hash(hash);
              for (const detail::Kernel* finder : kernels) {
                filter.use_kernel(*finder);
                ASSERT_EQ(filter.may_contain_hashes(hashes), hashes.size())
                    << describe(filter) << ", inserted by " << inserter->name;
                ASSERT_TRUE(
                    std::all_of(hashes.begin(), hashes.end(),
                                [&](Hash128 hash) { return filter.may_contain_hash(hash); }))
                    << describe(filter) << ", inserted by " << inserter->name;
              }
            }
        }
    }
}

// Keys themselves, not hashes: the calls that a user writes, without a forced kernel.
TEST_P(NoFalseNegatives, ByTheKeyItself) {
  constexpr std::uint64_t kKeys = 5000;
  for (const Layout layout : kLayouts)
    for (const double fpr : {0.3, 0.01, 1e-4}) {
      Filter filter(plan(kKeys, fpr, layout));
      const auto integers = family().integers(kKeys);
      const auto texts = family().texts(kKeys);
      for (const std::uint64_t key : integers) filter.insert(key);
      for (const std::string& key : texts) filter.insert(key);
      for (const std::uint64_t key : integers) ASSERT_TRUE(filter.may_contain(key)) << key;
      for (const std::string& key : texts) ASSERT_TRUE(filter.may_contain(key)) << key;
      ASSERT_EQ(filter.may_contain_many(integers), integers.size());
      ASSERT_EQ(filter.may_contain_many(texts), texts.size());
    }
}

// The families are what they say: distinct keys, so that "absent" means absent.
TEST_P(NoFalseNegatives, KeysOfAFamilyAreDistinct) {
  constexpr std::uint64_t kKeys = 50'000;
  const auto expect_distinct = [](auto keys) {
    std::sort(keys.begin(), keys.end());
    EXPECT_EQ(std::adjacent_find(keys.begin(), keys.end()), keys.end());
    return keys.size();
  };
  EXPECT_EQ(expect_distinct(family().integers(kKeys)) + expect_distinct(family().texts(kKeys)),
            kKeys);
}

INSTANTIATE_TEST_SUITE_P(Keys, NoFalseNegatives, testing::ValuesIn(key_families()), name_of_family);

}  // namespace
}  // namespace bloomery::test
