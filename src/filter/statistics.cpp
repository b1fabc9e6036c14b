// What the bits themselves say: fill, the rate as it stands, how many keys made them.
#include "filter/statistics.hpp"

#include <bloomery/filter_view.hpp>

#include <cmath>
#include <limits>

namespace bloomery {

namespace {

double block_fpr_of(const detail::BitArray& bit_array) noexcept {
  return detail::mean_block_fpr(bit_array, [&](std::uint64_t block, detail::WordFills& fills) {
    for (unsigned word = 0; word < 16; ++word)
      fills[word] = std::popcount(bit_array.words[block * (kBlockBits / 32) + word]) / 32.0;
  });
}

double narrow_block_fpr_of(const detail::BitArray& bit_array) noexcept {
  const unsigned word_bits = bit_array.block_bits / 16;
  return detail::mean_block_fpr(bit_array, [&](std::uint64_t block, detail::WordFills& fills) {
    for (unsigned word = 0; word < 16; ++word) {
      const std::uint64_t first = block * bit_array.block_bits + std::uint64_t{word} * word_bits;
      const std::uint32_t bits =
          detail::ScalarBlock::load(bit_array.words + first / 32) >> (first % 32);
      fills[word] = std::popcount(bits & ((1U << word_bits) - 1)) / static_cast<double>(word_bits);
    }
  });
}

}  // namespace

double detail::estimated_items(const Plan& plan, double fill) noexcept {
  if (fill >= 1) return std::numeric_limits<double>::infinity();
  // A bit stays zero through n keys with probability (1 - k/m)^n where a key's bits are
  // distinct (blocks), (1 - k/2m)^2n (pair), (1 - 1/m)^kn (standard).
  const auto m = static_cast<double>(plan.bits);
  const double draws = plan.layout == Layout::blocked2   ? 2
                       : plan.layout == Layout::standard ? static_cast<double>(plan.hashes)
                                                         : 1;
  const double bits_a_draw = plan.hashes / draws;
  return std::log1p(-fill) / (draws * std::log1p(-bits_a_draw / m));
}

bool detail::over_capacity(const Plan& plan, double items) noexcept {
  if (std::isinf(items)) return true;
  // The estimate's standard error is sqrt(m (e^c - c - 1)) / k at c = kn/m set bits a bit.
  const auto capacity = static_cast<double>(plan.capacity);
  const auto m = static_cast<double>(plan.bits);
  const double load = plan.hashes * capacity / m;
  const double error = std::sqrt(m * (std::exp(load) - load - 1)) / plan.hashes;
  return items > capacity + 4 * error;
}

double FilterView::fill() const noexcept {
  if (bit_array_.bits == 0) return 1;
  const detail::Kernel& kernel = *detail::kernels_of(Layout::blocked).back();
  return static_cast<double>(kernel.count_ones(bit_array_.words, bit_array_.bits)) /
         static_cast<double>(bit_array_.bits);
}

double FilterView::current_fpr() const noexcept {
  if (bit_array_.bits == 0) return 1;
  switch (plan_.layout) {
    case Layout::blocked:
      return block_fpr_of(bit_array_);
    case Layout::blocked2: {
      const double half = block_fpr_of(bit_array_);
      return half * half;
    }
    case Layout::standard:
      return std::pow(fill(), plan_.hashes);
    case Layout::blocked128:
    case Layout::blocked64:
      return narrow_block_fpr_of(bit_array_);
  }
  return 1;
}

double FilterView::estimated_items() const noexcept {
  return detail::estimated_items(plan_, fill());
}

bool FilterView::over_capacity() const noexcept {
  return detail::over_capacity(plan_, estimated_items());
}

}  // namespace bloomery
