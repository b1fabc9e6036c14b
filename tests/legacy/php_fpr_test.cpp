// The false-positive rate of the in-memory PHP filter, for keys that crc32 tells apart.
#include <bloomery/php_filter.hpp>

#include <gtest/gtest.h>

#include "legacy/random_keys.hpp"

namespace bloomery::test {
namespace {

TEST(PhpFilter, HasTheFprThatTheoryPromisesForRandomKeys) {
  // 20,000 keys at 10 bits each: (1 - e^(-k n / m))^7 = 0.00819, and crc32's floor adds 5e-6.
  // The array's fill varies the rate by less than 2 %. Of 1,000,000 absent keys 8,190 are
  // expected, with a standard deviation of 91: 8 of them and 2 % are 900, so that a rate 20 %
  // high is caught.
  const Keys keys = random_keys(20'000, 16, 4);
  PhpFilter filter(PhpScheme::crc32_mt(200'000, 20'000));
  filter.insert_many(keys.views);
  std::size_t positives = 0;
  for (std::uint64_t seed = 100; seed < 110; ++seed)
    positives += filter.may_contain_many(random_keys(100'000, 16, seed).views);
  EXPECT_NEAR(static_cast<double>(positives), 8'190, 900);
  EXPECT_NEAR(filter.least_fpr(), 0.00819, 0.02 * 0.00819);
}

}  // namespace
}  // namespace bloomery::test
