// Keys as bits of many Redis strings, set and tested in batches that are split among the shards.
#pragma once

#include <bloomery/detail/layout.hpp>
#include <bloomery/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "redis/batches.hpp"
#include "redis/bit_string.hpp"
#include "redis/block_reads.hpp"
#include "redis/cluster.hpp"
#include "redis/fill.hpp"
#include "redis/redis_header.hpp"

namespace bloomery::detail {

class ShardedBits {
 public:
  using Change = BitString::Change;

  // `header` is that of any shard.
  ShardedBits(Cluster cluster, const RedisHeader& header, std::vector<std::string> keys);

  // Returns how many answers are true: was a bit of the key off; are all of them on.
  std::size_t run(Change change, std::span<const Hash128> hashes, std::span<bool> answers);
  // The keys of the last run before the first that is not done.
  [[nodiscard]] std::size_t acknowledged() const noexcept;

  // That every shard is there, and is what it has to be.
  void check();
  // Of all bits, or of a sample, and then with a standard error.
  Share share_of_ones();
  // Bytes of the bits of all shards, one after the other, from byte `from` on.
  void read(std::uint64_t from, std::span<std::byte> out);

  [[nodiscard]] const std::vector<std::string>& keys() const noexcept { return keys_; }
  [[nodiscard]] Cluster& cluster() noexcept { return cluster_; }

 private:
  Batch batch(Change change, std::span<const Hash128> hashes, std::size_t first, std::size_t count);
  Order plain_order(Change change, std::uint32_t shard, std::span<const Hash128> hashes,
                    std::span<const std::size_t> places) const;
  // The places of a key's bits in its shard's string, as SETBIT counts them.
  void offsets_of(Hash128 in_shard, std::span<std::uint64_t> offsets) const;
  void remove_debris(const Batch& batch);

  Cluster cluster_;
  RedisHeader header_;
  std::vector<std::string> keys_;
  std::vector<BitString> strings_;
  Positions positions_;
  std::vector<bool> done_;
  std::map<std::size_t, BlockReads> reads_;  // on the way, by the first key of each
};

}  // namespace bloomery::detail
