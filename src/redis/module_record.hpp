// The record beside the shards of module filters: what the whole is, and how keys find a shard.
//
// 128 bytes, little-endian; docs/format.md has the table.
#pragma once

#include <bloomery/hash.hpp>
#include <bloomery/sharded_module_filter.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::detail {

constexpr std::size_t kRecordBytes = 128;

// The hash that chooses a shard. Its seed is another than that of any module's filter: with
// bloomery.so's own, all keys of a shard would meet in an s-th of its bits.
// ("bloomery" in ASCII.)
[[nodiscard]] inline Hasher shard_hasher() {
  return Hasher(HashFamily::xxh3, {.low = 0x7972'656D'6F6F'6C62});
}

struct ModuleRecord {
  ModulePlan plan;
  std::uint32_t shards = 0;
  std::array<char, 8> identity{};

  // The items that say which filter and which shard it is. Another filter has all of them with a
  // probability of about 1e-16, if its rate is no higher than ours.
  [[nodiscard]] std::vector<std::string> marks(std::uint32_t shard) const;
  // One more, which every shard of every filter has, and little else until the first key is
  // inserted: so the maker of a filter knows what another has left.
  [[nodiscard]] static std::string common_mark();
  [[nodiscard]] std::size_t marks_of_each() const;
  // What BF.RESERVE is given for each shard.
  [[nodiscard]] std::uint64_t capacity_of_each() const;
};

[[nodiscard]] std::string encode_module_record(const ModuleRecord& record);
// Believes nothing. Error{not_a_filter, newer_format, corrupt}; `name` names the key in it.
[[nodiscard]] ModuleRecord decode_module_record(std::string_view bytes, const std::string& name);

}  // namespace bloomery::detail
