// A filter from which items can be removed: the library's counting kernels over the server's
// memory.
//
// Takes 72 bytes beside the counters, and 16 for a key.
#pragma once

#include <bloomery/counting_view.hpp>

#include "values/value.hpp"

namespace bloomery::server {

class Counting final : public Value {
 public:
  static constexpr Kind kKind = Kind::counting;

  // `memory` holds the counters. Error{no_memory}.
  [[nodiscard]] static ValuePointer<Counting> make(const Header& header, OwnedMemory memory);

  void prefetch(Hash128 hash) const noexcept override;
  void may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                   std::uint64_t now) const noexcept override;
  [[nodiscard]] Added insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                             const MemoryLimit& limit) noexcept override;
  // Takes back one insert of each item, in order. removed[i]: the item was there, as far as can be
  // told. Returns how many were.
  std::size_t remove(std::span<const Hash128> hashes, std::span<bool> removed) noexcept;
  // Like CountingView::count_hash_at_most.
  [[nodiscard]] std::uint64_t count_at_most(Hash128 hash) const noexcept;
  void clear() noexcept override;
  [[nodiscard]] Totals totals() const noexcept override;  // items: inserts that were not removed

  // Whether both have the same counters for the same items.
  [[nodiscard]] bool has_plan_of(const Counting& other) const noexcept;
  void merge(const Counting& other) noexcept;  // after has_plan_of

 private:
  template <class T, class... Arguments>
  friend ValuePointer<T> new_value(const Header&, std::size_t, Arguments&&...);
  Counting(const Header& header, OwnedMemory memory) noexcept;

  void describe(Header& header) const override;
  [[nodiscard]] Allocation allocation(std::size_t number) const noexcept override;

  [[nodiscard]] std::span<std::byte> counters() const noexcept {
    return {aligned(memory_), counting_bytes(plan_)};
  }
  [[nodiscard]] detail::BitArray bit_array() const noexcept;
  [[nodiscard]] const detail::CountingKernel& kernel() const noexcept;

  std::uint64_t size_;
  void* memory_;
  Plan plan_;
};

}  // namespace bloomery::server
