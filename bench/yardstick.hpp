// The bits a key that each layout needs in theory: what the plans are held against.
//
// Lines are loaded by a Poisson law; a line that holds i keys is taken to have i*k bits thrown
// at its 512 positions. The best whole number of hashes is taken. Independent of src/plan.
#pragma once

#include <bloomery/plan.hpp>

#include <cmath>

namespace bloomery::bench {

// The rate of one line of a filter with `keys_a_line`, each of them `hashes` bits in it.
[[nodiscard]] inline double line_rate(double keys_a_line, unsigned hashes) {
  double probability = std::exp(-keys_a_line);
  double rate = 0;
  const double stays_zero = std::log1p(-1.0 / 512);
  const int most = static_cast<int>(keys_a_line + 14 * std::sqrt(keys_a_line) + 40);
  for (int load = 1; load < most; ++load) {
    probability *= keys_a_line / load;
    rate += probability * std::pow(-std::expm1(stays_zero * hashes * load), hashes);
  }
  return rate;
}

[[nodiscard]] inline double yardstick_rate(Layout layout, double bits_a_key, unsigned hashes) {
  if (layout == Layout::classic) return std::pow(-std::expm1(-(hashes / bits_a_key)), hashes);
  if (layout == Layout::line) return line_rate(512 / bits_a_key, hashes);
  const double half = line_rate(1024 / bits_a_key, hashes / 2);
  return half * half;
}

[[nodiscard]] inline double yardstick_bits(Layout layout, double rate) {
  double best = 1e300;
  const unsigned step = layout == Layout::pair ? 2 : 1;
  for (unsigned hashes = step; hashes <= max_hashes(layout); hashes += step) {
    double low = 1;
    double high = 200;
    if (yardstick_rate(layout, high, hashes) > rate) continue;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (yardstick_rate(layout, middle, hashes) > rate ? low : high) = middle;
    }
    best = std::min(best, high);
  }
  return best;
}

}  // namespace bloomery::bench
