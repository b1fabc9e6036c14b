// New shards that are strings of zeros: all of a filter's, or none.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "redis/wire/cluster.hpp"

namespace bloomery::detail {

struct ShardString {
  std::string key;
  std::string header;
};

// As shard_maker.hpp makes them; the first string stands for the filter and is made last. `bytes`: of
// each string, which ends with the identity of its shard. Error{exists, locked}.
void make_shard_strings(Cluster& cluster, const std::array<char, 8>& identity,
                        const std::vector<ShardString>& strings, std::uint64_t bytes);

}  // namespace bloomery::detail
