// A filter from which items can be removed: the library's counting filter in the server's memory.
#pragma once

#include <bloomery/counting_view.hpp>

#include "value.hpp"

namespace bloomery::server {

class Counting final : public Value {
 public:
  // Error{invalid_argument, too_large, no_memory}. cell_bits: 4 or 8.
  [[nodiscard]] static ValuePointer<Counting> make(std::uint64_t capacity, double rate,
                                                   std::uint32_t cell_bits,
                                                   const Hasher& hasher = Hasher());
  // As it was stored; `memory` has its cells.
  [[nodiscard]] static ValuePointer<Counting> restore(const Plan& plan, const Hasher& hasher,
                                                      std::uint64_t size, OwnedMemory memory);

  [[nodiscard]] Hash128 hash(std::string_view item) const noexcept override;
  void prefetch(Hash128 hash) const noexcept override { view_.prefetch(hash); }
  [[nodiscard]] bool may_contain(Hash128 hash, std::uint64_t) const noexcept override {
    return view_.may_contain_hash(hash);
  }
  void may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                   std::uint64_t) const noexcept override;
  [[nodiscard]] Added insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                             std::uint64_t) noexcept override;
  void clear() noexcept override;

  // Takes back one insert of each, in order. removed[i]: it was there, as far as can be told.
  // Returns how many were.
  std::size_t remove(std::span<const Hash128> hashes, std::span<bool> removed) noexcept;
  [[nodiscard]] std::uint64_t count_at_most(Hash128 hash) const noexcept {
    return view_.count_hash_at_most(hash);
  }
  // Whether both have the same cells for the same items.
  [[nodiscard]] bool has_plan_of(const Counting& other) const noexcept;
  void merge(const Counting& other);

  // Items inserted and not removed, repeats too.
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] std::uint64_t capacity() const noexcept override { return view_.capacity(); }
  [[nodiscard]] std::uint64_t bit_bytes() const noexcept override { return array_.bytes().size(); }
  [[nodiscard]] std::uint64_t footprint() const noexcept override {
    return sizeof *this + bit_bytes();
  }
  [[nodiscard]] bool full() const noexcept override { return size_ > capacity(); }
  [[nodiscard]] const Hasher& hasher() const noexcept { return view_.hasher(); }
  [[nodiscard]] const Plan& plan() const noexcept { return view_.plan(); }
  [[nodiscard]] std::uint32_t cell_bits() const noexcept { return view_.cell_bits(); }

  [[nodiscard]] std::vector<std::byte> header() const override;
  [[nodiscard]] std::span<std::byte> part_at(std::uint64_t offset,
                                             std::uint64_t most) const noexcept override {
    return array_.part_at(offset, most);
  }
  [[nodiscard]] AnyValue copy() const override;
  void defragment(DefragContext* context) noexcept override;
  [[nodiscard]] std::size_t memory() const noexcept override {
    return allocated_size(this) + array_.memory();
  }

 private:
  friend struct ValueAccess;
  Counting(const Plan& plan, const Hasher& hasher, std::uint64_t size, OwnedMemory memory);

  std::uint64_t size_;
  Array array_;
  CountingView view_;
};

}  // namespace bloomery::server
