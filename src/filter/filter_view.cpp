// The operations of a plain filter on borrowed bits that are not worth inlining.
#include <bloomery/error.hpp>
#include <bloomery/filter_view.hpp>

#include <algorithm>
#include <string>

#include "filter/bit_array.hpp"
#include "filter/full_block.hpp"

namespace bloomery {

namespace {

detail::BitArray checked_bit_array(const Plan& plan, std::span<std::byte> bits) {
  validate(plan);
  if (bits.size() != plan.bytes())
    throw Error(ErrorCode::mismatch, "the plan has " + std::to_string(plan.bytes()) +
                                         " bytes of bits, but " + std::to_string(bits.size()) +
                                         " are given");
  if (reinterpret_cast<std::uintptr_t>(bits.data()) % 64 != 0)
    throw Error(ErrorCode::invalid_argument, "the bits are not 64-byte aligned");
  return detail::bit_array_of(plan, reinterpret_cast<std::uint32_t*>(bits.data()));
}

}  // namespace

alignas(64) constinit std::array<std::uint32_t, kBlockBits / 32> detail::full_block = [] {
  std::array<std::uint32_t, kBlockBits / 32> block{};
  block.fill(~0U);
  return block;
}();

FilterView::FilterView(const Plan& plan, const Hasher& hasher, std::span<std::byte> bits)
    : bit_array_(checked_bit_array(plan, bits)),
      kernel_(&detail::kernel_for(plan.layout)),
      inline_path_(detail::inline_path_of(plan.layout)),
      integers_inline_path_(hasher.family() == HashFamily::xxh3 ? inline_path_
                                                                : detail::InlinePath::none),
      plan_(plan),
      hasher_(hasher) {}

void FilterView::use_kernel(const detail::Kernel& kernel) noexcept {
  kernel_ = &kernel;
  inline_path_ = integers_inline_path_ = detail::InlinePath::none;
}

void FilterView::detach() noexcept {
  bit_array_.words = detail::full_block.data();
  bit_array_.blocks = 0;  // every hash scales to place 0
  bit_array_.bits = 0;
  plan_ = {plan_.layout, 0, plan_.hashes, 0, 1};
}

void FilterView::prefetch(Hash128 hash) const noexcept {
  if (plan_.layout == Layout::standard) {
    __builtin_prefetch(bit_array_.words + detail::fast_range(hash.high, bit_array_.bits) / 32);
    return;
  }
  if (counter_bits(plan_.layout) != 0) {
    __builtin_prefetch(bit_array_.words + detail::first_narrow_bit(bit_array_, hash.high) / 32);
    return;
  }
  __builtin_prefetch(detail::block_of(bit_array_, hash.high));
  if (plan_.layout == Layout::blocked2)
    __builtin_prefetch(detail::block_of(bit_array_, detail::second_hash(hash).high));
}

std::size_t FilterView::insert_hashes(std::span<const Hash128> hashes,
                                      std::span<bool> fresh) noexcept {
  return kernel_->insert_hashes(bit_array_, hashes.data(), hashes.size(),
                                fresh.empty() ? nullptr : fresh.data());
}

std::size_t FilterView::may_contain_hashes(std::span<const Hash128> hashes,
                                           std::span<bool> found) const noexcept {
  return kernel_->contains_hashes(bit_array_, hashes.data(), hashes.size(),
                                  found.empty() ? nullptr : found.data());
}

std::size_t FilterView::insert_integers(std::span<const std::uint64_t> keys,
                                        std::span<bool> fresh) noexcept {
  bool* answers = fresh.empty() ? nullptr : fresh.data();
  if (hasher_.family() == HashFamily::xxh3)
    return kernel_->insert_integers(bit_array_, hasher_.seed_multiplier(), keys.data(), keys.size(),
                                    answers);
  return detail::in_chunks(hasher_, keys, fresh,
                           [this](auto hashes, auto out) { return insert_hashes(hashes, out); });
}

std::size_t FilterView::may_contain_integers(std::span<const std::uint64_t> keys,
                                             std::span<bool> found) const noexcept {
  bool* answers = found.empty() ? nullptr : found.data();
  if (hasher_.family() == HashFamily::xxh3)
    return kernel_->contains_integers(bit_array_, hasher_.seed_multiplier(), keys.data(),
                                      keys.size(), answers);
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
  const std::uint64_t words = bit_array_.bits / 32;
  for (std::uint64_t i = 0; i < words; ++i) bit_array_.words[i] |= other.bit_array_.words[i];
}

void FilterView::intersect(const FilterView& other) {
  require_same_scheme(*this, other);
  const std::uint64_t words = bit_array_.bits / 32;
  for (std::uint64_t i = 0; i < words; ++i) bit_array_.words[i] &= other.bit_array_.words[i];
}

void FilterView::clear() noexcept { std::fill_n(bit_array_.words, bit_array_.bits / 32, 0U); }

}  // namespace bloomery
