// What bits say of themselves, for the filters that have blocks.
#pragma once

#include <bloomery/detail/kernel.hpp>
#include <bloomery/plan.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace bloomery::detail {

// The share of ones in each of the sixteen words of a block.
using WordFills = std::array<double, 16>;

// The probability that a random key's bits in a block of such words are all ones: the mean over
// the 64 choices of words of the product of their fills.
[[nodiscard]] inline double block_fpr_now(const WordFills& fills, const WordMasks& masks) noexcept {
  double sum = 0;
  for (std::uint32_t words : masks.of) {
    double product = 1;
    for (; words != 0; words &= words - 1)
      product *= fills[static_cast<unsigned>(std::countr_zero(words))];
    sum += product;
  }
  return sum / 64;
}

constexpr std::uint64_t kSampledBlocks = 65'536;

// Its mean over the blocks, of which fills_of(block, fills) says the fills.
template <class FillsOf>
double mean_block_fpr(const BitArray& bit_array, FillsOf fills_of) noexcept {
  // Blocks are chosen by a hash, so evenly spread ones are a fair sample; and a damaged chunk
  // that was filled with ones is met in proportion.
  const std::uint64_t samples = std::min(bit_array.blocks, kSampledBlocks);
  double sum = 0;
  WordFills fills;
  for (std::uint64_t i = 0; i < samples; ++i) {
    fills_of(static_cast<std::uint64_t>(static_cast<uint128>(i) * bit_array.blocks / samples),
             fills);
    sum += block_fpr_now(fills, *bit_array.masks);
  }
  return sum / static_cast<double>(samples);
}

// How many distinct keys of this plan turn such a share of its bits on.
[[nodiscard]] double estimated_items(const Plan& plan, double fill) noexcept;
// Whether so many are more than the plan was made for.
[[nodiscard]] bool over_capacity(const Plan& plan, double items) noexcept;

}  // namespace bloomery::detail
