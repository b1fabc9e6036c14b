// The keys of a filter's shards: spread evenly over the slots of a cluster, for ever the same.
//
// Shard i of s is the key `name:{t}`, where t is a decimal number. The slots are divided into s
// windows of equal size, window w from ceil(w * 16384 / s) on. Window w0 is the one of the tag "0",
// whose slot is 13907; shard i has window (w0 + i) mod s, and its t is the smallest number whose
// slot is in that window. So
//   - shard 0 is `name:{0}` whatever s is: whoever opens a filter begins there, and learns s;
//   - a node that has an n-th of the slots, in one piece, has an n-th of the shards, or one shard
//     more or less where s is no multiple of n;
//   - shard i of every filter with s shards is in one slot, so that two can be merged there.
// With t = i, three nodes would have none, two and one of three shards.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::detail {

constexpr std::uint32_t kMostShards = 1024;

// In the order of the shards. Error{invalid_argument}: a name with '{', no shards, or too many.
[[nodiscard]] std::vector<std::string> shard_keys(std::string_view name, std::uint32_t shards);
[[nodiscard]] std::string first_shard_key(std::string_view name);

}  // namespace bloomery::detail
