// The shards of a frozen filter: which keys each has, how many slots they need, and where its bytes are.
//
// Integers only, so that every processor gets the same filter from the same keys. What was built is stored
// with it, and read from there: nothing here has to stay as it is for the sake of old files, but kBucketBits
// and shard_of.
#pragma once

#include <bloomery/frozen_plan.hpp>

#include <cstdint>

namespace bloomery::detail {

// Keys fall into buckets by the highest bits of their hash; a shard has neighbouring buckets.
constexpr unsigned kBucketBits = 12;
static_assert(kMaxFrozenShards == 1U << kBucketBits);

[[nodiscard]] constexpr std::uint32_t bucket_of(std::uint64_t high) noexcept {
  return static_cast<std::uint32_t>(high >> (64 - kBucketBits));
}
[[nodiscard]] constexpr std::uint32_t shard_of(std::uint32_t bucket,
                                               std::uint32_t shards) noexcept {
  return (bucket * shards) >> kBucketBits;
}
// The first bucket of a shard; of one beyond the last, 4096.
[[nodiscard]] constexpr std::uint32_t first_bucket(std::uint32_t shard,
                                                   std::uint32_t shards) noexcept {
  return ((shard << kBucketBits) + shards - 1) / shards;
}

constexpr unsigned kMaxSegmentBits = 16;

// A shard's slots lie in segments of 2^segment_bits. A key has one slot in each of three neighbouring
// segments; `starts` is how many of the segments can be the first of the three.
struct ShardGeometry {
  std::uint32_t starts = 1;
  std::uint32_t segment_bits = 0;

  [[nodiscard]] std::uint64_t first_slots() const noexcept {
    return std::uint64_t{starts} << segment_bits;
  }
  [[nodiscard]] std::uint64_t slots() const noexcept {
    return (std::uint64_t{starts} + 2) << segment_bits;
  }
  // Whole blocks of 64 bytes, and at least eight bytes from the first bit of every slot on.
  [[nodiscard]] std::uint64_t bytes(std::uint32_t bits) const noexcept {
    return ((slots() * bits + 7) / 8 + 7 + 63) / 64 * 64;
  }
  friend bool operator==(const ShardGeometry&, const ShardGeometry&) = default;
};

// How often the keys of a shard are tried with different seeds before they get more slots.
constexpr std::uint32_t kTriesInSameSlots = 4;
// Slots for so many different keys, for the first try, or a later one.
[[nodiscard]] ShardGeometry shard_geometry(std::uint64_t keys, std::uint32_t attempt = 0) noexcept;

// An entry of the table with which the bytes of a frozen filter begin.
constexpr std::uint64_t kShardEntryBytes = 32;
[[nodiscard]] constexpr std::uint64_t shard_table_bytes(std::uint32_t shards) noexcept {
  return (shards * kShardEntryBytes + 63) / 64 * 64;
}

}  // namespace bloomery::detail
