// Statistics from the bits of a window filter, for each slice and for all slices together.
#include <bloomery/window_filter.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "filter/statistics.hpp"
#include "filter/window_ring.hpp"

namespace bloomery {

namespace {

constexpr std::uint32_t kBlockWords = kBlockBits / 32;

double share(std::uint64_t ones, std::uint64_t bits) noexcept {
  return static_cast<double>(ones) / static_cast<double>(bits);
}

}  // namespace

std::uint32_t WindowFilter::live_slices() const noexcept {
  return static_cast<std::uint32_t>(std::count_if(state_.inserted_in_slices.begin(),
                                                  state_.inserted_in_slices.end(),
                                                  [](std::uint64_t taken) { return taken != 0; }));
}

namespace {

// The slices whose bits count, in their order in the ring.
class CountedSlices {
 public:
  void add(std::uint32_t slice) noexcept { slices_[count_++] = slice; }
  [[nodiscard]] auto begin() const noexcept { return slices_.begin(); }
  [[nodiscard]] auto end() const noexcept { return slices_.begin() + count_; }

 private:
  std::array<std::uint32_t, kMaxSlices + 1> slices_;
  std::uint32_t count_ = 0;
};

std::uint64_t ones_in_slice(const detail::WindowBitArray& array, std::uint32_t slice,
                            const detail::BlockSample& sample) noexcept {
  std::uint64_t ones = 0;
  sample.for_each_run([&](std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t block = first; block < first + count; ++block)
      ones += detail::count_ones(detail::block_at(array, block, slice), kBlockBits);
  });
  return ones;
}

// The number of bits that are set in any of these slices.
std::uint64_t ones_in_any_slice(const detail::WindowBitArray& array, const CountedSlices& slices,
                                const detail::BlockSample& sample) noexcept {
  std::uint64_t ones = 0;
  sample.for_each_run([&](std::uint64_t first, std::uint64_t count) {
    for (std::uint64_t block = first; block < first + count; ++block)
      for (std::uint32_t word = 0; word < kBlockWords; ++word) {
        std::uint32_t any = 0;
        for (const std::uint32_t slice : slices) any |= detail::block_at(array, block, slice)[word];
        ones += static_cast<unsigned>(std::popcount(any));
      }
  });
  return ones;
}

double slice_fpr_now(const detail::WindowBitArray& array, const Plan& plan, std::uint32_t slice,
                     const detail::BlockSample& sample) noexcept {
  const double fpr =
      detail::mean_block_fpr(sample, *array.masks, [&](std::uint64_t block, auto& fills) {
        const std::uint32_t* words = detail::block_at(array, block, slice);
        for (unsigned word = 0; word < kBlockWords; ++word)
          fills[word] = detail::ones_of(words[word]) / 32.0;
      });
  return std::pow(fpr, detail::blocks_per_key(plan));
}

}  // namespace

Stats WindowFilter::stats(Precision precision) const noexcept {
  if (plan_.slice.bits == 0) return detail::kStatsOfNothing;
  const detail::BlockSample sample(bit_array_.blocks, precision);
  const std::uint64_t looked_at = sample.size() * kBlockBits;
  Stats all;
  all.sampled = !sample.is_all();
  double log_none = 0;  // a logarithm, because a product of (1 - rate) would lose small rates
  // The keys of each slice are estimated from its ones, the distinct keys of all slices from the bits that
  // are set in any slice. The second estimate gets worse as these bits near saturation, but the true
  // number is never above the sum of the slices' keys, and never below the largest of them.
  double sum = 0, largest = 0;
  CountedSlices slices;
  for (std::uint32_t slice = 0; slice < bit_array_.ring_slices; ++slice)
    if (!is_left_out(slice)) slices.add(slice);
  for (const std::uint32_t slice : slices) {
    const double fill = share(ones_in_slice(bit_array_, slice, sample), looked_at);
    const double items = detail::estimated_items(plan_.slice, fill);
    all.fill += fill / bit_array_.ring_slices;
    all.over_capacity |= detail::over_capacity(plan_.slice, items, sample.share());
    sum += items;
    largest = std::max(largest, items);
    log_none += std::log1p(-slice_fpr_now(bit_array_, plan_.slice, slice, sample));
  }
  if (all.sampled)
    all.fill_error = detail::fill_error(all.fill, plan_.slice.hashes,
                                        static_cast<double>(looked_at * bit_array_.ring_slices));
  all.current_fpr = 0 - std::expm1(log_none);  // never -0
  const double any = share(ones_in_any_slice(bit_array_, slices, sample), looked_at);
  all.estimated_items = std::clamp(detail::estimated_items(plan_.slice, any), largest, sum);
  return all;
}

double WindowFilter::fill() const noexcept {
  if (plan_.slice.bits == 0) return 1;
  if (left_out_ == 0)
    return share(detail::count_ones(bit_array_.words, plan_.bytes() * 8), plan_.bytes() * 8);
  const detail::BlockSample all(bit_array_.blocks, Precision::exact);
  std::uint64_t found = 0;
  for (std::uint32_t slice = 0; slice < bit_array_.ring_slices; ++slice)
    if (!is_left_out(slice)) found += ones_in_slice(bit_array_, slice, all);
  return share(found, plan_.bytes() * 8);
}

double WindowFilter::current_fpr() const noexcept { return stats(Precision::exact).current_fpr; }

double WindowFilter::estimated_items() const noexcept {
  return stats(Precision::exact).estimated_items;
}

bool WindowFilter::over_capacity() const noexcept { return stats(Precision::exact).over_capacity; }

}  // namespace bloomery
