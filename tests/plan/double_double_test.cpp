// Numbers of two doubles against values of 60 decimal digits, from Python's decimal module.
#include "plan/double_double.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace bloomery::detail {
namespace {

void expect_near(DoubleDouble value, DoubleDouble right, double relative) {
  const DoubleDouble difference = value - right;
  EXPECT_LE(std::abs(difference.high), relative * std::abs(right.high)) << right.high;
}

TEST(DoubleDouble, KeepsTwiceTheDigits) {
  // 1/3 three times, and what a double loses.
  const DoubleDouble third = DoubleDouble{1, 0} / 3;
  expect_near(third + third + third, {1, 0}, 1e-31);
  EXPECT_EQ((DoubleDouble{1, 0} + DoubleDouble{1e-25, 0} - DoubleDouble{1, 0}).high, 1e-25);
  // (1 + 2^-30) (1 - 2^-30) = 1 - 2^-60
  const DoubleDouble product = DoubleDouble{1 + 0x1p-30, 0} * DoubleDouble{1 - 0x1p-30, 0};
  EXPECT_EQ(product.high, 1);
  EXPECT_EQ(product.low, -0x1p-60);
}

TEST(DoubleDouble, HasExponentials) {
  expect_near(exp({0, 0}), {1, 0}, 0);
  expect_near(exp({-1, 0}), {0x1.78b56362cef38p-2, -0x1.ca8a4270fadf5p-57}, 1e-28);
  expect_near(exp({-30.5, 0}), {0x1.ff3864232b407p-45, -0x1.bd3e30ae3be64p-99}, 1e-28);
  expect_near(exp({-1e-5, 0}), {0x1.fffeb07515653p-1, 0x1.a6d17a564b029p-58}, 1e-28);
  EXPECT_EQ(exp({-1e6, 0}).high, 0);
}

TEST(DoubleDouble, HasLogarithms) {
  EXPECT_EQ(log_1_minus({0, 0}).high, 0);
  expect_near(log_1_minus({1e-9, 0}), {-0x1.12e0be84bbb51p-30, 0x1.6fc755c3dd59ap-84}, 1e-28);
  expect_near(log_1_minus({0x1p-10, 0}), {-0x1.0020055655889p-10, -0x1.9abe6bf0fa436p-65}, 1e-28);
  expect_near(log_1_minus({0.0625, 0}), {-0x1.08598b59e3a07p-4, 0x1.dd7009902bf32p-58}, 1e-28);
  expect_near(log_1_minus({0.5, 0}), {-0x1.62e42fefa39efp-1, -0x1.abc9e3b39803fp-56}, 1e-28);
}

}  // namespace
}  // namespace bloomery::detail
