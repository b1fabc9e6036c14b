// Building one shard of a frozen filter from the keys of its buckets.
#pragma once

#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/detail/fuse.hpp>

#include <cstdint>
#include <span>
#include <vector>

#include "plan/frozen_shards.hpp"

namespace bloomery::detail {

[[nodiscard]] inline FuseShard fuse_of(const ShardGeometry& geometry, std::uint64_t seed,
                                       std::uint32_t bits, const std::byte* slots) noexcept {
  return {.slots = slots,
          .seed = seed,
          .first_slots = static_cast<std::uint32_t>(geometry.first_slots()),
          .mask = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1),
          .segment_bits = static_cast<std::uint8_t>(geometry.segment_bits),
          .bits = static_cast<std::uint8_t>(bits)};
}

struct BuiltShard {
  ShardGeometry geometry;
  std::uint64_t seed = 0;
  std::uint64_t keys = 0;  // different ones
  std::uint32_t bits = 0;
  BitMemory slots;  // geometry.bytes(bits)

  [[nodiscard]] FuseShard fuse() const noexcept {
    return fuse_of(geometry, seed, bits, slots.bytes().data());
  }
};

// The memory that building takes, to be used for one shard after the other: about 30 bytes per key.
class ShardBuilder {
 public:
  // The result depends on the set of the keys alone, not on their order or on how often they come. `keys` is used as
  // memory. Error{no_memory}; Error{too_large}: more than 2^31 keys.
  [[nodiscard]] BuiltShard build(std::vector<std::uint64_t>& keys, std::uint32_t bits);

 private:
  [[nodiscard]] bool peel(std::span<const std::uint64_t> keys, const BuiltShard& shard);
  void fill(BuiltShard& shard) const noexcept;

  std::vector<std::uint64_t> keys_of_slot_;  // the exclusive or of all that are left
  std::vector<std::uint8_t> count_;          // how many are left
  std::vector<std::uint32_t> order_;  // slots, each the only one of its key when it was peeled
  std::size_t peeled_ = 0;
};

}  // namespace bloomery::detail
