// Headers on servers: reading them, and making new strings with a header.
#pragma once

#include <bloomery/error.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/redis_url.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redis/cluster/cluster.hpp"
#include "redis/strings/redis_header.hpp"

namespace bloomery::detail {

struct StringStart {
  std::string name;   // the name of the key in messages
  std::string bytes;  // the first bytes, as many as a header has; empty: the key does not exist
  std::uint64_t length = 0;
};
[[nodiscard]] StringStart read_start(Cluster& cluster, std::string_view key);

// Error{missing}; errors of decode_redis_header; {corrupt}: a filter in one string has another length than its header
// says.
[[nodiscard]] RedisHeader header_in(const StringStart& start);

// The header of the filter in a place; the place says whether it is in shards. Cuts off what a client of another filter
// has written behind the end of one in a string. Error{missing, wrong_kind, mismatch};
// {locked}: it is being made; errors of header_in.
[[nodiscard]] RedisHeader header_at(Cluster& cluster, const RedisPlace& place);

// Clients that still have a larger filter open, in whose place this one was made, set bits behind the end of its
// strings, and in the ends of shards. No key of this filter has them, so they are removed. `header` may be that of any
// of the strings. One that is wrong otherwise, or whose end has many such bits, is left alone. Error{denied, no_space,
// read_only, unavailable}: they cannot be cut.
void cut_to_length(Cluster& cluster, RedisHeader header, const std::vector<std::string>& keys);
// The error `wrong` of a string that could not be cut, because of `why`.
[[nodiscard]] Error not_cut(const Error& wrong, const Error& why);

// The header of a new filter in one string. Error{too_large}: no string can have so many bits; errors of validate.
[[nodiscard]] RedisHeader header_of_string(const Plan& plan, const Hasher& hasher);

// Lua functions for scripts that make strings.
//
// If a command of a script fails, because of missing memory or a missing right, the server does not undo the commands
// before it. So only RENAME removes the replaced key; a right that is needed after RENAME is also used before it; and
// until then the new key has a time to live.
//
// make: makes a string of zeros with a header, up to the byte `last`. put: moves a key that has a time to live into
// its place.
constexpr std::string_view kMakeAndPut =
    "local function make(key, header, last, expires) "
    "if expires then redis.call('PERSIST', key) redis.call('EXPIRE', key, 600) end "
    "redis.call('SETRANGE', key, last, '\\0') "
    "if expires then redis.call('EXPIRE', key, 600) end "
    "redis.call('SETRANGE', key, 0, header) end "
    "local function put(key, place) "
    "redis.call('RENAME', key, place) redis.call('PERSIST', place) end ";

// ---- new shards that are strings of zeros: either all shards of a filter, or none (shard_strings.cpp) ----

struct ShardString {
  std::string key;
  std::string header;
};

// Makes them as described in shard_maker.hpp. The first string represents the filter and is made last. `bytes`: the
// size of each string, which ends with the identity of its shard. Error{exists, locked}.
void make_shard_strings(Cluster& cluster, const std::array<char, 8>& identity,
                        const std::vector<ShardString>& strings, std::uint64_t bytes);

}  // namespace bloomery::detail
