// Counting filters in the server's memory.
#include "counting.hpp"

#include <algorithm>

#include "dump.hpp"
#include "kernels.hpp"
#include "plans.hpp"

namespace bloomery::server {

ValuePointer<Counting> Counting::make(std::uint64_t capacity, double fpr,
                                      std::uint32_t counter_bits, const std::optional<Seed>& key) {
  const Plan made = plan_once(capacity, fpr, counting_layout(counter_bits));
  return restore(made, key, 0, OwnedMemory(allocate_aligned(counting_bytes(made))));
}

ValuePointer<Counting> Counting::restore(const Plan& plan, const std::optional<Seed>& key,
                                         std::uint64_t size, OwnedMemory memory) {
  if (!key) return ValueAccess::make<Counting>(plan, size, std::move(memory));
  return ValuePointer<Counting>(
      ValueAccess::make<KeyedCounting>(plan, size, std::move(memory), *key).release());
}

Counting::Counting(const Plan& plan, std::uint64_t size, OwnedMemory memory)
    : Value(Kind::counting),
      size_(size),
      array_(std::move(memory), counting_bytes(plan)),
      plan_(plan) {
  validate_counting(plan);
}

detail::BitArray Counting::bit_array() const noexcept {
  return detail::bit_array_of(plan_, reinterpret_cast<std::uint32_t*>(array_.bytes().data()));
}

const detail::CountingKernel& Counting::kernel() const noexcept {
  return counting_kernel_of(counter_bits());
}

CountingView Counting::view() const { return {plan_, hasher_of(key()), array_.bytes()}; }

void Counting::prefetch(Hash128 hash) const noexcept {
  detail::prefetch_key(Layout::blocked, bit_array(), hash);
}

bool Counting::may_contain(Hash128 hash, std::uint64_t) const noexcept {
  return kernel().contains(bit_array(), hash);
}

void Counting::may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                           std::uint64_t) const noexcept {
  (void)kernel().contains_hashes(bit_array(), hashes.data(), hashes.size(), found.data());
}

Added Counting::insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                       std::uint64_t) noexcept {
  size_ += hashes.size();
  const std::size_t added =
      kernel().insert_hashes(bit_array(), hashes.data(), hashes.size(), fresh.data());
  return {hashes.size(), added, !hashes.empty(), Stop::none};
}

std::size_t Counting::remove(std::span<const Hash128> hashes, std::span<bool> removed) noexcept {
  const std::size_t count =
      kernel().remove_hashes(bit_array(), hashes.data(), hashes.size(), removed.data());
  // What was falsely removed may have been counted before it came.
  size_ -= std::min<std::uint64_t>(size_, count);
  return count;
}

std::uint64_t Counting::count_at_most(Hash128 hash) const noexcept {
  const std::uint32_t minimum = kernel().minimum(bit_array(), hash);
  return minimum == (1U << counter_bits()) - 1 ? kUncounted : minimum;
}

void Counting::clear() noexcept {
  size_ = 0;
  server::clear(array_.bytes().data(), array_.bytes().size());
}

bool Counting::has_plan_of(const Counting& other) const noexcept {
  return plan_ == other.plan_ && key() == other.key();
}

void Counting::merge(const Counting& other) {
  view().merge(other.view());
  size_ += other.size_;
}

std::vector<std::byte> Counting::header() const {
  Header header;
  header.kind = Kind::counting;
  header.size = size_;
  header.key = key();
  header.sub_filters = {sizes_of(plan_)};
  header.sub_filters[0].size = size_;
  return encode_header(header);
}

AnyValue Counting::copy() const {
  auto copied = restore(plan_, key(), size_, OwnedMemory(allocate_aligned(bit_bytes())));
  copy_used(array_.bytes(), copied->array_.bytes().data());
  return AnyValue(copied.release());
}

}  // namespace bloomery::server
