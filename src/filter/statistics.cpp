// What the bits themselves say: fill, the rate as it stands, how many keys made them.
#include <bloomery/filter_view.hpp>

#include <bit>
#include <cmath>
#include <limits>

namespace bloomery {

namespace {

constexpr std::uint64_t kSampledLines = 65'536;

// The probability that a random key's bits in this line are all ones: the mean over the 64
// choices of words of the product of their fills.
double line_rate_now(const std::uint32_t* line, const detail::WordMasks& masks) noexcept {
  double fill[16];
  for (unsigned word = 0; word < 16; ++word) fill[word] = std::popcount(line[word]) / 32.0;
  double sum = 0;
  for (std::uint32_t words : masks.of) {
    double product = 1;
    for (; words != 0; words &= words - 1) product *= fill[std::countr_zero(words)];
    sum += product;
  }
  return sum / 64;
}

double mean_line_rate(const detail::Shape& shape) noexcept {
  // Lines are chosen by a hash, so evenly spread ones are a fair sample; and a damaged chunk
  // that was filled with ones is met in proportion.
  const std::uint64_t samples = std::min(shape.lines, kSampledLines);
  double sum = 0;
  for (std::uint64_t i = 0; i < samples; ++i) {
    const auto line =
        static_cast<std::uint64_t>(static_cast<detail::uint128>(i) * shape.lines / samples);
    sum += line_rate_now(shape.words + line * (kLineBits / 32), *shape.masks);
  }
  return sum / static_cast<double>(samples);
}

}  // namespace

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
      return mean_line_rate(shape_);
    case Layout::pair: {
      const double half = mean_line_rate(shape_);
      return half * half;
    }
    case Layout::classic:
      return std::pow(fill(), plan_.hashes);
  }
  return 1;
}

double FilterView::estimated_items() const noexcept {
  const double share = fill();
  if (share >= 1) return std::numeric_limits<double>::infinity();
  // A bit stays zero through n keys with probability (1 - k/m)^n where a key's bits are
  // distinct (line), (1 - k/2m)^2n (pair), (1 - 1/m)^kn (classic).
  const auto m = static_cast<double>(plan_.bits);
  const double draws = plan_.layout == Layout::line   ? 1
                       : plan_.layout == Layout::pair ? 2
                                                      : static_cast<double>(plan_.hashes);
  const double bits_a_draw = plan_.hashes / draws;
  return std::log1p(-share) / (draws * std::log1p(-bits_a_draw / m));
}

bool FilterView::overfull() const noexcept {
  const double items = estimated_items();
  if (std::isinf(items)) return true;
  // The estimate's standard error is sqrt(m (e^c - c - 1)) / k at c = kn/m set bits a bit.
  const auto capacity = static_cast<double>(plan_.capacity);
  const auto m = static_cast<double>(plan_.bits);
  const double load = plan_.hashes * capacity / m;
  const double error = std::sqrt(m * (std::exp(load) - load - 1)) / plan_.hashes;
  return items > capacity + 4 * error;
}

}  // namespace bloomery
