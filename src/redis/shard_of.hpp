// Which shard has a key, and what is left of its hash for the place within.
//
// The high half h of a hash is a fraction of 2^64. h * s has a whole part, the shard, and a
// fraction, which takes the place of h there: two digits of one number, and as independent. In the
// layouts of one block that is more than independence: with L blocks in each of s shards,
//     floor(h * s * L) = floor(h * s) * L + floor(frac(h * s) * L),
// so that the shards, one after the other, are bit for bit the filter of s * L blocks in one piece,
// and its rate is theirs.
#pragma once

#include <bloomery/hash.hpp>

#include <cstdint>

namespace bloomery::detail {

struct InShard {
  std::uint32_t shard;
  Hash128 hash;
};

[[nodiscard]] inline InShard in_shard(Hash128 hash, std::uint32_t shards) noexcept {
  const uint128 product = static_cast<uint128>(hash.high) * shards;
  return {static_cast<std::uint32_t>(product >> 64),
          {static_cast<std::uint64_t>(product), hash.low}};
}

}  // namespace bloomery::detail
