// Headers on servers: how they are read, and how new strings with a header are made.
#pragma once

#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/redis_url.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redis/strings/redis_header.hpp"
#include "redis/wire/cluster.hpp"

namespace bloomery::detail {

struct StringStart {
  std::string name;   // of the key, in messages
  std::string bytes;  // the first ones, as many as a header has; empty: there is no such key
  std::uint64_t length = 0;
};
[[nodiscard]] StringStart read_start(Cluster& cluster, std::string_view key);

// Error{missing}, those of decode_redis_header, and {corrupt}: a filter in one string has another
// length than its header says.
[[nodiscard]] RedisHeader header_in(const StringStart& start);

// The header of the filter in a place, which is in shards if the place says so. Error{missing,
// wrong_kind, mismatch}, {locked}: it is being made; and those of header_in.
[[nodiscard]] RedisHeader header_at(Cluster& cluster, const RedisPlace& place);

// The header of a new filter in one string. Error{too_large}: no string holds so many bits; and
// those of validate.
[[nodiscard]] RedisHeader header_of_string(const Plan& plan, const Hasher& hasher);

// Lua functions for scripts that make strings.
//
// A server does not undo what a script did before a command that fails, for want of memory or of a
// right. So only RENAME removes what is replaced; a right that is needed after it is used before it
// too; and until then what will be put in a place has a time to live.
//
// make: a string of zeros with a header, up to the byte `last`. put: puts in its place what has a
// time to live.
constexpr std::string_view kMakeAndPut =
    "local function make(key, header, last, expires) "
    "if expires then redis.call('PERSIST', key) redis.call('EXPIRE', key, 600) end "
    "redis.call('SETRANGE', key, last, '\\0') "
    "if expires then redis.call('EXPIRE', key, 600) end "
    "redis.call('SETRANGE', key, 0, header) end "
    "local function put(key, place) "
    "redis.call('RENAME', key, place) redis.call('PERSIST', place) end ";

// ---- new shards that are strings of zeros: all of a filter's, or none (shard_strings.cpp) ---------

struct ShardString {
  std::string key;
  std::string header;
};

// As shard_maker.hpp makes them; the first string stands for the filter and is made last. `bytes`: of
// each string, which ends with the identity of its shard. Error{exists, locked}.
void make_shard_strings(Cluster& cluster, const std::array<char, 8>& identity,
                        const std::vector<ShardString>& strings, std::uint64_t bytes);

}  // namespace bloomery::detail
