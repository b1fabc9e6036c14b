// expl and log1pl with the digits that src/plan/shared_words.cpp asks of a long double.
//
// wasi-libc's own compute in double, though a long double has 113 bits here: the terms of the
// exact rate of a block would cancel to noise below 1e-13. These are off by less than 2^-63, about
// what the 64 bits of x86 give. Only what that file asks for is handled: finite arguments,
// exp of zero and below, log1p above -1.
#include <array>
#include <cmath>

namespace {

constexpr int kParts = 128;
constexpr long double kLog2 = 0.693147180559945309417232121458176568075500134360255L;

// exp of |r| <= log(2) / 256. From r^3 on a double has digits enough.
long double near_one(long double r) {
  const auto d = static_cast<double>(r);
  const double rest =
      d * d * d * (1.0 / 6 + d * (1.0 / 24 + d * (1.0 / 120 + d * (1.0 / 720 + d / 5040))));
  return 1 + (r + (r * r / 2 + static_cast<long double>(rest)));
}

// 2^(i/128). From 2^(1/128) = e^r with r twice as large as near_one takes, by multiplication.
const std::array<long double, kParts>& powers() {
  static const auto all = [] {
    const long double half = near_one(kLog2 / kParts / 2);
    std::array<long double, kParts> made{1};
    for (int i = 1; i < kParts; ++i) made[i] = made[i - 1] * half * half;
    return made;
  }();
  return all;
}

}  // namespace

extern "C" {

long double expl(long double x) {
  if (x < -11'000) return 0;
  const auto part = static_cast<int>(
      std::floor(static_cast<double>(x) / static_cast<double>(kLog2) * kParts + 0.5));
  const int whole = part >= 0 ? part / kParts : -((kParts - 1 - part) / kParts);
  const long double r = x - kLog2 / kParts * part;
  return scalbnl(powers()[part - whole * kParts] * near_one(r), whole);
}

long double log1pl(long double x) {
  const auto d = static_cast<double>(x);
  if (std::fabs(d) < 0x1p-10) {
    const double rest = d * d * d * (1.0 / 3 - d * (0.25 - d * (0.2 - d * (1.0 / 6 - d / 7))));
    return x - x * x / 2 + static_cast<long double>(rest);
  }
  // One step of Halley's from a double's digits triples them.
  const long double guess = std::log1p(d), power = expl(guess);
  return guess + 2 * (1 + x - power) / (1 + x + power);
}

}  // extern "C"
