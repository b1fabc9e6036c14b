// Computes statistics from the bits: the fill, the current false-positive rate, the number of keys.
#include "filter/statistics.hpp"

#include <bloomery/filter_view.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace bloomery {

double detail::estimated_items(const Plan& plan, double fill) noexcept {
  if (fill >= 1) return std::numeric_limits<double>::infinity();
  // A key draws blocks independently, and k / draws distinct bits in each. So with n keys a bit stays
  // zero with probability (1 - (k / draws) / m)^(draws n).
  const auto m = static_cast<double>(plan.bits);
  const double draws = blocks_per_key(plan);
  return std::log1p(-fill) / (draws * std::log1p(-(plan.hashes / draws) / m));
}

bool detail::over_capacity(const Plan& plan, double items, double share) noexcept {
  if (std::isinf(items)) return true;
  // The standard error of the estimate is sqrt(m (e^c - c - 1)) / k, with c = kn/m. From a share s of the
  // blocks, it is that of a filter of only these blocks, whose number of keys is n s with a standard
  // deviation of sqrt(n s (1 - s)).
  const auto capacity = static_cast<double>(plan.capacity);
  const auto m = static_cast<double>(plan.bits);
  const double load = plan.hashes * capacity / m;
  const double of_bits = m * (std::exp(load) - load - 1) / plan.hashes / plan.hashes;
  const double error = std::sqrt((of_bits + capacity * (1 - share)) / share);
  return items > capacity + 4 * error;
}

bool detail::sub_filter_over_capacity(const Plan& plan, double items, double share) noexcept {
  if (std::isinf(items) || !over_capacity(plan, items, share)) return std::isinf(items);
  // The share of the keys that looked new is the mean of 1 - fpr while they came, by Simpson's rule.
  constexpr int kParts = 32;
  double seen = 0;
  for (int i = 1; i <= kParts; ++i)
    seen += (i == kParts ? 1 : i % 2 == 0 ? 2 : 4) * predicted_fpr(plan, items * i / kParts);
  return over_capacity(plan, items * (1 - seen / (3 * kParts)), share);
}

// All sub-filters use one hash. So a key that shares a bit with an absent key in this sub-filter shares it in an older
// one too, if the bit is among the first of both keys, as many as the older one has hashes. If the older one has the
// absent key, that bit is set there, and the other bits alone decide whether the key looked new and came here. Its
// chance to come, as a share of the chance of any key, is how much rarer the absent key's bits are here.
void detail::FprOfSubFilters::add(std::uint32_t hashes, double fpr) noexcept {
  // (At a rate of nearly 1 the load is infinite.)
  if (any_ < 1 && fpr < 1 - 1e-12 && fpr > 0 && sum_ > 0) {
    const double k = hashes, set = std::pow(fpr, 1 / k), load = -std::log1p(-set);
    double of_theirs = 0;  // the rate for keys that an older one has, as a share of fpr
    for (std::size_t i = 0; i < count_; ++i) {
      const auto [their_hashes, their_fpr] = older_[i];
      const double common = std::min(1.0, their_hashes / k);
      const double others_new =
          none_ / (1 - their_fpr) * (1 - std::pow(their_fpr, 1 - 1.0 / their_hashes));
      const double rarer = std::min(1.0, 1 - common + common * others_new / (1 - any_));
      of_theirs += their_fpr * std::pow(-std::expm1(-load * rarer) / set, k * common);
    }
    any_ += fpr * (1 - any_ * of_theirs / sum_);
  } else {
    any_ += fpr;
  }
  any_ = std::min(any_, 1.0);
  none_ *= 1 - fpr;
  sum_ += fpr;
  older_[count_++] = {hashes, fpr};
}

// The fill of s bits, if keys of k bits each leave a share q of them zero. Its variance is that of setting
// bits one by one, q (1 - q) / s, plus k - 1 times the part that the number of keys adds, q^2 ln(1/q) / s.
double detail::fill_error(double fill, std::uint32_t hashes, double bits) noexcept {
  const double zeros = 1 - fill;
  if (zeros <= 0) return 0;
  return std::sqrt((zeros * fill - zeros * zeros * std::log(zeros) * (hashes - 1)) / bits);
}

Stats detail::stats_from(const Plan& plan, const BlockSample& sample, double fill,
                         double current_fpr) noexcept {
  const double items = estimated_items(plan, fill);
  const double looked_at = sample.share() * static_cast<double>(plan.bits);
  return {.fill = fill,
          .fill_error = sample.is_all() ? 0 : fill_error(fill, plan.hashes, looked_at),
          .sampled = !sample.is_all(),
          .estimated_items = items,
          .current_fpr = current_fpr,
          .over_capacity = over_capacity(plan, items, sample.share())};
}

Stats detail::stats_from(const Plan& plan, const Share& share) noexcept {
  const double items = estimated_items(plan, share.ones);
  const double fpr = std::isinf(items) ? 1 : predicted_fpr(plan, items);
  // Less four standard errors of the sample, so that a filter at its capacity is not over it.
  const double least = estimated_items(plan, std::max(0.0, share.ones - 4 * share.error));
  return {share.ones, share.error, share.sampled, items, fpr, over_capacity(plan, least)};
}

namespace {

// The bits of a block; the array of `standard` is treated as blocks of 512.
std::uint64_t block_bits(Layout layout) noexcept {
  return detail::visit_layout(layout, [](auto of) {
    return decltype(of)::kBlockBits == 0 ? std::uint64_t{512}
                                         : std::uint64_t{decltype(of)::kBlockBits};
  });
}

}  // namespace

detail::BlockSample detail::sample_of(const Plan& plan, Precision precision) noexcept {
  return {plan.bits / block_bits(plan.layout), precision};
}

namespace {

double fill_of(const detail::BitArray& array, std::uint64_t unit,
               const detail::BlockSample& sample) noexcept {
  std::uint64_t ones = 0;
  sample.for_each_run([&](std::uint64_t first, std::uint64_t count) {
    ones += detail::count_ones(array.words + first * unit / 32, count * unit);
  });
  return static_cast<double>(ones) / static_cast<double>(sample.size() * unit);
}

double fpr_of(const Plan& plan, const detail::BitArray& array, const detail::BlockSample& sample,
              double fill) noexcept {
  return detail::visit_layout(plan.layout, [&](auto layout) {
    using L = decltype(layout);
    if constexpr (L::kBlockBits == 0) {
      return std::pow(fill, plan.hashes);
    } else {
      const auto fills_of = [&](std::uint64_t block, detail::WordFills& fills) {
        for (unsigned word = 0; word < 16; ++word) {
          const std::uint64_t first = block * L::kBlockBits + std::uint64_t{word} * L::kWordBits;
          const std::uint32_t bits = detail::load_word(array.words + first / 32) >> first % 32;
          fills[word] = detail::ones_of(bits << (32 - L::kWordBits)) / double{L::kWordBits};
        }
      };
      return std::pow(detail::mean_block_fpr(sample, *array.masks, fills_of), L::kKeyBlocks);
    }
  });
}

}  // namespace

Stats FilterView::stats(Precision precision) const noexcept {
  if (bit_array_.bits == 0) return detail::kStatsOfNothing;
  const detail::BlockSample sample = detail::sample_of(plan_, precision);
  const double fill = fill_of(bit_array_, block_bits(plan_.layout), sample);
  return detail::stats_from(plan_, sample, fill, fpr_of(plan_, bit_array_, sample, fill));
}

double FilterView::fill() const noexcept {
  if (bit_array_.bits == 0) return 1;
  return fill_of(bit_array_, bit_array_.bits, {1, Precision::exact});
}

double FilterView::current_fpr() const noexcept {
  if (bit_array_.bits == 0) return 1;
  const detail::BlockSample all(bit_array_.bits / block_bits(plan_.layout), Precision::exact);
  return fpr_of(plan_, bit_array_, all, detail::has_blocks(plan_.layout) ? 0 : fill());
}

double FilterView::estimated_items() const noexcept {
  return detail::estimated_items(plan_, fill());
}

bool FilterView::over_capacity() const noexcept {
  return detail::over_capacity(plan_, estimated_items());
}

}  // namespace bloomery
