// What the bits of a window filter say, slot by slot and all together.
#include <bloomery/window_filter.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "filter/statistics.hpp"
#include "filter/window_ring.hpp"

namespace bloomery {

namespace {

constexpr std::uint32_t kLineWords = kLineBits / 32;

std::uint64_t ones_in(const std::uint32_t* words, std::uint64_t bits) noexcept {
  return detail::kernels_of(Layout::line).back()->count_ones(words, bits);
}

double share(std::uint64_t ones, std::uint64_t bits) noexcept {
  return static_cast<double>(ones) / static_cast<double>(bits);
}

}  // namespace

std::uint32_t WindowFilter::live_slices() const noexcept {
  return static_cast<std::uint32_t>(std::count_if(state_.in_slots.begin(), state_.in_slots.end(),
                                                  [](std::uint64_t taken) { return taken != 0; }));
}

double WindowFilter::fill() const noexcept {
  if (plan_.slice.bits == 0) return 1;
  return share(ones_in(shape_.words, plan_.bytes() * 8), plan_.bytes() * 8);
}

std::uint64_t WindowFilter::ones_in_slot(std::uint32_t slot) const noexcept {
  std::uint64_t ones = 0;
  for (std::uint64_t line = 0; line < shape_.lines; ++line)
    ones += ones_in(detail::line_at(shape_, line, slot), kLineBits);
  return ones;
}

double WindowFilter::slot_rate_now(std::uint32_t slot) const noexcept {
  const detail::Shape shape{.words = shape_.words,
                            .lines = shape_.lines,
                            .bits = plan_.slice.bits,
                            .hashes = plan_.slice.hashes,
                            .masks = shape_.masks};
  const double rate = detail::mean_line_rate(shape, [&](std::uint64_t line, auto& fills) {
    const std::uint32_t* words = detail::line_at(shape_, line, slot);
    for (unsigned word = 0; word < kLineWords; ++word)
      fills[word] = std::popcount(words[word]) / 32.0;
  });
  return plan_.slice.layout == Layout::pair ? rate * rate : rate;
}

double WindowFilter::rate_now() const noexcept {
  if (plan_.slice.bits == 0) return 1;
  // 1 - the product of (1 - rate), which would round small rates away.
  double log_none = 0;
  for (std::uint32_t slot = 0; slot < shape_.slots; ++slot)
    log_none += std::log1p(-slot_rate_now(slot));
  return -std::expm1(log_none);
}

double WindowFilter::estimated_items() const noexcept {
  if (plan_.slice.bits == 0) return std::numeric_limits<double>::infinity();
  // Each slot's keys, from its ones; the distinct ones of all, from the ones of all slots laid
  // over each other. That says less and less as it nears saturation, but the truth is never
  // above the sum of the slots, nor below the largest.
  double sum = 0, largest = 0;
  for (std::uint32_t slot = 0; slot < shape_.slots; ++slot) {
    const double items =
        detail::estimated_items(plan_.slice, share(ones_in_slot(slot), plan_.slice.bits));
    sum += items;
    largest = std::max(largest, items);
  }
  std::uint64_t ones = 0;
  for (std::uint64_t line = 0; line < shape_.lines; ++line) {
    for (std::uint32_t word = 0; word < kLineWords; ++word) {
      std::uint32_t any = 0;
      for (std::uint32_t slot = 0; slot < shape_.slots; ++slot)
        any |= detail::line_at(shape_, line, slot)[word];
      ones += static_cast<unsigned>(std::popcount(any));
    }
  }
  return std::clamp(detail::estimated_items(plan_.slice, share(ones, plan_.slice.bits)), largest,
                    sum);
}

bool WindowFilter::overfull() const noexcept {
  if (plan_.slice.bits == 0) return true;
  for (std::uint32_t slot = 0; slot < shape_.slots; ++slot)
    if (detail::overfull(
            plan_.slice,
            detail::estimated_items(plan_.slice, share(ones_in_slot(slot), plan_.slice.bits))))
      return true;
  return false;
}

}  // namespace bloomery
