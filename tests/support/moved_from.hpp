// What a filter that was moved from answers, of every kind: it knows nothing, and touches no bits.
#pragma once

#include <bloomery/hash.hpp>
#include <bloomery/stats.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace bloomery::test {

template <class Filter>
void expect_knows_nothing(Filter& filter) {
  const std::vector<std::uint64_t> keys{1, 2, 3, ~std::uint64_t{0}};
  const std::vector<Hash128> hashes(100, Hash128{~std::uint64_t{0}, 7});
  std::array<bool, 100> answers{};
  const auto expect_maybe = [&] {
    EXPECT_TRUE(filter.may_contain("first"));
    EXPECT_TRUE(filter.may_contain(1));
    EXPECT_TRUE(filter.may_contain_hash(hashes[0]));
    EXPECT_EQ(filter.may_contain_many(keys), keys.size());
    EXPECT_EQ(filter.may_contain_hashes(hashes, answers), hashes.size());
    EXPECT_EQ(std::ranges::count(answers, true), 100);
  };
  expect_maybe();
  EXPECT_FALSE(filter.insert("new"));
  EXPECT_FALSE(filter.insert(2));
  EXPECT_EQ(filter.insert_many(keys), 0U);
  EXPECT_EQ(filter.insert_hashes(hashes, answers), 0U);
  EXPECT_EQ(std::ranges::count(answers, true), 0);
  filter.clear();
  expect_maybe();
  EXPECT_EQ(filter.fill(), 1);
  EXPECT_EQ(filter.current_fpr(), 1);
  EXPECT_TRUE(std::isinf(filter.estimated_items()));
  EXPECT_TRUE(filter.over_capacity());
  const Stats stats = filter.stats();
  EXPECT_TRUE(stats.fill == 1 && stats.current_fpr == 1 && stats.over_capacity);
}

}  // namespace bloomery::test
