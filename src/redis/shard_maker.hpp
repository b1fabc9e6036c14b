// All shards of a new filter, or none.
//
// A cluster has no transaction over its nodes. So the first key stands for the filter:
//   1. it is claimed: a short string that expires in a minute, set only where nothing is;
//   2. the other shards are made, each at once with its header, where nothing is or what a maker
//      that died has left: a shard without a single bit;
//   3. the claim is turned into shard 0, if it is still ours.
// Before the third step nobody can open the filter; after it, it is whole. A maker that fails
// removes what it made. One that dies leaves a claim, for a minute, and empty shards. One that
// sleeps for a minute finds its claim gone, and at worst has put its empty shards in place of
// another's: these have another identity, which every client sees.
#pragma once

#include <string>
#include <vector>

#include "redis/cluster.hpp"
#include "redis/redis_header.hpp"

namespace bloomery::detail {

// `header` is that of any shard. Error{exists}, Error{locked}: another makes it.
void make_shards(Cluster& cluster, RedisHeader header, const std::vector<std::string>& keys);

// Whether what stands at the first key is a claim.
[[nodiscard]] bool is_claim(std::string_view start) noexcept;
[[nodiscard]] Error being_made(const std::string& name);

}  // namespace bloomery::detail
