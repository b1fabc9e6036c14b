// A filter that grows: a list of sub-filters, in the server's memory, of RedisBloom's scheme or ours.
//
// The rules are RedisBloom's for both. An item is looked for in every sub-filter. A new one goes into
// the newest, which is full when it took as many new items as it has entries; then a sub-filter of
// `growth` times the entries and half the error rate is added, or, without scaling, the item
// refused. The first sub-filter of a chain that scales has half the rate asked for, so that the rates
// of all sub-filters add up to no more than that.
//
// 32 bytes and 64 a sub-filter beyond the bits, and 16 where items are hashed with a key of the filter's own.
// The server may free a chain in a background thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "sub_filter.hpp"
#include "value.hpp"

namespace bloomery::server {

class Chain : public Value {
 public:
  struct Request {
    Family family = Family::bloomery;
    double fpr = 0;
    std::uint64_t capacity = 0;
    std::uint32_t growth = 2;
    bool scaling = true;
    bool keyed = false;  // of our family: with a key of its own, from the system's random source
  };
  // Error{invalid_argument, too_large, no_memory}.
  [[nodiscard]] static ValuePointer<Chain> make(const Request& request);
  // An empty chain of these sub-filters, for a loader to fill. Error{no_memory}.
  [[nodiscard]] static ValuePointer<Chain> empty(Family family, std::uint32_t options,
                                                 std::uint32_t growth,
                                                 const std::optional<Seed>& key = std::nullopt);
  ~Chain() override;
  [[nodiscard]] AnyValue copy() const override;

  [[nodiscard]] Hash128 hash(std::string_view item) const noexcept override {
    return hash_item(item, family_, options_);
  }
  [[nodiscard]] virtual std::optional<Seed> key() const noexcept { return std::nullopt; }
  [[nodiscard]] bool may_contain(Hash128 hash, std::uint64_t = 0) const noexcept override;
  void may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                   std::uint64_t = 0) const noexcept override;
  [[nodiscard]] Added insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                             std::uint64_t most_bytes = UINT64_MAX) noexcept override;
  // One, where the newest sub-filter has room: whether it was new. Nothing: there is no room, and nothing
  // has changed.
  [[nodiscard]] std::optional<bool> insert_into_newest(Hash128 hash) noexcept;
  // Asks the memory for a hash's bits in the newest sub-filter.
  void prefetch(Hash128 hash) const noexcept override {
    server::prefetch(sub_filters_[count_ - 1], family_, hash);
  }
  // The capacity of the sub-filter that this many new items would add; 0: none.
  [[nodiscard]] std::uint64_t next_capacity(std::uint64_t items) const noexcept;

  void clear() noexcept override;  // the first sub-filter alone is left

  // Whether items are hashed alike, and a sub-filter here has the same bits for the same items as the one in its place there.
  [[nodiscard]] bool has_sub_filters_of(const Chain& other) const noexcept;
  // As many sub-filters as the other has, new ones empty. Error{no_memory}: what is there stays whole.
  void make_room_for(const Chain& other);
  // Adds every item of the other, which has_sub_filters_of and make_room_for have been asked about. An
  // item that both have counts twice: more cannot be known.
  void merge(const Chain& other) noexcept;

  [[nodiscard]] Family family() const noexcept { return family_; }
  [[nodiscard]] std::uint32_t options() const noexcept { return options_; }
  [[nodiscard]] bool scaling() const noexcept {
    return (options_ & legacy::redisbloom::kNoScaling) == 0;
  }
  [[nodiscard]] std::uint32_t growth() const noexcept { return growth_; }
  [[nodiscard]] std::uint64_t size() const noexcept override;
  [[nodiscard]] std::uint64_t capacity() const noexcept override;
  [[nodiscard]] std::uint64_t bit_bytes() const noexcept override;
  [[nodiscard]] std::uint64_t footprint() const noexcept override {
    return sizeof *this + count_ * sizeof(SubFilter) + bit_bytes();
  }
  // No new item has room.
  [[nodiscard]] bool full() const noexcept override;
  [[nodiscard]] std::vector<std::byte> header() const override;
  [[nodiscard]] std::span<std::byte> part_at(std::uint64_t offset,
                                             std::uint64_t most) const noexcept override;
  [[nodiscard]] std::span<const SubFilter> sub_filters() const noexcept {
    return {sub_filters_, count_};
  }
  [[nodiscard]] std::span<std::byte> bits(std::size_t sub_filter) const noexcept;

  // For loaders: a sub-filter as it was stored, its bits zero or (`memory`) these. Error{no_memory}.
  void append(const legacy::redisbloom::SubFilter& sizes, OwnedMemory memory = nullptr);

  void defragment(DefragContext* context) noexcept override;
  [[nodiscard]] std::size_t memory() const noexcept override;

 protected:
  friend struct ValueAccess;
  Chain(Family family, std::uint32_t options, std::uint32_t growth) noexcept
      : Value(Kind::chain),
        family_(family),
        options_(static_cast<std::uint8_t>(options)),
        growth_(growth) {}

 private:
  [[nodiscard]] std::uint64_t room() const noexcept;  // of the newest sub-filter
  [[nodiscard]] bool grow(std::uint64_t most_bytes) noexcept;
  void drop_sub_filters(std::uint32_t kept) noexcept;

  Family family_;
  std::uint8_t options_;
  std::uint32_t growth_;
  std::uint32_t count_ = 0;
  SubFilter* sub_filters_ = nullptr;
};
static_assert(sizeof(Chain) == 32);

// A chain of ours whose items only who has its key can place: SipHash in the place of XXH3.
class KeyedChain final : public Chain {
 public:
  [[nodiscard]] Hash128 hash(std::string_view item) const noexcept override {
    return detail::siphash_bytes(item.data(), item.size(), key_);
  }
  [[nodiscard]] std::optional<Seed> key() const noexcept override { return key_; }
  [[nodiscard]] std::uint64_t footprint() const noexcept override {
    return Chain::footprint() + sizeof key_;
  }

 private:
  friend struct ValueAccess;
  KeyedChain(std::uint32_t options, std::uint32_t growth, Seed key) noexcept
      : Chain(Family::bloomery, options, growth), key_(key) {}
  Seed key_;
};

}  // namespace bloomery::server
