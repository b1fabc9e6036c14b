// A filter as bytes: the header of BF.SCANDUMP and BF.LOADCHUNK, and what follows it in chunks.
//
// A dump is a header, which has everything but the bits, and the arrays one after the other.
// Headers of RedisBloom's filters are RedisBloom's, to the byte. Ours, little-endian:
//
//   0   8  "BLOOMERY" (as the count of items that RedisBloom's begins with it would be 6e18)
//   8   4  version, 1          24   4  growth
//   12  4  kind                28   4  options: 8 where it does not grow, 16 where it is keyed
//   16  8  items               32   4  sub-filters
//   36     per sub-filter 40 bytes: bits, capacity, items (8 each), rate (a double), hashes, layout (4)
//
// A chain (kind 1) has one sub-filter or more, a counting filter (2) one with a counting layout, a window
// (3) one, the plan of its slices, and then: slices, unit (4 each), window, capacity (8 each), rate
// (a double), time (8), newest slice (4), 4 bytes of zeros, the insert calls of every slice (8). A keyed
// one of any kind ends with its key, 16 bytes; modules before it refuse its option.
//
// A value in an RDB file of ours is this header, then its arrays in strings of 1 MiB.
#pragma once

#include <bloomery/window_filter.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "sub_filter.hpp"
#include "value.hpp"

namespace bloomery::server {

// What a header says, before any memory is taken for it.
struct Header {
  Kind kind = Kind::chain;
  Family family = Family::bloomery;
  std::uint32_t options = 0;
  std::uint32_t growth = 0;
  std::uint64_t size = 0;
  std::vector<legacy::redisbloom::SubFilter> sub_filters;
  std::optional<Seed> key;  // of ours
  WindowPlan window;        // of windows
  WindowState state;

  // The bytes of each array.
  [[nodiscard]] std::vector<std::uint64_t> arrays() const;
  [[nodiscard]] std::uint64_t bit_bytes() const;
};

// The hash of a filter with this key, or of one without.
[[nodiscard]] Hasher hasher_of(const std::optional<Seed>& key);

[[nodiscard]] std::vector<std::byte> encode_header(const Header& header);
// Of either family. Error{corrupt, newer_format}: it is not what either writes.
[[nodiscard]] Header decode_header(std::span<const std::byte> bytes);

// The filter of a header; `array` gives the memory of an array of so many bytes, or throws.
// Error{corrupt, no_memory}.
[[nodiscard]] AnyValue make_value(const Header& header,
                                  const std::function<OwnedMemory(std::uint64_t)>& array);
// Its bits all zero. Error{no_memory}, also where the machine could not hold them.
[[nodiscard]] AnyValue make_empty(const Header& header);

}  // namespace bloomery::server
