// The partitions of a frozen filter: which keys each has, how many cells they need, and where its bytes are.
//
// It computes with integers only, so that every processor builds the same filter from the same keys. A
// filter stores the geometry that it was built with, so for old files nothing here has to stay unchanged
// except kBucketBits and the mapping from a bucket to its partition.
#pragma once

#include <cstdint>

namespace bloomery::detail {

// The highest bits of a key's hash select its bucket; a partition has neighbouring buckets.
constexpr unsigned kBucketBits = 12;
constexpr std::uint32_t kBuckets = 1U << kBucketBits;

[[nodiscard]] constexpr std::uint32_t bucket_of(std::uint64_t high) noexcept {
  return static_cast<std::uint32_t>(high >> (64 - kBucketBits));
}
// The first bucket of a partition; 4096 for the number after the last partition. Look-ups go the other way, from
// a bucket to its partition (bucket * partitions / 4096): FrozenFilter::partition_of.
[[nodiscard]] constexpr std::uint32_t first_bucket(std::uint32_t partition,
                                                   std::uint32_t partitions) noexcept {
  return ((partition << kBucketBits) + partitions - 1) / partitions;
}

constexpr unsigned kMaxSegmentBits = 16;

// A partition's cells lie in segments of 2^segment_bits. A key has one cell in each of three neighbouring
// segments; `starts` is how many of the segments can be the first of the three.
struct PartitionGeometry {
  std::uint32_t starts = 1;
  std::uint32_t segment_bits = 0;

  [[nodiscard]] std::uint64_t first_cells() const noexcept {
    return std::uint64_t{starts} << segment_bits;
  }
  [[nodiscard]] std::uint64_t cells() const noexcept {
    return (std::uint64_t{starts} + 2) << segment_bits;
  }
  // Whole blocks of 64 bytes. From the first bit of every cell on there are at least eight bytes.
  [[nodiscard]] std::uint64_t bytes(std::uint32_t bits) const noexcept {
    return ((cells() * bits + 7) / 8 + 7 + 63) / 64 * 64;
  }
  friend bool operator==(const PartitionGeometry&, const PartitionGeometry&) = default;
};

// How many seeds are tried for the keys of a partition before they get more cells.
constexpr std::uint32_t kTriesInSameCells = 4;
// The cells for `keys` different keys, at the first attempt or a later one.
[[nodiscard]] PartitionGeometry partition_geometry(std::uint64_t keys,
                                                   std::uint32_t attempt = 0) noexcept;

// The size of an entry of the table, with which the bytes of a frozen filter begin.
constexpr std::uint64_t kPartitionEntryBytes = 32;
[[nodiscard]] constexpr std::uint64_t partition_table_bytes(std::uint32_t partitions) noexcept {
  return (partitions * kPartitionEntryBytes + 63) / 64 * 64;
}

}  // namespace bloomery::detail
