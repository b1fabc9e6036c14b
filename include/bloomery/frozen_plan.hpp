// The plan of a frozen filter, which holds a set that is known as a whole in fewer bits than any Bloom filter needs.
//
//   fpr     lower bound   frozen   blocked, blocked2     bits per key of 100 million keys
//   1 %        6.64         7.45      9.95
//   0.1 %      9.97        11.08     15.62
//   1e-6      19.93        22.16     31.24
//
// A frozen filter is a binary fuse filter with three positions (Graf and Lemire 2022). A key has a fingerprint
// of r bits, which is the exclusive or of three cells of r bits. The hash of a key selects one of the partitions, of
// about ten million keys each. Each partition has its own r, so a mixture of r and r + 1 gives any
// false-positive rate from 50 % to 1e-9.
//
// A filter whose set changes also has a delta: a small plain filter for the keys that come after the list was built
// and before it is built again. A key is probably present if it is in the list or in the delta. The delta has a
// sixteenth of the stated false-positive rate.
#pragma once

#include <bloomery/plan.hpp>

#include <cstdint>
#include <optional>

namespace bloomery {

constexpr double kMinFrozenFpr = 1e-9;
constexpr std::uint32_t kMaxFingerprintBits = 32;
constexpr std::uint32_t kMaxFrozenPartitions = 4096;
constexpr std::uint64_t kMaxFrozenKeys = std::uint64_t{1} << 35;
// While the file of a frozen filter is built, keys beyond this number are kept on its device, 8 bytes each, and
// not in memory.
constexpr std::uint64_t kFrozenKeysInMemory = std::uint64_t{1} << 24;
constexpr double kDeltaShare = 1.0 / 16;  // of the stated rate

// Invariant of a valid plan: `array` is a valid Plan of layout standard with three hashes; its fpr minus that of
// the delta is in [1e-9, 0.5]; partitions is in [1, 4096]; fingerprint_bits is in [1, 32]; narrow_partitions is
// below partitions, or 0 if fingerprints have one bit; a delta is a valid Plan of layout blocked, blocked2 or standard.
struct FrozenPlan {
  // The list: all of its bits, with tables and padding, and its number of keys (at least 1). Its fpr is that of the
  // whole filter.
  Plan array;
  std::uint32_t partitions = 1;
  std::uint32_t fingerprint_bits = 1;
  std::uint32_t narrow_partitions =
      0;                        // this many first partitions have fingerprints of one bit less
  std::optional<Plan> delta{};  // its capacity: keys that may come before the list is built again

  [[nodiscard]] std::uint32_t bits_of(std::uint32_t partition) const noexcept {
    return fingerprint_bits - (partition < narrow_partitions ? 1 : 0);
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return array.bytes() + (delta ? delta->bytes() : 0);
  }
  // The list's share of the stated rate, and the rate that its fingerprints give, which is never higher
  // than that share.
  [[nodiscard]] double list_fpr() const noexcept {
    return delta ? array.fpr - delta->fpr : array.fpr;
  }
  [[nodiscard]] double fingerprint_fpr() const noexcept;
  // What one thread needs to build the file, in bytes: building_bytes() of memory for the collected keys, for the
  // filter, and for the work on one partition; spool_bytes() on the device, beside the file, for the keys that
  // are kept there.
  [[nodiscard]] std::uint64_t building_bytes() const noexcept;
  [[nodiscard]] std::uint64_t spool_bytes() const noexcept;
  // The plan of the list alone, without the delta.
  [[nodiscard]] FrozenPlan list() const noexcept;
  friend bool operator==(const FrozenPlan&, const FrozenPlan&) = default;
};

// The smallest plan for `keys` different keys. Building nearly always gives this size; if an attempt fails, the next
// one uses more cells, and the filter is a few percent larger.
// PlanError: one of the numbers is out of range.
[[nodiscard]] FrozenPlan frozen_plan(std::uint64_t keys, double fpr);
// The same with a delta for `delta_keys` keys; list and delta together have the fpr.
[[nodiscard]] FrozenPlan frozen_plan(std::uint64_t keys, double fpr, std::uint64_t delta_keys);

// The plan of no keys: one partition without cells. PlanError: the fpr is out of range.
[[nodiscard]] FrozenPlan empty_frozen_plan(double fpr);

// The sum of fingerprint_fpr() and the fpr of a full delta. It does not depend on the number of keys.
[[nodiscard]] double predicted_fpr(const FrozenPlan& plan, double items);

// PlanError unless the plan's invariant holds.
void validate(const FrozenPlan& plan);

}  // namespace bloomery
