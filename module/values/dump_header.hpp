// A filter as bytes: the header of BF.SCANDUMP and BF.LOADCHUNK. The arrays of bits follow it in
// chunks.
//
// A dump is a header, which has everything except the bits, followed by the arrays in order.
// Headers of filters of RedisBloom's scheme are RedisBloom's, byte for byte. Ours, little-endian:
//
//   0   8  "BLOOMERY" (RedisBloom's begins with the number of items, which would be 6e18 here)
//   8   4  version, 1          24   4  growth
//   12  4  kind                28   4  options: 8 if the filter does not grow, 16 if it is keyed,
//                                      32 if it is being loaded (in RDB files and payloads only),
//                                      64 if its tightening ratio is not 1/2
//   16  8  items               32   4  sub-filters
//   36     40 bytes per sub-filter: bits, capacity, items (8 each), fpr (a double), hashes,
//          layout (4 each)
//
// A scalable filter (kind 1) has one or more sub-filters. A counting filter (2) has one, with a
// counting layout. A window (3) has one, the plan of its slices, followed by: slices, unit (4
// each), window, capacity (8 each), fpr (a double), time (8), newest slice (4), 4 zero bytes, and
// the insert calls of each slice (8). A frozen filter (4) has one, of layout 3 with 3 hashes, followed by: partitions,
// bits of a fingerprint, narrow partitions (4 each), 4 zero bytes, and if it is being loaded how many bytes of its
// array have come (8); its array is that of a filter file (docs/format.md).
// Then comes the tightening ratio in ten-thousandths (4), if the options say so, and last the key of a keyed filter,
// 16 bytes. Older modules refuse options 16 to 64.
//
// In an RDB file a value of ours is this header, then its arrays in strings of 1 MiB.
#pragma once

#include <bloomery/frozen_plan.hpp>
#include <bloomery/kind.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/window_filter.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "legacy/redisbloom.hpp"

namespace bloomery::server {

// The origin of the hash and the bits: RedisBloom or the library.
enum class Family : std::uint8_t { redisbloom = 0, native = 1 };

// How the error rate falls from one sub-filter of a filter that grows to the next. The first one
// has the share 1 - ratio of the requested rate, and each further one the ratio times the rate
// before it, so that all of them together stay below the requested rate.
class Tightening {
 public:
  static constexpr std::uint32_t kUnits = 10000;  // a ratio has four decimals

  constexpr Tightening() noexcept = default;  // 1/2, RedisBloom's
  // Nothing: the ratio is not between 0 and 1.
  [[nodiscard]] static constexpr std::optional<Tightening> of(std::uint32_t units) noexcept {
    if (units == 0 || units >= kUnits) return std::nullopt;
    return Tightening(static_cast<std::uint16_t>(units));
  }
  [[nodiscard]] constexpr std::uint16_t units() const noexcept { return units_; }
  [[nodiscard]] constexpr double ratio() const noexcept {
    return static_cast<double>(units_) / kUnits;
  }
  [[nodiscard]] constexpr double first_share() const noexcept {
    return static_cast<double>(kUnits - units_) / kUnits;
  }
  friend constexpr bool operator==(Tightening, Tightening) = default;

 private:
  constexpr explicit Tightening(std::uint16_t units) noexcept : units_(units) {}
  std::uint16_t units_ = kUnits / 2;
};

// Everything about a filter except its bits. What decode_header returns is checked: every field is
// in range, and agrees with the others.
struct Header : legacy::redisbloom::Header {
  Kind kind = Kind::scalable;  // never plain: one that does not grow is scalable, with an option
  Family family = Family::native;
  std::optional<Seed> key;
  Tightening tightening;  // of native filters that grow; all others have RedisBloom's
  bool loading = false;   // it still takes chunks (value.hpp); native filters only keep it
  WindowPlan window;      // of windows only, as is the state
  WindowState state;
  FrozenPlan frozen;       // of frozen filters only
  std::uint64_t come = 0;  // while one is being loaded: bytes of its bits that have come

  Header() { options = growth = 0; }
  // How many bytes the bits take. `bytes` of each sub-filter says how many its array has.
  [[nodiscard]] std::uint64_t bit_bytes() const noexcept;
  [[nodiscard]] bool grows() const noexcept {
    return kind == Kind::scalable && (options & legacy::redisbloom::kNoScaling) == 0;
  }
  // The requested rate.
  [[nodiscard]] double asked_fpr() const;
};

[[nodiscard]] std::vector<std::byte> encode_header(const Header& header);
// Reads either format. Error{corrupt | newer_format}: no module writes these bytes.
[[nodiscard]] Header decode_header(std::span<const std::byte> bytes);

// A sub-filter in the library's layouts has the fields of RedisBloom's, so that a header has both in
// one kind of table; the layout is in `exponent`. `bytes` is the size of its array: for counting
// layouts, of the counters.
[[nodiscard]] legacy::redisbloom::SubFilter sizes_of(const Plan& plan);
[[nodiscard]] Plan plan_of(const legacy::redisbloom::SubFilter& sizes);
// A new sub-filter; an `fpr` outside the library's range is replaced by the nearest one in it.
// Error{too_large, invalid_argument}.
[[nodiscard]] legacy::redisbloom::SubFilter plan_native(std::uint64_t capacity, double fpr);

}  // namespace bloomery::server
