// The exact false-positive rate of a block, by inclusion and exclusion.
//
// Bits of a key are drawn without replacement among the words (one per word, the words by one of 64
// masks), so the formula that a plan uses is an upper bound. This is the exact value: another key
// leaves all bits of a set S of a key's bits clear with probability E[(31/32)^|S and its words|] over
// the masks (7/8 and 3/4 in narrow blocks, whose words have 8 and 4 bits); i keys with the i-th power of
// that; and P(all k bits set) = sum over S of (-1)^|S| P(S clear).
#pragma once

#include <bloomery/detail/block.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

namespace bloomery::test {

class ExactBlock {
 public:
  explicit ExactBlock(std::uint32_t k, unsigned word_bits = 32) {
    const detail::WordMasks& masks = detail::word_masks(k);
    long double avoid_by_size[17];
    for (int size = 0; size <= 16; ++size)
      avoid_by_size[size] = std::pow(1 - 1.0L / word_bits, size);
    // By symmetry under rotation the masks that start at word 0 are enough: one per stride.
    std::map<long double, long double> weight_of;
    for (unsigned stride = 0; stride < 4; ++stride) {
      const unsigned mine = masks.of[16 * stride];
      for (unsigned subset = mine;; subset = (subset - 1) & mine) {
        long double avoid = 0;
        for (const unsigned other : masks.of) avoid += avoid_by_size[std::popcount(subset & other)];
        weight_of[avoid / 64] += (std::popcount(subset) % 2 == 0 ? 0.25L : -0.25L);
        if (subset == 0) break;
      }
    }
    for (const auto& [avoid, weight] : weight_of) terms_.push_back({avoid, weight});
  }

  // The false-positive rate of a block with i keys.
  [[nodiscard]] long double fpr_at(unsigned i) const {
    long double sum = 0;
    for (const Term& term : terms_)
      sum += term.weight * std::pow(term.avoid, static_cast<long double>(i));
    return std::max(0.0L, sum);
  }

  // The mean over blocks whose load is binomial(n, 1/blocks).
  [[nodiscard]] long double fpr(long double blocks, std::uint64_t n) const {
    // E[avoid^load] = (1 - (1 - avoid) / blocks)^n, exactly.
    long double sum = 0;
    for (const Term& term : terms_)
      sum += term.weight *
             std::exp(static_cast<long double>(n) * std::log1p(-(1 - term.avoid) / blocks));
    return std::max(0.0L, sum);
  }

 private:
  struct Term {
    long double avoid, weight;
  };
  std::vector<Term> terms_;
};

}  // namespace bloomery::test
