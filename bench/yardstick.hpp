// The bits per key that each layout needs in theory, to compare the plans with.
//
// The loads of blocks have a Poisson distribution; a block with i keys is taken to have i*k random bits
// among its 512 positions. The best integer number of hashes is used. Independent of src/plan.
#pragma once

#include <bloomery/plan.hpp>

#include <cmath>

namespace bloomery::bench {

// The rate of one block of a filter with `keys_per_block`, each with `hashes` bits in it.
[[nodiscard]] inline double blocked_fpr(double keys_per_block, unsigned hashes) {
  double probability = std::exp(-keys_per_block);
  double fpr = 0;
  const double stays_zero = std::log1p(-1.0 / 512);
  const int most = static_cast<int>(keys_per_block + 14 * std::sqrt(keys_per_block) + 40);
  for (int load = 1; load < most; ++load) {
    probability *= keys_per_block / load;
    fpr += probability * std::pow(-std::expm1(stays_zero * hashes * load), hashes);
  }
  return fpr;
}

[[nodiscard]] inline double yardstick_fpr(Layout layout, double bits_a_key, unsigned hashes) {
  if (layout == Layout::standard) return std::pow(-std::expm1(-(hashes / bits_a_key)), hashes);
  if (layout == Layout::blocked) return blocked_fpr(512 / bits_a_key, hashes);
  const double half = blocked_fpr(1024 / bits_a_key, hashes / 2);
  return half * half;
}

[[nodiscard]] inline double yardstick_bits(Layout layout, double fpr) {
  double best = 1e300;
  const unsigned step = layout == Layout::blocked2 ? 2 : 1;
  for (unsigned hashes = step; hashes <= max_hashes(layout); hashes += step) {
    double low = 1;
    double high = 200;
    if (yardstick_fpr(layout, high, hashes) > fpr) continue;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (yardstick_fpr(layout, middle, hashes) > fpr ? low : high) = middle;
    }
    best = std::min(best, high);
  }
  return best;
}

}  // namespace bloomery::bench
