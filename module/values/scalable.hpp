// A filter that grows: a table of sub-filters, all by RedisBloom's scheme or all in the library's
// layouts.
//
// Both grow by RedisBloom's rules. An item is looked up in every sub-filter, the newest first. A
// new item goes into the newest, which is full once it has taken as many new items as it has
// entries. Then a sub-filter with `growth` times the entries and a lower fpr (Tightening, half of it if
// nothing else was asked for) is added, or, if the filter does not scale, the item is refused.
//
// Besides the bits, it takes 32 bytes, 64 per sub-filter, and 16 for a key.
//
// Source: Almeida, Baquero, Preguica, Hutchison: Scalable Bloom filters (2007); RedisBloom 2.0 to
// 8.10.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "values/sub_filter.hpp"
#include "values/value.hpp"

namespace bloomery::server {

// The sub-filter that a growing filter adds after this one. Nothing: it can grow no more.
[[nodiscard]] std::optional<legacy::redisbloom::SubFilter> next_sub_filter(
    const legacy::redisbloom::SubFilter& newest, Family family, std::uint32_t options,
    std::uint32_t growth, Tightening tightening) noexcept;

class Scalable final : public Value {
 public:
  static constexpr Kind kKind = Kind::scalable;

  // Makes a filter without sub-filters, with room in its table for those of the header: append
  // each. Error{no_memory}.
  [[nodiscard]] static ValuePointer<Scalable> make(const Header& header);
  // Adds a sub-filter. `memory` holds its bits. Error{no_memory}.
  void append(const legacy::redisbloom::SubFilter& sizes, OwnedMemory memory);

  void prefetch(Hash128 hash) const noexcept override;  // prefetches in the newest sub-filter
  [[nodiscard]] const SubFilter& newest_sub_filter() const noexcept { return newest(); }
  void may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                   std::uint64_t now) const noexcept override;
  [[nodiscard]] Added insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                             const MemoryLimit& limit) noexcept override;
  void clear() noexcept override;  // only the first sub-filter is left
  [[nodiscard]] Totals totals() const noexcept override;

  // Whether items are hashed alike, and each sub-filter sets the same bits for the same items as
  // the corresponding one of the other filter, as far as both filters go.
  [[nodiscard]] bool has_sub_filters_of(const Scalable& other) const noexcept;
  // Adds empty sub-filters until there are as many as the other has. Error{no_memory}: nothing has
  // changed.
  void make_room_for(const Scalable& other);
  // Adds every item of the other filter, after has_sub_filters_of and make_room_for. An item that
  // is in both filters counts twice, since it cannot be recognized.
  void merge(const Scalable& other) noexcept;

 private:
  template <class T, class... Arguments>
  friend ValuePointer<T> new_value(const Header&, std::size_t, Arguments&&...);
  explicit Scalable(const Header& header) noexcept
      : Value(header),
        options_(static_cast<std::uint8_t>(header.options)),
        tightening_(header.tightening),
        growth_(header.growth) {}

  void describe(Header& header) const override;
  [[nodiscard]] Allocation allocation(std::size_t number) const noexcept override;

  [[nodiscard]] SubFilter* table() const noexcept { return static_cast<SubFilter*>(table_); }
  [[nodiscard]] std::span<SubFilter> sub_filters() const noexcept { return {table(), count_}; }
  [[nodiscard]] SubFilter& newest() const noexcept { return table()[count_ - 1]; }
  [[nodiscard]] std::span<std::byte> bits(const SubFilter& sub_filter) const noexcept {
    return {bits_in(family(), sub_filter.memory), sub_filter.sizes.bytes};
  }
  [[nodiscard]] bool scales() const noexcept {
    return (options_ & legacy::redisbloom::kNoScaling) == 0;
  }
  [[nodiscard]] std::uint64_t room() const noexcept {  // of the newest sub-filter
    const legacy::redisbloom::SubFilter& sizes = newest().sizes;
    return sizes.entries > sizes.size ? sizes.entries - sizes.size : 0;
  }
  [[nodiscard]] bool is_full() const noexcept { return !scales() && room() == 0; }
  // Counts so many more items in the newest sub-filter. Returns their number.
  std::uint32_t added(std::size_t fresh) noexcept;
  void insert_pending(std::span<const Hash128> hashes, std::span<bool> fresh,
                      const MemoryLimit& limit, Added& total) noexcept;
  [[nodiscard]] bool grow(const MemoryLimit& limit) noexcept;
  void reserve(std::size_t count);  // in the table
  void drop_to(std::size_t count) noexcept;

  std::uint8_t options_;
  Tightening tightening_;
  std::uint32_t growth_;
  std::uint32_t count_ = 0;
  std::uint32_t reserved_ = 0;
  void* table_ = nullptr;  // of sub-filters
};

}  // namespace bloomery::server
