// A filter as bytes: the header of BF.SCANDUMP and BF.LOADCHUNK. The arrays of bits follow it in
// chunks.
//
// A dump is a header, which has everything but the bits, and then the arrays in order. Headers of
// filters of RedisBloom's scheme are RedisBloom's, byte for byte. Ours, little-endian:
//
//   0   8  "BLOOMERY" (RedisBloom's begins with the number of items, which would be 6e18 here)
//   8   4  version, 1          24   4  growth
//   12  4  kind                28   4  options: 8 if the filter does not grow, 16 if it is keyed,
//                                      32 if it is being loaded (in RDB files and payloads only)
//   16  8  items               32   4  sub-filters
//   36     40 bytes per sub-filter: bits, capacity, items (8 each), fpr (a double), hashes,
//          layout (4 each)
//
// A scalable filter (kind 1) has one or more sub-filters. A counting filter (2) has one, with a
// counting layout. A window (3) has one, the plan of its slices, followed by: slices, unit (4
// each), window, capacity (8 each), fpr (a double), time (8), newest slice (4), 4 zero bytes, and
// the insert calls of each slice (8). A frozen filter (4) has one, of layout 3 with 3 hashes, followed by: partitions,
// bits of a fingerprint, narrow partitions (4 each), 4 zero bytes; its array is that of a filter file (docs/format.md).
// The header of a keyed filter ends with the key, 16 bytes;
// older modules refuse its option, and that of one that is being loaded.
//
// In an RDB file a value of ours is this header, then its arrays in strings of 1 MiB.
#pragma once

#include <bloomery/frozen_plan.hpp>
#include <bloomery/window_filter.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "legacy/redisbloom.hpp"

namespace bloomery::server {

// The numbers are in dumps and never change.
enum class Kind : std::uint8_t { scalable = 1, counting = 2, window = 3, frozen = 4 };
// Whose hash and bits: RedisBloom's, or the library's.
enum class Family : std::uint8_t { redisbloom = 0, native = 1 };

// Everything about a filter but its bits. What decode_header returns is checked: every field is in
// range, and agrees with the others.
struct Header : legacy::redisbloom::Header {
  Kind kind = Kind::scalable;
  Family family = Family::native;
  std::optional<Seed> key;
  bool loading = false;  // it still takes chunks (value.hpp); native filters only keep it
  WindowPlan window;     // of windows only, as is the state
  WindowState state;
  FrozenPlan frozen;  // of frozen filters only

  Header() { options = growth = 0; }
  // How many bytes the bits take. `bytes` of each sub-filter says how many its array has.
  [[nodiscard]] std::uint64_t bit_bytes() const noexcept;
};

[[nodiscard]] std::vector<std::byte> encode_header(const Header& header);
// Reads either format. Error{corrupt | newer_format}: no module writes these bytes.
[[nodiscard]] Header decode_header(std::span<const std::byte> bytes);

}  // namespace bloomery::server
