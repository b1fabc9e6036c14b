// What the bits themselves say: fill, the rate as it stands, how many keys made them.
#include "filter/statistics.hpp"

#include <bloomery/filter_view.hpp>

#include <cmath>
#include <limits>

namespace bloomery {

double detail::estimated_items(const Plan& plan, double fill) noexcept {
  if (fill >= 1) return std::numeric_limits<double>::infinity();
  // A key draws blocks independently, and k / draws distinct bits in each, so that a bit stays zero
  // through n keys with probability (1 - (k / draws) / m)^(draws n).
  const auto m = static_cast<double>(plan.bits);
  const double draws = blocks_per_key(plan);
  return std::log1p(-fill) / (draws * std::log1p(-(plan.hashes / draws) / m));
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
  return static_cast<double>(detail::count_ones(bit_array_.words, bit_array_.bits)) /
         static_cast<double>(bit_array_.bits);
}

double FilterView::current_fpr() const noexcept {
  if (bit_array_.bits == 0) return 1;
  return detail::visit_layout(plan_.layout, [this](auto layout) {
    using L = decltype(layout);
    if constexpr (L::kBlockBits == 0) {
      return std::pow(fill(), plan_.hashes);
    } else {
      const auto fills_of = [this](std::uint64_t block, detail::WordFills& fills) {
        for (unsigned word = 0; word < 16; ++word) {
          const std::uint64_t first = block * L::kBlockBits + std::uint64_t{word} * L::kWordBits;
          const std::uint32_t bits = detail::load_word(bit_array_.words + first / 32) >> first % 32;
          fills[word] = std::popcount(bits << (32 - L::kWordBits)) / double{L::kWordBits};
        }
      };
      return std::pow(detail::mean_block_fpr(bit_array_, fills_of), L::kKeyBlocks);
    }
  });
}

double FilterView::estimated_items() const noexcept {
  return detail::estimated_items(plan_, fill());
}

bool FilterView::over_capacity() const noexcept {
  return detail::over_capacity(plan_, estimated_items());
}

}  // namespace bloomery
