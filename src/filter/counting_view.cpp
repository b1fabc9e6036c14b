// The operations of CountingView that are not worth inlining.
#include <bloomery/counting_view.hpp>
#include <bloomery/error.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "filter/statistics.hpp"

namespace bloomery {

namespace {

detail::BitArray bit_array_over(const Plan& plan, std::span<std::byte> counters) {
  validate_counting(plan);
  if (counters.size() != counting_bytes(plan))
    throw Error(ErrorCode::mismatch, "the plan has " + std::to_string(counting_bytes(plan)) +
                                         " bytes of counters, but " +
                                         std::to_string(counters.size()) + " are given");
  if (reinterpret_cast<std::uintptr_t>(counters.data()) % 64 != 0)
    throw Error(ErrorCode::invalid_argument, "the counters are not 64-byte aligned");
  // A counting filter has a block of 64 bytes for each block of the equivalent plain filter.
  return detail::bit_array_of(plan, reinterpret_cast<std::uint32_t*>(counters.data()));
}

unsigned counter_at(std::span<const std::byte> counters, std::uint64_t i,
                    std::uint32_t width) noexcept {
  if (width == 8) return std::to_integer<unsigned>(counters[i]);
  return std::to_integer<unsigned>(counters[i / 2]) >> (4 * (i % 2)) & 15;
}

}  // namespace

void validate_counting(const Plan& plan) {
  validate(plan);
  if (counter_bits(plan.layout) == 0)
    throw Error(ErrorCode::invalid_argument,
                "layout " + std::string(to_string(plan.layout)) +
                    " cannot count; plan with counting_layout(4) or (8)");
}

CountingView::CountingView(const Plan& plan, const Hasher& hasher, std::span<std::byte> counters)
    : bit_array_(bit_array_over(plan, counters)),
      kernel_(&detail::kernel_for<detail::CountingKernel>(plan.layout)),
      plan_(plan),
      hasher_(hasher) {}

std::uint64_t CountingView::bytes_of(const Plan& plan) {
  validate_counting(plan);
  return counting_bytes(plan);
}

void CountingView::detach() noexcept {
  detail::detach(bit_array_);
  plan_ = {plan_.layout, 0, plan_.hashes, 0, 1};
}

void CountingView::merge(const CountingView& other) {
  detail::require_same_scheme(plan_, hasher_, other.plan_, other.hasher_);
  add_counters(0, other.bytes());
}

void CountingView::add_counters(std::uint64_t at, std::span<const std::byte> others) noexcept {
  auto* mine = reinterpret_cast<unsigned char*>(bit_array_.words) + at;
  const auto* theirs = reinterpret_cast<const unsigned char*>(others.data());
  const std::size_t size = others.size();
  // A saturated counter stays saturated, because no sum with it is below the largest value.
  if (counter_bits() == 8) {
    for (std::size_t i = 0; i < size; ++i)
      mine[i] = static_cast<unsigned char>(std::min(mine[i] + theirs[i], 255));
    return;
  }
  for (std::size_t i = 0; i < size; ++i) {
    const int low = std::min((mine[i] & 15) + (theirs[i] & 15), 15);
    const int high = std::min((mine[i] >> 4) + (theirs[i] >> 4), 15);
    mine[i] = static_cast<unsigned char>(low | high << 4);
  }
}

void CountingView::clear() noexcept {
  std::fill_n(bit_array_.words, counting_bytes(plan_) / sizeof *bit_array_.words, 0U);
}

Filter CountingView::to_plain() const {
  Filter plain(plan_, hasher_);
  const auto bits = plain.mutable_bytes();
  const std::span<const std::byte> counters = bytes();
  const std::uint32_t width = counter_bits();
  for (std::uint64_t i = 0; i < bits.size(); ++i) {
    unsigned eight = 0;
    for (unsigned bit = 0; bit < 8; ++bit)
      eight |= static_cast<unsigned>(counter_at(counters, 8 * i + bit, width) != 0) << bit;
    bits[i] = static_cast<std::byte>(eight);
  }
  return plain;
}

namespace {

// A run of an array's blocks, as an array.
detail::BitArray run_of(const detail::BitArray& array, std::uint64_t first,
                        std::uint64_t count) noexcept {
  detail::BitArray run = array;
  run.words += first * (kBlockBits / 32);
  run.blocks = count;
  run.bits = array.bits / array.blocks * count;
  return run;
}

double fpr_of(const Plan& plan, const detail::BitArray& array, std::span<const std::byte> counters,
              const detail::BlockSample& sample) noexcept {
  const std::uint32_t width = counter_bits(plan.layout);
  const unsigned a_word = 32 / width;
  const auto fills_of = [&](std::uint64_t block, detail::WordFills& fills) {
    for (unsigned word = 0; word < 16; ++word) {
      unsigned used = 0;
      for (unsigned counter = 0; counter < a_word; ++counter)
        used += counter_at(counters, (block * 16 + word) * a_word + counter, width) != 0;
      fills[word] = used / static_cast<double>(a_word);
    }
  };
  const double of_a_block = detail::mean_block_fpr(sample, *array.masks, fills_of);
  return std::pow(of_a_block, detail::blocks_per_key(plan));
}

}  // namespace

Stats CountingView::stats(Precision precision) const noexcept {
  if (bit_array_.bits == 0) return detail::kStatsOfNothing;
  const detail::BlockSample sample(bit_array_.blocks, precision);
  std::uint64_t used = 0;
  sample.for_each_run([&](std::uint64_t first, std::uint64_t count) {
    used += kernel_->count_used(run_of(bit_array_, first, count));
  });
  const double counters = sample.share() * static_cast<double>(plan_.bits);
  return detail::stats_from(plan_, sample, static_cast<double>(used) / counters,
                            fpr_of(plan_, bit_array_, bytes(), sample));
}

double CountingView::fill() const noexcept {
  if (bit_array_.bits == 0) return 1;
  return static_cast<double>(kernel_->count_used(bit_array_)) / static_cast<double>(plan_.bits);
}

std::uint64_t CountingView::saturated_counters(Precision precision) const noexcept {
  if (bit_array_.bits == 0) return 0;
  const detail::BlockSample sample(bit_array_.blocks, precision);
  std::uint64_t saturated = 0;
  sample.for_each_run([&](std::uint64_t first, std::uint64_t count) {
    saturated += kernel_->count_saturated(run_of(bit_array_, first, count));
  });
  return static_cast<std::uint64_t>(static_cast<double>(saturated) / sample.share());
}

double CountingView::estimated_items() const noexcept {
  return detail::estimated_items(plan_, fill());
}

bool CountingView::over_capacity() const noexcept {
  return detail::over_capacity(plan_, estimated_items());
}

double CountingView::current_fpr() const noexcept {
  if (bit_array_.bits == 0) return 1;
  return fpr_of(plan_, bit_array_, bytes(), {bit_array_.blocks, Precision::exact});
}

}  // namespace bloomery
