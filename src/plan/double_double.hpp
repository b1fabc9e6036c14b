// Numbers of about 106 bits, each the sum of two doubles, for sums whose terms cancel each other.
//
// A long double has 64, 53 or 113 bits of fraction, depending on the CPU, and so had plans. These use addition,
// multiplication and division of doubles, whose every bit IEEE 754 states. Only log_1_minus begins with a value of
// libm, which may differ in its last bit; that is squared, to less than 1e-30.
// Dekker, A floating-point technique for extending the available precision, 1971; Hida, Li and Bailey, Algorithms for
// quad-double precision floating point arithmetic, 2001.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace bloomery::detail {

// |low| is at most half of the last bit of `high`.
struct DoubleDouble {
  double high = 0;
  double low = 0;
};

// a + b, if |a| is at least |b| or a is 0.
constexpr DoubleDouble ordered_sum(double a, double b) noexcept {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

constexpr DoubleDouble exact_sum(double a, double b) noexcept {
  const double sum = a + b, of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

// Without an instruction that multiplies and adds, which not every CPU has.
constexpr DoubleDouble exact_product(double a, double b) noexcept {
  constexpr double kSplit = 134'217'729;  // 2^27 + 1: halves of 26 bits
  const double a_split = kSplit * a, b_split = kSplit * b;
  const double a_high = a_split - (a_split - a), b_high = b_split - (b_split - b);
  const double a_low = a - a_high, b_low = b - b_high, product = a * b;
  return {product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

constexpr DoubleDouble operator-(DoubleDouble a) noexcept { return {-a.high, -a.low}; }

constexpr DoubleDouble operator+(DoubleDouble a, DoubleDouble b) noexcept {
  const DoubleDouble high = exact_sum(a.high, b.high), low = exact_sum(a.low, b.low);
  const DoubleDouble sum = ordered_sum(high.high, high.low + low.high);
  return ordered_sum(sum.high, sum.low + low.low);
}
constexpr DoubleDouble operator-(DoubleDouble a, DoubleDouble b) noexcept { return a + -b; }

constexpr DoubleDouble operator*(DoubleDouble a, DoubleDouble b) noexcept {
  const DoubleDouble high = exact_product(a.high, b.high);
  return ordered_sum(high.high, high.low + (a.high * b.low + a.low * b.high));
}

constexpr DoubleDouble operator/(DoubleDouble a, double b) noexcept {
  const double first = a.high / b;
  const DoubleDouble rest = a - exact_product(first, b);
  return ordered_sum(first, (rest.high + rest.low) / b);
}

// 1 / i!, and 1 / i.
inline constexpr auto kInverseFactorials = [] {
  std::array<DoubleDouble, 9> all{{{1, 0}}};
  for (unsigned i = 1; i < 9; ++i) all[i] = all[i - 1] / i;
  return all;
}();
inline constexpr auto kInverses = [] {
  std::array<DoubleDouble, 20> all{};
  for (unsigned i = 1; i < 20; ++i) all[i] = DoubleDouble{1, 0} / i;
  return all;
}();

// e^x; the relative error is below 1e-28.
inline DoubleDouble exp(DoubleDouble x) noexcept {
  if (x.high < -700) return {};
  constexpr DoubleDouble kLog2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  // x = twos * log 2 + 512 r, so that few terms of the series do for r.
  constexpr int kHalvings = 9;
  const double twos = std::nearbyint(x.high / kLog2.high);
  const DoubleDouble rest = x - DoubleDouble{twos, 0} * kLog2;
  constexpr double kScale = 1.0 / (1 << kHalvings);
  const DoubleDouble r{rest.high * kScale, rest.low * kScale};
  DoubleDouble power = kInverseFactorials.back();
  for (std::size_t i = kInverseFactorials.size() - 1; i-- > 0;)
    power = kInverseFactorials[i] + r * power;
  for (int i = 0; i < kHalvings; ++i) power = power * power;
  const double scale = std::ldexp(1, static_cast<int>(twos));
  return {power.high * scale, power.low * scale};
}

// log(1 - x), for 0 <= x < 1; the relative error is below 1e-28.
inline DoubleDouble log_1_minus(DoubleDouble x) noexcept {
  const DoubleDouble one{1, 0};
  if (x.high < 0x1p-6) {
    // -(x + x^2 / 2 + x^3 / 3 ...); at most 19 terms
    std::size_t terms = 2;
    for (double power = x.high; power > 1e-31; power *= x.high) ++terms;
    DoubleDouble sum;
    for (; terms > 0; --terms) sum = x * (kInverses[terms] + sum);
    return -sum;
  }
  // One step of Newton's method squares the error of the first value.
  const double first = std::log1p(-x.high);
  return DoubleDouble{first, 0} + ((one - x) * exp(DoubleDouble{-first, 0}) - one);
}

}  // namespace bloomery::detail
