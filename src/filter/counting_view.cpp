// The operations of a counting filter on borrowed cells that are not worth inlining.
#include <bloomery/counting_view.hpp>
#include <bloomery/error.hpp>

#include <algorithm>
#include <string>

#include "filter/full_line.hpp"
#include "filter/shape.hpp"
#include "filter/statistics.hpp"

namespace bloomery {

namespace {

detail::Shape checked_shape(const Plan& plan, std::span<std::byte> cells) {
  validate_counting(plan);
  if (cells.size() != counting_bytes(plan))
    throw Error(ErrorCode::mismatch, "the plan has " + std::to_string(counting_bytes(plan)) +
                                         " bytes of cells, but " + std::to_string(cells.size()) +
                                         " are given");
  if (reinterpret_cast<std::uintptr_t>(cells.data()) % 64 != 0)
    throw Error(ErrorCode::invalid_argument, "the cells are not 64-byte aligned");
  // A counting filter has a line of 64 bytes for each line of its plain twin.
  return detail::shape_of(plan, reinterpret_cast<std::uint32_t*>(cells.data()));
}

bool* answers_or_null(std::span<bool> answers) noexcept {
  return answers.empty() ? nullptr : answers.data();
}

unsigned cell_at(std::span<const std::byte> cells, std::uint64_t i, std::uint32_t width) noexcept {
  if (width == 8) return std::to_integer<unsigned>(cells[i]);
  return std::to_integer<unsigned>(cells[i / 2]) >> (4 * (i % 2)) & 15;
}

}  // namespace

void validate_counting(const Plan& plan) {
  validate(plan);
  if (cell_bits(plan.layout) == 0)
    throw Error(ErrorCode::invalid_argument,
                "layout " + std::string(to_string(plan.layout)) +
                    " cannot count; plan with line128 (cells of 4 bits) or line64 (of 8)");
}

CountingView::CountingView(const Plan& plan, const Hasher& hasher, std::span<std::byte> cells)
    : shape_(checked_shape(plan, cells)),
      kernel_(&detail::counting_kernel_for(bloomery::cell_bits(plan.layout))),
      plan_(plan),
      hasher_(hasher) {}

void CountingView::detach() noexcept {
  shape_.words = detail::full_line.data();
  shape_.lines = 0;  // every hash scales to place 0
  shape_.bits = 0;
  plan_ = {plan_.layout, 0, plan_.hashes, 0, 1};
}

std::size_t CountingView::insert_hashes(std::span<const Hash128> hashes,
                                        std::span<bool> fresh) noexcept {
  return kernel_->insert_hashes(shape_, hashes.data(), hashes.size(), answers_or_null(fresh));
}

std::size_t CountingView::remove_hashes(std::span<const Hash128> hashes,
                                        std::span<bool> removed) noexcept {
  return kernel_->remove_hashes(shape_, hashes.data(), hashes.size(), answers_or_null(removed));
}

std::size_t CountingView::may_contain_hashes(std::span<const Hash128> hashes,
                                             std::span<bool> found) const noexcept {
  return kernel_->contains_hashes(shape_, hashes.data(), hashes.size(), answers_or_null(found));
}

std::size_t CountingView::insert_integers(std::span<const std::uint64_t> keys,
                                          std::span<bool> fresh) noexcept {
  if (hasher_.family() == HashFamily::xxh3)
    return kernel_->insert_integers(shape_, hasher_.seed_multiplier(), keys.data(), keys.size(),
                                    answers_or_null(fresh));
  return detail::in_chunks(hasher_, keys, fresh,
                           [this](auto hashes, auto out) { return insert_hashes(hashes, out); });
}

std::size_t CountingView::remove_integers(std::span<const std::uint64_t> keys,
                                          std::span<bool> removed) noexcept {
  if (hasher_.family() == HashFamily::xxh3)
    return kernel_->remove_integers(shape_, hasher_.seed_multiplier(), keys.data(), keys.size(),
                                    answers_or_null(removed));
  return detail::in_chunks(hasher_, keys, removed,
                           [this](auto hashes, auto out) { return remove_hashes(hashes, out); });
}

std::size_t CountingView::may_contain_integers(std::span<const std::uint64_t> keys,
                                               std::span<bool> found) const noexcept {
  if (hasher_.family() == HashFamily::xxh3)
    return kernel_->contains_integers(shape_, hasher_.seed_multiplier(), keys.data(), keys.size(),
                                      answers_or_null(found));
  return detail::in_chunks(hasher_, keys, found, [this](auto hashes, auto out) {
    return may_contain_hashes(hashes, out);
  });
}

void CountingView::merge(const CountingView& other) {
  detail::require_same_scheme(plan_, hasher_, other.plan_, other.hasher_);
  auto* mine = reinterpret_cast<unsigned char*>(shape_.words);
  const auto* theirs = reinterpret_cast<const unsigned char*>(other.shape_.words);
  const std::uint64_t size = counting_bytes(plan_);
  // A saturated cell stays so, since no sum with it is below the greatest value.
  if (cell_bits() == 8) {
    for (std::uint64_t i = 0; i < size; ++i)
      mine[i] = static_cast<unsigned char>(std::min(mine[i] + theirs[i], 255));
    return;
  }
  for (std::uint64_t i = 0; i < size; ++i) {
    const int low = std::min((mine[i] & 15) + (theirs[i] & 15), 15);
    const int high = std::min((mine[i] >> 4) + (theirs[i] >> 4), 15);
    mine[i] = static_cast<unsigned char>(low | high << 4);
  }
}

void CountingView::clear() noexcept {
  std::fill_n(shape_.words, counting_bytes(plan_) / sizeof *shape_.words, 0U);
}

Filter CountingView::to_plain() const {
  Filter plain(plan_, hasher_);
  const auto bits = plain.mutable_bytes();
  const std::span<const std::byte> cells = bytes();
  const std::uint32_t width = cell_bits();
  for (std::uint64_t i = 0; i < bits.size(); ++i) {
    unsigned eight = 0;
    for (unsigned bit = 0; bit < 8; ++bit)
      eight |= static_cast<unsigned>(cell_at(cells, 8 * i + bit, width) != 0) << bit;
    bits[i] = static_cast<std::byte>(eight);
  }
  return plain;
}

double CountingView::fill() const noexcept {
  if (shape_.bits == 0) return 1;
  return static_cast<double>(kernel_->count_used(shape_)) / static_cast<double>(plan_.bits);
}

std::uint64_t CountingView::saturated_cells() const noexcept {
  return kernel_->count_saturated(shape_);
}

double CountingView::estimated_items() const noexcept {
  return detail::estimated_items(plan_, fill());
}

bool CountingView::overfull() const noexcept { return detail::overfull(plan_, estimated_items()); }

double CountingView::rate_now() const noexcept {
  if (shape_.bits == 0) return 1;
  const unsigned a_word = 32 / cell_bits();
  const std::span<const std::byte> cells = bytes();
  return detail::mean_line_rate(shape_, [&](std::uint64_t line, detail::WordFills& fills) {
    for (unsigned word = 0; word < 16; ++word) {
      unsigned used = 0;
      for (unsigned cell = 0; cell < a_word; ++cell)
        used += cell_at(cells, (line * 16 + word) * a_word + cell, cell_bits()) != 0;
      fills[word] = used / static_cast<double>(a_word);
    }
  });
}

}  // namespace bloomery
