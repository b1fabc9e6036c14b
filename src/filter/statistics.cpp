// What the bits themselves say: fill, the rate as it stands, how many keys made them.
#include "filter/statistics.hpp"

#include <bloomery/filter_view.hpp>

#include <cmath>
#include <limits>

namespace bloomery {

namespace {

double line_rate_of(const detail::Shape& shape) noexcept {
  return detail::mean_line_rate(shape, [&](std::uint64_t line, detail::WordFills& fills) {
    for (unsigned word = 0; word < 16; ++word)
      fills[word] = std::popcount(shape.words[line * (kLineBits / 32) + word]) / 32.0;
  });
}

double narrow_line_rate_of(const detail::Shape& shape) noexcept {
  const unsigned word_bits = shape.line_bits / 16;
  return detail::mean_line_rate(shape, [&](std::uint64_t line, detail::WordFills& fills) {
    for (unsigned word = 0; word < 16; ++word) {
      const std::uint64_t first = line * shape.line_bits + std::uint64_t{word} * word_bits;
      const std::uint32_t bits = detail::ScalarLine::load(shape.words + first / 32) >> (first % 32);
      fills[word] = std::popcount(bits & ((1U << word_bits) - 1)) / static_cast<double>(word_bits);
    }
  });
}

}  // namespace

double detail::estimated_items(const Plan& plan, double fill) noexcept {
  if (fill >= 1) return std::numeric_limits<double>::infinity();
  // A bit stays zero through n keys with probability (1 - k/m)^n where a key's bits are
  // distinct (lines), (1 - k/2m)^2n (pair), (1 - 1/m)^kn (classic).
  const auto m = static_cast<double>(plan.bits);
  const double draws = plan.layout == Layout::pair      ? 2
                       : plan.layout == Layout::classic ? static_cast<double>(plan.hashes)
                                                        : 1;
  const double bits_a_draw = plan.hashes / draws;
  return std::log1p(-fill) / (draws * std::log1p(-bits_a_draw / m));
}

bool detail::overfull(const Plan& plan, double items) noexcept {
  if (std::isinf(items)) return true;
  // The estimate's standard error is sqrt(m (e^c - c - 1)) / k at c = kn/m set bits a bit.
  const auto capacity = static_cast<double>(plan.capacity);
  const auto m = static_cast<double>(plan.bits);
  const double load = plan.hashes * capacity / m;
  const double error = std::sqrt(m * (std::exp(load) - load - 1)) / plan.hashes;
  return items > capacity + 4 * error;
}

double FilterView::fill() const noexcept {
  if (shape_.bits == 0) return 1;
  const detail::Kernel& kernel = *detail::kernels_of(Layout::line).back();
  return static_cast<double>(kernel.count_ones(shape_.words, shape_.bits)) /
         static_cast<double>(shape_.bits);
}

double FilterView::rate_now() const noexcept {
  if (shape_.bits == 0) return 1;
  switch (plan_.layout) {
    case Layout::line:
      return line_rate_of(shape_);
    case Layout::pair: {
      const double half = line_rate_of(shape_);
      return half * half;
    }
    case Layout::classic:
      return std::pow(fill(), plan_.hashes);
    case Layout::line128:
    case Layout::line64:
      return narrow_line_rate_of(shape_);
  }
  return 1;
}

double FilterView::estimated_items() const noexcept {
  return detail::estimated_items(plan_, fill());
}

bool FilterView::overfull() const noexcept { return detail::overfull(plan_, estimated_items()); }

}  // namespace bloomery
