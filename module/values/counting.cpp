// Counting filters in the server's memory.
#include "values/counting.hpp"

#include <algorithm>

#include "base/counts.hpp"
#include "server/pages.hpp"
#include "values/kernels.hpp"

namespace bloomery::server {

ValuePointer<Counting> Counting::make(const Header& header, OwnedMemory memory) {
  return new_value<Counting>(header, 0, std::move(memory));
}

Counting::Counting(const Header& header, OwnedMemory memory) noexcept
    : Value(header),
      size_(header.size),
      memory_(memory.release()),
      plan_(plan_of(header.sub_filters[0])) {
  items_came(0, size_, counters().data(), counters().size());
}

detail::BitArray Counting::bit_array() const noexcept {
  return detail::bit_array_of(plan_, reinterpret_cast<std::uint32_t*>(counters().data()));
}

const detail::CountingKernel& Counting::kernel() const noexcept {
  return counting_kernel_of(plan_.layout);
}

// ---- items --------------------------------------------------------------------------------------

void Counting::prefetch(Hash128 hash) const noexcept {
  detail::prefetch_key(detail::counter_blocks(plan_.layout), bit_array(), hash);
}

void Counting::may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                           std::uint64_t) const noexcept {
  (void)run_batch(kernel().contains, kernel().contains_hashes, hashes, found.data(), bit_array());
}

Added Counting::insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                       const MemoryLimit&) noexcept {
  const std::size_t added =
      run_batch(kernel().insert, kernel().insert_hashes, hashes, fresh.data(), bit_array());
  const bool was_full = size_ > plan_.capacity;
  const std::uint64_t before = size_;
  size_ = detail::sum_of_counts(before, hashes.size());
  items_came(before, size_, counters().data(), counters().size());
  const auto count = static_cast<std::uint32_t>(hashes.size());
  return {.answered = count,
          .fresh = static_cast<std::uint32_t>(added),
          .counted = count,
          .filled = !was_full && size_ > plan_.capacity};
}

std::size_t Counting::remove(std::span<const Hash128> hashes, std::span<bool> removed) noexcept {
  const std::size_t count =
      run_batch(kernel().remove, kernel().remove_hashes, hashes, removed.data(), bit_array());
  // An item that only looks present may be removed before any insert.
  size_ -= std::min<std::uint64_t>(size_, count);
  return count;
}

std::uint64_t Counting::count_at_most(Hash128 hash) const noexcept {
  const std::uint32_t minimum = kernel().minimum(bit_array(), hash);
  return minimum == (1U << counter_bits(plan_.layout)) - 1 ? kUncounted : minimum;
}

// ---- the whole ----------------------------------------------------------------------------------

void Counting::clear() noexcept {
  size_ = 0;
  server::clear(counters().data(), counters().size());
}

Totals Counting::totals() const noexcept {
  return {.items = size_,
          .capacity = plan_.capacity,
          .bytes = own_bytes() + counters().size(),
          .full = size_ > plan_.capacity};
}

void Counting::describe(Header& header) const {
  header.sub_filters = {sizes_of(plan_)};
  header.sub_filters[0].size = size_;
}

Allocation Counting::allocation(std::size_t number) const noexcept {
  return number == 0 ? Allocation{&memory_, counters().size()} : Allocation{};
}

bool Counting::has_plan_of(const Counting& other) const noexcept {
  return plan_ == other.plan_ && key() == other.key();
}

void Counting::merge(const Counting& other) noexcept {
  // Both views have the default hasher: has_plan_of has already checked that the items are hashed alike.
  CountingView(plan_, Hasher(), counters()).merge({plan_, Hasher(), other.counters()});
  size_ = detail::sum_of_counts(size_, other.size_);
}

}  // namespace bloomery::server
