// What the bits of a window filter say, slice by slice and all together.
#include <bloomery/window_filter.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

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

double WindowFilter::fill() const noexcept {
  if (plan_.slice.bits == 0) return 1;
  return share(detail::count_ones(bit_array_.words, plan_.bytes() * 8), plan_.bytes() * 8);
}

std::uint64_t WindowFilter::ones_in_slice(std::uint32_t slice) const noexcept {
  std::uint64_t ones = 0;
  for (std::uint64_t block = 0; block < bit_array_.blocks; ++block)
    ones += detail::count_ones(detail::block_at(bit_array_, block, slice), kBlockBits);
  return ones;
}

double WindowFilter::slice_fpr_now(std::uint32_t slice) const noexcept {
  const double fpr = detail::mean_block_fpr(bit_array_, [&](std::uint64_t block, auto& fills) {
    const std::uint32_t* words = detail::block_at(bit_array_, block, slice);
    for (unsigned word = 0; word < kBlockWords; ++word)
      fills[word] = std::popcount(words[word]) / 32.0;
  });
  return std::pow(fpr, detail::blocks_per_key(plan_.slice));
}

double WindowFilter::current_fpr() const noexcept {
  if (plan_.slice.bits == 0) return 1;
  // 1 - the product of (1 - rate), which would round small rates away.
  double log_none = 0;
  for (std::uint32_t slice = 0; slice < bit_array_.ring_slices; ++slice)
    log_none += std::log1p(-slice_fpr_now(slice));
  return 0 - std::expm1(log_none);  // never -0
}

double WindowFilter::estimated_items() const noexcept {
  if (plan_.slice.bits == 0) return std::numeric_limits<double>::infinity();
  // Each slice's keys, from its ones; the distinct ones of all, from the ones of all ring_slices laid
  // over each other. That says less and less as it nears saturation, but the truth is never
  // above the sum of the ring_slices, nor below the largest.
  double sum = 0, largest = 0;
  for (std::uint32_t slice = 0; slice < bit_array_.ring_slices; ++slice) {
    const double items =
        detail::estimated_items(plan_.slice, share(ones_in_slice(slice), plan_.slice.bits));
    sum += items;
    largest = std::max(largest, items);
  }
  std::uint64_t ones = 0;
  for (std::uint64_t block = 0; block < bit_array_.blocks; ++block) {
    for (std::uint32_t word = 0; word < kBlockWords; ++word) {
      std::uint32_t any = 0;
      for (std::uint32_t slice = 0; slice < bit_array_.ring_slices; ++slice)
        any |= detail::block_at(bit_array_, block, slice)[word];
      ones += static_cast<unsigned>(std::popcount(any));
    }
  }
  return std::clamp(detail::estimated_items(plan_.slice, share(ones, plan_.slice.bits)), largest,
                    sum);
}

bool WindowFilter::over_capacity() const noexcept {
  if (plan_.slice.bits == 0) return true;
  for (std::uint32_t slice = 0; slice < bit_array_.ring_slices; ++slice)
    if (detail::over_capacity(
            plan_.slice,
            detail::estimated_items(plan_.slice, share(ones_in_slice(slice), plan_.slice.bits))))
      return true;
  return false;
}

}  // namespace bloomery
