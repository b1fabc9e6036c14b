// A filter from which items can be removed: the library's counting kernels over the server's memory.
//
// 80 bytes beyond the counters, and 16 where items are hashed with a key of the filter's own: a server has
// one for each user.
#pragma once

#include <bloomery/counting_view.hpp>

#include <optional>

#include "value.hpp"

namespace bloomery::server {

class Counting : public Value {
 public:
  // Error{invalid_argument, too_large, no_memory}. counter_bits: 4 or 8.
  [[nodiscard]] static ValuePointer<Counting> make(std::uint64_t capacity, double fpr,
                                                   std::uint32_t counter_bits,
                                                   const std::optional<Seed>& key = std::nullopt);
  // As it was stored; `memory` has its counters. Error{invalid_argument, too_large, no_memory}.
  [[nodiscard]] static ValuePointer<Counting> restore(const Plan& plan,
                                                      const std::optional<Seed>& key,
                                                      std::uint64_t size, OwnedMemory memory);

  [[nodiscard]] Hash128 hash(std::string_view item) const noexcept override {
    return detail::xxh3_bytes(item.data(), item.size(), 0);
  }
  [[nodiscard]] virtual std::optional<Seed> key() const noexcept { return std::nullopt; }
  void prefetch(Hash128 hash) const noexcept override;
  [[nodiscard]] bool may_contain(Hash128 hash, std::uint64_t) const noexcept override;
  void may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                   std::uint64_t) const noexcept override;
  [[nodiscard]] Added insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                             std::uint64_t) noexcept override;
  void clear() noexcept override;

  // Takes back one insert of each, in order. removed[i]: it was there, as far as can be told.
  // Returns how many were.
  std::size_t remove(std::span<const Hash128> hashes, std::span<bool> removed) noexcept;
  // As CountingView::count_hash_at_most.
  [[nodiscard]] std::uint64_t count_at_most(Hash128 hash) const noexcept;
  // Whether both have the same counters for the same items.
  [[nodiscard]] bool has_plan_of(const Counting& other) const noexcept;
  void merge(const Counting& other);

  // Items inserted and not removed, repeats too.
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] std::uint64_t capacity() const noexcept override { return plan_.capacity; }
  [[nodiscard]] std::uint64_t bit_bytes() const noexcept override { return array_.bytes().size(); }
  [[nodiscard]] std::uint64_t footprint() const noexcept override {
    return sizeof *this + bit_bytes();
  }
  [[nodiscard]] bool full() const noexcept override { return size_ > capacity(); }
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] std::uint32_t counter_bits() const noexcept {
    return bloomery::counter_bits(plan_.layout);
  }

  [[nodiscard]] std::vector<std::byte> header() const override;
  [[nodiscard]] std::span<std::byte> part_at(std::uint64_t offset,
                                             std::uint64_t most) const noexcept override {
    return array_.part_at(offset, most);
  }
  [[nodiscard]] AnyValue copy() const override;
  void defragment(DefragContext* context) noexcept override { array_.defragment(context); }
  [[nodiscard]] std::size_t memory() const noexcept override {
    return allocated_size(this) + array_.memory();
  }

 protected:
  friend struct ValueAccess;
  Counting(const Plan& plan, std::uint64_t size, OwnedMemory memory);

 private:
  [[nodiscard]] detail::BitArray bit_array() const noexcept;
  [[nodiscard]] const detail::CountingKernel& kernel() const noexcept;
  [[nodiscard]] CountingView view() const;

  std::uint64_t size_;
  Array array_;
  Plan plan_;
};
static_assert(sizeof(Counting) == 80);

// One whose items only who has its key can place.
class KeyedCounting final : public Counting {
 public:
  [[nodiscard]] Hash128 hash(std::string_view item) const noexcept override {
    return detail::siphash_bytes(item.data(), item.size(), key_);
  }
  [[nodiscard]] std::optional<Seed> key() const noexcept override { return key_; }
  [[nodiscard]] std::uint64_t footprint() const noexcept override {
    return Counting::footprint() + sizeof key_;
  }

 private:
  friend struct ValueAccess;
  KeyedCounting(const Plan& plan, std::uint64_t size, OwnedMemory memory, Seed key)
      : Counting(plan, size, std::move(memory)), key_(key) {}
  Seed key_;
};

}  // namespace bloomery::server
