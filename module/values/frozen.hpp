// A frozen filter: a set that was built elsewhere, from all of its items, and came here in chunks.
//
// It takes no items. While it is being loaded, look-ups answer "maybe", and chunks come in order: a gap of zeros
// would hide items. When the last chunk has come, the table is checked; if it is wrong, the filter remains one
// that is being loaded. The server's count of memory does not include what the library's filter has besides the
// bits, at most 48 bytes for each of 4,096 partitions.
#pragma once

#include <bloomery/frozen_filter.hpp>

#include <optional>

#include "values/value.hpp"

namespace bloomery::server {

class Frozen final : public Value {
 public:
  static constexpr Kind kKind = Kind::frozen;

  // `memory` holds the table and the cells. Error{no_memory}; {corrupt}: they do not fit the header, and the filter
  // is not being loaded.
  [[nodiscard]] static ValuePointer<Frozen> make(const Header& header, OwnedMemory memory);

  void prefetch(Hash128 hash) const noexcept override;
  void may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                   std::uint64_t now) const noexcept override;
  // Does nothing: the commands refuse such calls before.
  [[nodiscard]] Added insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                             const MemoryLimit& limit) noexcept override;
  void clear() noexcept override {}
  [[nodiscard]] Totals totals() const noexcept override;
  void check_loaded() override;
  [[nodiscard]] bool takes_chunk_at(std::uint64_t begin) const noexcept override {
    return begin <= come_;
  }
  [[nodiscard]] bool has_come(std::uint64_t end) noexcept override;
  [[nodiscard]] std::uint64_t bytes_that_came() const noexcept override {
    return is_loading() ? come_ : plan_.bytes();
  }

 private:
  template <class T, class... Arguments>
  friend ValuePointer<T> new_value(const Header&, std::size_t, Arguments&&...);
  Frozen(const Header& header, OwnedMemory memory) noexcept;

  void describe(Header& header) const override;
  [[nodiscard]] Allocation allocation(std::size_t number) const noexcept override;
  void has_moved() noexcept override;

  [[nodiscard]] std::span<std::byte> bits() const noexcept {
    return {aligned(memory_), plan_.bytes()};
  }

  void* memory_;
  std::uint64_t keys_;
  std::uint64_t come_;  // the first bytes of the bits that have come
  FrozenPlan plan_;
  std::optional<FrozenFilter> filter_;  // over the bits, once all of them are there
};

}  // namespace bloomery::server
