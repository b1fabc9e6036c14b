// Counts stay at the largest number.
#include "base/counts.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace bloomery::detail {
namespace {

TEST(SumOfCounts, StaysAtTheLargestNumber) {
  EXPECT_EQ(sum_of_counts(2, 3), 5U);
  EXPECT_EQ(sum_of_counts(UINT64_MAX - 3, 2), UINT64_MAX - 1);
  EXPECT_EQ(sum_of_counts(UINT64_MAX - 3, 3), UINT64_MAX);
  EXPECT_EQ(sum_of_counts(UINT64_MAX - 3, 4), UINT64_MAX);
  EXPECT_EQ(sum_of_counts(UINT64_MAX, UINT64_MAX), UINT64_MAX);
}

}  // namespace
}  // namespace bloomery::detail
