// The record beside the shards of a module's filter: the parameters of the whole filter, and the identity of each
// shard.
//
// 128 bytes, little-endian; docs/format.md has the table.
#pragma once

#include <bloomery/hash.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::detail {

constexpr std::size_t kRecordBytes = 128;

// The hash that selects a shard. No module's filter uses its seed ("bloomery" in ASCII): with the seed of
// bloomery.so, all keys of a shard would be in the same s-th part of its bits.
[[nodiscard]] inline Hasher shard_hasher() {
  return Hasher(HashFamily::xxh3, {.low = 0x7972'656D'6F6F'6C62});
}

struct ModulePlan {
  std::uint64_t capacity = 0;   // of all shards together
  double fpr = 0;               // the stated false-positive rate at capacity
  std::uint32_t expansion = 2;  // the factor by which a full shard grows; 0: it does not grow

  friend bool operator==(const ModulePlan&, const ModulePlan&) = default;
};

struct ModuleRecord {
  ModulePlan plan;
  std::uint32_t shards = 0;
  std::array<char, 8> identity{};
  // For a copy: the number of items in all its shards that are markers of other filters.
  std::uint64_t foreign_markers = 0;

  // The marker items of a shard: they identify the filter and the shard. Another filter has all of them with a
  // probability of about 1e-16, if its false-positive rate is not above the rate of this filter.
  [[nodiscard]] std::vector<std::string> markers(std::uint32_t shard) const;
  // A copy has the markers of its source, because they cannot be removed. So it also has the copy markers of its
  // source, the same number of items, which the source never has: a client that finds them looks at a copy.
  [[nodiscard]] std::vector<std::string> copy_markers(std::uint32_t shard) const;
  // One more marker, which every shard of every filter has; before the first insert a shard has little else. By this
  // marker a maker recognizes a shard that another maker has left.
  [[nodiscard]] static std::string common_marker();
  // The number of items of a shard before the first insert, unless the shard belongs to a copy.
  [[nodiscard]] std::size_t items_when_empty() const { return markers_of_each() + 1; }
  // The number of items in all shards that are markers.
  [[nodiscard]] std::uint64_t marker_items() const {
    return shards * std::uint64_t{items_when_empty()} + foreign_markers;
  }
  // The share of each shard in the capacity, including its own markers.
  [[nodiscard]] std::uint64_t capacity_of_each() const;
  // The capacity in BF.RESERVE for each shard. A shard that does not grow gets room for the markers of 16 copies of
  // copies.
  [[nodiscard]] std::uint64_t reserved_of_each() const;

 private:
  [[nodiscard]] std::size_t markers_of_each() const;
  [[nodiscard]] std::vector<std::string> numbered_markers(std::uint32_t shard,
                                                          std::uint32_t from) const;
};

// The Redis key of the record, in the slot of shard 0.
[[nodiscard]] std::string module_record_key(std::string_view name);

[[nodiscard]] std::string encode_module_record(const ModuleRecord& record);
// Checks every field. Error{not_a_filter, newer_format, corrupt}; messages call the key `name`.
[[nodiscard]] ModuleRecord decode_module_record(std::string_view bytes, const std::string& name);

}  // namespace bloomery::detail
