// Derived bounds, and the rate that an array implies, computed in the simplest way.
#pragma once

#include <bloomery/filter_view.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "support/block_model.hpp"
#include "support/layouts.hpp"

namespace bloomery::test {

inline bool bit_of(std::span<const std::byte> bytes, std::uint64_t i) noexcept {
  return (std::to_integer<unsigned>(bytes[i / 8]) >> (i % 8) & 1) != 0;
}

inline std::uint64_t ones_of(std::span<const std::byte> bytes) noexcept {
  std::uint64_t ones = 0;
  for (const std::byte byte : bytes)
    ones += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(byte)));
  return ones;
}

// The bits of each of the sixteen words of a block.
inline unsigned word_bits_of(Layout layout) noexcept {
  const std::uint32_t counter = counter_bits(layout);
  return counter == 4 ? 8 : counter == 8 ? 4 : 32;
}

struct MeanAndError {
  double mean = 0;
  double error = 0;  // standard error of the mean
};

// The rate that an array implies for absent keys with random hashes, and its standard error as an
// estimate of the theoretical rate.
inline MeanAndError implied_fpr(const FilterView& filter) {
  const Plan& plan = filter.plan();
  if (plan.layout == Layout::standard) {
    const double m = static_cast<double>(plan.bits), k = plan.hashes;
    const double fill = static_cast<double>(ones_of(filter.bytes())) / m;
    if (fill <= 0 || fill >= 1) return {fill, 0};
    // The variance of the number of ones of random positions: m z (1 - z - c z) with z = e^-c.
    const double z = 1 - fill, c = -std::log(z);
    const double deviation = std::sqrt(z * (1 - z - c * z) / m);
    const double mean = std::pow(fill, k);
    return {mean, mean * k * deviation / fill};
  }
  const std::uint32_t k = has_two_blocks(plan.layout) ? plan.hashes / 2 : plan.hashes;
  const detail::WordMasks& masks = detail::word_masks(k);
  double sum = 0, squares = 0;
  const unsigned word_bits = word_bits_of(plan.layout);
  const std::uint64_t all_blocks = plan.bits / (16 * word_bits);
  const std::byte* const bytes = filter.bytes().data();
  for (std::uint64_t block = 0; block < all_blocks; ++block) {
    double fill[16];
    for (unsigned word = 0; word < 16; ++word) {
      const std::uint64_t first = (block * 16 + word) * word_bits;
      std::uint32_t bits = std::to_integer<std::uint32_t>(bytes[first / 8]) >> first % 8;
      if (word_bits == 4) bits &= 15;
      if (word_bits == 32) std::memcpy(&bits, bytes + first / 8, 4);
      fill[word] = static_cast<double>(std::popcount(bits)) / word_bits;
    }
    double fpr = 0;
    for (const unsigned mask : masks.of) {
      double product = 1;
      // Most of the time of tests of rates is spent here.
      for (unsigned rest = mask; rest != 0; rest &= rest - 1)
        product *= fill[std::countr_zero(rest)];
      fpr += product / 64;
    }
    sum += fpr;
    squares += fpr * fpr;
  }
  const double blocks = static_cast<double>(all_blocks);
  const double mean = sum / blocks;
  const double error = std::sqrt(std::max(0.0, squares / blocks - mean * mean) / blocks);
  if (!has_two_blocks(plan.layout)) return {mean, error};
  return {mean * mean, 2 * mean * error};
}

// The exact theoretical rate after `items` random keys.
inline double exact_fpr(const Plan& plan, std::uint64_t items) {
  if (plan.layout == Layout::standard) return predicted_fpr(plan, static_cast<double>(items));
  const unsigned word_bits = word_bits_of(plan.layout);
  const auto blocks = static_cast<long double>(plan.blocks()) * (32.0L / word_bits);
  if (!has_two_blocks(plan.layout))
    return static_cast<double>(ExactBlock(plan.hashes, word_bits).fpr(blocks, items));
  const auto half =
      static_cast<double>(ExactBlock(plan.hashes / 2, word_bits).fpr(blocks, 2 * items));
  return half * half;
}

// Expected ones after `items` keys, and their standard deviation. A bit stays zero with
// z = e^-c, c = kn/m; two bits are covered by one key with probability k(k-1)/m^2 whatever the
// layout, which leaves m z (1 - z - c z) for the variance in all of them.
inline MeanAndError expected_ones(const Plan& plan, std::uint64_t items) {
  const double m = static_cast<double>(plan.bits), n = static_cast<double>(items);
  const double k = plan.hashes, c = k * n / m;
  const double log_zero = has_two_blocks(plan.layout)       ? 2 * n * std::log1p(-k / 2 / m)
                          : plan.layout == Layout::standard ? k * n * std::log1p(-1 / m)
                                                            : n * std::log1p(-k / m);
  const double z = std::exp(log_zero);
  return {-m * std::expm1(log_zero), std::sqrt(m * z * (1 - z - c * z))};
}

}  // namespace bloomery::test
