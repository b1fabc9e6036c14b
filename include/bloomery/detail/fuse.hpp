// The three cells that a key has in a partition of a frozen filter, its fingerprint, and the test whether they agree.
//
// Source: Graf and Lemire, "Binary Fuse Filters", 2022. A fast range (Lemire 2019) over all segments but the
// last two gives the first cell; the other two cells are in the next two segments, at other positions.
#pragma once

#include <bloomery/detail/layout.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace bloomery::detail {

constexpr std::uint64_t kMixFirst = 0xFF51AFD7ED558CCD, kMixSecond = 0xC4CEB9FE1A85EC53;
constexpr std::uint64_t kFingerprintMultiplier = 0x9E3779B97F4A7C15;

// A bijection of 64 bits: the finalizer of MurmurHash3, applied to the exclusive or of key and seed.
[[nodiscard]] inline std::uint64_t mix_key(std::uint64_t key, std::uint64_t seed) noexcept {
  std::uint64_t mixed = key ^ seed;
  mixed = (mixed ^ mixed >> 33) * kMixFirst;
  mixed = (mixed ^ mixed >> 33) * kMixSecond;
  return mixed ^ mixed >> 33;
}

// Loads eight bytes as a little-endian number on machines of any byte order.
[[nodiscard]] inline std::uint64_t load_cells(const std::byte* from) noexcept {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap64(value);
  return value;
}

struct FuseCells {
  std::uint64_t first, second, third;
};

// The cells of one partition. Cell i begins at bit i * bits, from the lowest bit of the first byte on.
struct FusePartition {
  const std::byte* cells = nullptr;
  std::uint64_t seed = 0;
  std::uint32_t first_cells = 1;   // how many cells can be a key's first
  std::uint32_t mask = 1;          // of a fingerprint
  std::uint32_t segment_mask = 0;  // cells of a segment (a power of two) minus one
  std::uint32_t bits = 1;          // of a fingerprint

  // `mixed` is mix_key(key, seed).
  [[nodiscard]] FuseCells cells_of(std::uint64_t mixed) const noexcept {
    const auto first = fast_range(mixed, first_cells);
    const std::uint64_t segment = std::uint64_t{segment_mask} + 1;
    return {first, (first + segment) ^ (mixed & segment_mask),
            (first + 2 * segment) ^ (mixed >> 16 & segment_mask)};
  }
  [[nodiscard]] static std::uint64_t fingerprint(std::uint64_t mixed) noexcept {
    return mixed * kFingerprintMultiplier >> 32;
  }
  [[nodiscard]] const std::byte* byte_of(std::uint64_t cell) const noexcept {
    return cells + (cell * bits >> 3);
  }
  // The lowest bits of the result are the cell.
  [[nodiscard]] std::uint64_t load(std::uint64_t cell) const noexcept {
    return load_cells(byte_of(cell)) >> (cell * bits & 7);
  }
  [[nodiscard]] bool agrees(std::uint64_t mixed, const FuseCells& at) const noexcept {
    return ((load(at.first) ^ load(at.second) ^ load(at.third) ^ fingerprint(mixed)) & mask) == 0;
  }
};

// The index of a key's partition (src/plan/fuse_geometry.hpp).
[[nodiscard]] inline std::size_t partition_of_hash(Hash128 hash, std::size_t partitions) noexcept {
  return (hash.high >> 52) * partitions >> 12;
}

}  // namespace bloomery::detail
