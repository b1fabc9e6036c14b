// The shards of a filter: the shard of a key, the Redis keys of the shards, and their identities.
//
// Shard i of s has the Redis key `name:{t}`, where t is a decimal number. The 16384 hash slots are
// divided into s ranges of equal size; range r begins at slot ceil(r * 16384 / s). Let r0 be the
// range of the tag "0", whose slot is 13907. Shard i has range (r0 + i) mod s, and its t is the
// smallest number whose slot is in that range. So
//   - shard 0 is `name:{0}` for every s: a client that opens a filter begins there and learns s;
//   - a node with an n-th of the slots, in one piece, has an n-th of the shards, or one shard more
//     or less if s is not a multiple of n;
//   - shard i of every filter with s shards is in the same slot, so that two can be merged there.
// With t = i, three nodes would get none, two and one of three shards.
#pragma once

#include <bloomery/hash.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::detail {

// The keys in the order of the shards. Error{invalid_argument}: the name contains a '{', or `shards` is not from 1 to
// kMaxRedisShards.
[[nodiscard]] std::vector<std::string> shard_keys(std::string_view name, std::uint32_t shards);
[[nodiscard]] std::string first_shard_key(std::string_view name);
// The name of the filter in the key of any shard.
[[nodiscard]] std::string name_of_shards(std::string_view key);

// A new identity for a filter; each of its strings or records contains it. It is random and not zero, and no shard
// derives zero from it.
[[nodiscard]] std::array<char, 8> new_identity();
// The identity of a shard that is a string. It differs for each shard, so that a shard is not taken for another one.
[[nodiscard]] std::array<char, 8> identity_of_shard(const std::array<char, 8>& whole,
                                                    std::uint32_t shard);

struct InShard {
  std::uint32_t shard;
  Hash128 hash;
};

// The shard of a key, and its hash within the shard.
//
// The high half h of a hash is a fraction of 2^64. h * s has a whole part, which is the shard, and a fraction, which
// replaces h in the shard: they are two digits of one number, and independent. For layouts of one block more holds:
// with L blocks in each of s shards,
//     floor(h * s * L) = floor(h * s) * L + floor(frac(h * s) * L),
// so the shards, one after the other, are bit for bit the filter of s * L blocks in one piece, and have its
// false-positive rate. With one shard the hash does not change.
[[nodiscard]] inline InShard in_shard(Hash128 hash, std::uint32_t shards) noexcept {
  const uint128 product = static_cast<uint128>(hash.high) * shards;
  return {static_cast<std::uint32_t>(product >> 64),
          {static_cast<std::uint64_t>(product), hash.low}};
}

}  // namespace bloomery::detail
