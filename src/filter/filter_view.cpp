// The operations of a plain filter on borrowed bits that are not worth inlining.
#include <bloomery/error.hpp>
#include <bloomery/filter_view.hpp>

#include <algorithm>
#include <string>

#include "filter/full_line.hpp"
#include "filter/shape.hpp"

namespace bloomery {

namespace {

detail::Shape checked_shape(const Plan& plan, std::span<std::byte> bits) {
  validate(plan);
  if (bits.size() != plan.bytes())
    throw Error(ErrorCode::mismatch, "the plan has " + std::to_string(plan.bytes()) +
                                         " bytes of bits, but " + std::to_string(bits.size()) +
                                         " are given");
  if (reinterpret_cast<std::uintptr_t>(bits.data()) % 64 != 0)
    throw Error(ErrorCode::invalid_argument, "the bits are not 64-byte aligned");
  return detail::shape_of(plan, reinterpret_cast<std::uint32_t*>(bits.data()));
}

}  // namespace

alignas(64) constinit std::array<std::uint32_t, kLineBits / 32> detail::full_line = [] {
  std::array<std::uint32_t, kLineBits / 32> line{};
  line.fill(~0U);
  return line;
}();

FilterView::FilterView(const Plan& plan, const Hasher& hasher, std::span<std::byte> bits)
    : shape_(checked_shape(plan, bits)),
      kernel_(&detail::kernel_for(plan.layout)),
      bypass_(detail::bypass_of(plan.layout)),
      integers_bypass_(hasher.family() == HashFamily::xxh3 ? bypass_ : detail::Bypass::none),
      plan_(plan),
      hasher_(hasher) {}

void FilterView::use_kernel(const detail::Kernel& kernel) noexcept {
  kernel_ = &kernel;
  bypass_ = integers_bypass_ = detail::Bypass::none;
}

void FilterView::detach() noexcept {
  shape_.words = detail::full_line.data();
  shape_.lines = 0;  // every hash scales to place 0
  shape_.bits = 0;
  plan_ = {plan_.layout, 0, plan_.hashes, 0, 1};
}

void FilterView::prefetch(Hash128 hash) const noexcept {
  if (plan_.layout == Layout::classic) {
    __builtin_prefetch(shape_.words + detail::scale(hash.high, shape_.bits) / 32);
    return;
  }
  if (cell_bits(plan_.layout) != 0) {
    __builtin_prefetch(shape_.words + detail::first_narrow_bit(shape_, hash.high) / 32);
    return;
  }
  __builtin_prefetch(detail::line_of(shape_, hash.high));
  if (plan_.layout == Layout::pair)
    __builtin_prefetch(detail::line_of(shape_, detail::second_hash(hash).high));
}

std::size_t FilterView::insert_hashes(std::span<const Hash128> hashes,
                                      std::span<bool> fresh) noexcept {
  return kernel_->insert_hashes(shape_, hashes.data(), hashes.size(),
                                fresh.empty() ? nullptr : fresh.data());
}

std::size_t FilterView::may_contain_hashes(std::span<const Hash128> hashes,
                                           std::span<bool> found) const noexcept {
  return kernel_->contains_hashes(shape_, hashes.data(), hashes.size(),
                                  found.empty() ? nullptr : found.data());
}

std::size_t FilterView::insert_integers(std::span<const std::uint64_t> keys,
                                        std::span<bool> fresh) noexcept {
  bool* answers = fresh.empty() ? nullptr : fresh.data();
  if (hasher_.family() == HashFamily::xxh3)
    return kernel_->insert_integers(shape_, hasher_.seed_multiplier(), keys.data(), keys.size(),
                                    answers);
  return detail::in_chunks(hasher_, keys, fresh,
                           [this](auto hashes, auto out) { return insert_hashes(hashes, out); });
}

std::size_t FilterView::may_contain_integers(std::span<const std::uint64_t> keys,
                                             std::span<bool> found) const noexcept {
  bool* answers = found.empty() ? nullptr : found.data();
  if (hasher_.family() == HashFamily::xxh3)
    return kernel_->contains_integers(shape_, hasher_.seed_multiplier(), keys.data(), keys.size(),
                                      answers);
  return detail::in_chunks(hasher_, keys, found, [this](auto hashes, auto out) {
    return may_contain_hashes(hashes, out);
  });
}

void FilterView::require_same_scheme(const FilterView& a, const FilterView& b) {
  detail::require_same_scheme(a.plan_, a.hasher_, b.plan_, b.hasher_);
}

void detail::require_same_scheme(const Plan& a, const Hasher& hasher_a, const Plan& b,
                                 const Hasher& hasher_b) {
  const auto refuse = [](const std::string& what, const std::string& one,
                         const std::string& other) {
    throw Error(ErrorCode::mismatch, "the filters differ in " + what + ": " + one + " and " +
                                         other + "; build both with the same plan and seed");
  };
  if (a.layout != b.layout)
    refuse("layout", std::string(to_string(a.layout)), std::string(to_string(b.layout)));
  if (a.bits != b.bits) refuse("bits", std::to_string(a.bits), std::to_string(b.bits));
  if (a.hashes != b.hashes) refuse("hashes", std::to_string(a.hashes), std::to_string(b.hashes));
  if (hasher_a.family() != hasher_b.family())
    throw Error(ErrorCode::mismatch,
                "the filters differ in hash family (xxh3 and siphash); build both with the same");
  if (hasher_a.seed() != hasher_b.seed())
    throw Error(ErrorCode::mismatch, "the filters differ in seed; build both with the same");
}

void FilterView::merge(const FilterView& other) {
  require_same_scheme(*this, other);
  const std::uint64_t words = shape_.bits / 32;
  for (std::uint64_t i = 0; i < words; ++i) shape_.words[i] |= other.shape_.words[i];
}

void FilterView::intersect(const FilterView& other) {
  require_same_scheme(*this, other);
  const std::uint64_t words = shape_.bits / 32;
  for (std::uint64_t i = 0; i < words; ++i) shape_.words[i] &= other.shape_.words[i];
}

void FilterView::clear() noexcept { std::fill_n(shape_.words, shape_.bits / 32, 0U); }

}  // namespace bloomery
