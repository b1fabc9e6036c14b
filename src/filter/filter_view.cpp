// The operations of FilterView that are not worth inlining.
#include <bloomery/error.hpp>
#include <bloomery/filter_view.hpp>

#include <algorithm>
#include <string>

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

FilterView::FilterView(const Plan& plan, const Hasher& hasher, std::span<std::byte> bits)
    : bit_array_(checked_bit_array(plan, bits)),
      kernel_(&detail::kernel_for(plan.layout)),
      stripes_(detail::stripes),
      inline_path_(detail::inline_path_of(plan.layout)),
      integers_inline_path_(hasher.family() == HashFamily::xxh3 ? inline_path_
                                                                : detail::InlinePath::none),
      plan_(plan),
      hasher_(hasher) {}

std::uint64_t FilterView::bytes_of(const Plan& plan) {
  validate(plan);
  return plan.bytes();
}

void FilterView::use_kernel(const detail::Kernel& kernel) noexcept {
  kernel_ = &kernel;
  inline_path_ = integers_inline_path_ = detail::InlinePath::none;
}

void FilterView::detach() noexcept {
  detail::detach(bit_array_);
  plan_ = {plan_.layout, 0, plan_.hashes, 0, 1};
}

void FilterView::prefetch(Hash128 hash) const noexcept {
  detail::prefetch_key(plan_.layout, bit_array_, hash);
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
