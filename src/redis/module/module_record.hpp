// The record beside the shards of a module's filter: what the whole is, and what identifies each
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

// The hash that chooses a shard. Its seed ("bloomery" in ASCII) is that of no module's filter: with
// the one of bloomery.so, all keys of a shard would meet in an s-th of its bits.
[[nodiscard]] inline Hasher shard_hasher() {
  return Hasher(HashFamily::xxh3, {.low = 0x7972'656D'6F6F'6C62});
}

struct ModulePlan {
  std::uint64_t capacity = 0;   // of all shards together
  double fpr = 0;               // the stated false-positive rate up to there
  std::uint32_t expansion = 2;  // the factor by which a full shard grows; 0: it does not

  friend bool operator==(const ModulePlan&, const ModulePlan&) = default;
};

struct ModuleRecord {
  ModulePlan plan;
  std::uint32_t shards = 0;
  std::array<char, 8> identity{};
  // Of a copy: how many items of all its shards are markers of other filters.
  std::uint64_t foreign_markers = 0;

  // The marker items of a shard: they say which filter and which shard it is. Another filter has
  // all of them with a probability of about 1e-16, if its false-positive rate is not above ours.
  [[nodiscard]] std::vector<std::string> markers(std::uint32_t shard) const;
  // A copy has the markers of its source, because they cannot be taken out of it. So it has these
  // too, as many, and the source never has: who finds them looks at a copy.
  [[nodiscard]] std::vector<std::string> copy_markers(std::uint32_t shard) const;
  // One more, which every shard of every filter has, and little else before the first insert: by it
  // a maker recognizes what another maker has left.
  [[nodiscard]] static std::string common_marker();
  // How many items a shard has before the first insert, unless it is that of a copy.
  [[nodiscard]] std::size_t items_when_empty() const { return markers_of_each() + 1; }
  // How many items of all shards are markers.
  [[nodiscard]] std::uint64_t marker_items() const {
    return shards * std::uint64_t{items_when_empty()} + foreign_markers;
  }
  // The share of each shard in the capacity, with its own markers.
  [[nodiscard]] std::uint64_t capacity_of_each() const;
  // What BF.RESERVE is given for each shard: one that does not grow has room for the markers of 16
  // copies of copies.
  [[nodiscard]] std::uint64_t reserved_of_each() const;

 private:
  [[nodiscard]] std::size_t markers_of_each() const;
  [[nodiscard]] std::vector<std::string> numbered_markers(std::uint32_t shard,
                                                          std::uint32_t from) const;
};

// The Redis key of the record, in the slot of shard 0.
[[nodiscard]] std::string module_record_key(std::string_view name);

[[nodiscard]] std::string encode_module_record(const ModuleRecord& record);
// Checks every field. Error{not_a_filter, newer_format, corrupt}; `name` is the key's in messages.
[[nodiscard]] ModuleRecord decode_module_record(std::string_view bytes, const std::string& name);

}  // namespace bloomery::detail
