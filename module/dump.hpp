// A filter as bytes: the header of BF.SCANDUMP and BF.LOADCHUNK, and what follows it in chunks.
//
// A dump is a header, which has everything but the bits, and the arrays one after the other.
// Headers of RedisBloom's filters are RedisBloom's, to the byte. Ours, little-endian:
//
//   0   8  "BLOOMERY" (as the count of items that RedisBloom's begins with it would be 6e18)
//   8   4  version, 1          24   4  growth
//   12  4  kind, 1: a chain    28   4  options: 8 where it does not grow
//   16  8  items               32   4  links
//   36     per link 40 bytes: bits, capacity, items (8 each), rate (a double), hashes, layout (4)
//
// A value in an RDB file of ours is this header, then its arrays in strings of 1 MiB.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "chain.hpp"

namespace bloomery::server {

[[nodiscard]] std::vector<std::byte> encode_header(const Chain& chain);

// What a header says, before any memory is taken for it.
struct Header {
  Family family = Family::bloomery;
  std::uint32_t options = 0;
  std::uint32_t growth = 0;
  std::uint64_t size = 0;
  std::vector<legacy::redisbloom::Link> links;
  [[nodiscard]] std::uint64_t bit_bytes() const noexcept;
};
// Of either family. Error{corrupt, newer_format}: it is not what either writes.
[[nodiscard]] Header decode_header(std::span<const std::byte> bytes);

// The chain of a header, its bits all zero. Error{no_memory}.
[[nodiscard]] ValuePointer<Chain> make_empty(const Header& header);

// The arrays as one row of bytes: the part that begins at `offset`, at most `most` bytes long and
// of one link. Empty beyond the end.
[[nodiscard]] std::span<std::byte> part_at(const Chain& chain, std::uint64_t offset,
                                           std::size_t most) noexcept;

}  // namespace bloomery::server
