// One Bloom filter in many Redis strings: beyond a string's 2^32 bits, and beyond one machine.
//
//   auto seen = ShardedRedisFilter::create({.host = "10.0.0.7"}, "urls", plan(5'000'000'000, 0.001));
//   auto same = ShardedRedisFilter::open({.host = "10.0.0.8"}, "urls");  // in another process
//   if (same.insert(url)) fetch(url);                                    // true: certainly new
//
// The address is that of any node of a Redis Cluster, or of a server that is none. Shard i of s is
// a string `urls:{t}` of its own; which t, and so which node, follows from i and s alone
// (docs/format.md). A key is in one shard, which its hash chooses, so that a look-up is one
// command for one node; a batch is split, and all nodes work on it at once.
//
// Redirections are followed: slots may move while the filter is in use. Every command of every
// shard also reads which filter and which shard it has met. So a shard that is missing, evicted,
// replaced, cut short or under another's key is an Error and never "absent".
//
// Threads: one at a time for each object. Objects are independent of each other.
#pragma once

#include <bloomery/detail/keys.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/redis_filter.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery {

// Shards of one filter; with 512 MiB each, 512 GiB.
constexpr std::uint32_t kMaxRedisShards = 1024;

namespace detail {
class ShardedBits;
}

// Every operation may throw what those of RedisFilter throw, and
//   unavailable  also: a node of the cluster is gone, or sends commands round in circles
//   locked       the filter is being made just now
class ShardedRedisFilter {
 public:
  // Without a number of shards: a multiple of the nodes, so many that no shard has more than
  // 256 MiB. The plan is what the filter keeps to as a whole; its bits become a multiple of 512 for
  // each shard, in the layouts blocked2 and standard a little more (docs/redis-cluster.md).
  //
  // Shard 0 stands for the filter and is made last: whoever opens it finds all or nothing. Where
  // making it fails, what was made is removed; where its maker dies, what is left are empty shards
  // and a claim that expires within a minute, and the next create takes them over.
  // Error{exists}: shard 0 exists, or another shard's key holds something that is not empty.
  static ShardedRedisFilter create(const RedisAddress& address, std::string_view name,
                                   const Plan& plan, std::uint32_t shards = 0,
                                   const Hasher& hasher = Hasher());
  // Takes the parameters from shard 0, and checks every other.
  static ShardedRedisFilter open(const RedisAddress& address, std::string_view name);

  ShardedRedisFilter(ShardedRedisFilter&&) noexcept;
  ShardedRedisFilter& operator=(ShardedRedisFilter&&) noexcept;
  ~ShardedRedisFilter();

  // As RedisFilter's.
  template <detail::Key K>
  bool insert(const K& key) {
    const Hash128 hash = detail::hash_key(hasher_, key);
    return insert_hashes({&hash, 1}) == 1;
  }
  template <detail::Key K>
  [[nodiscard]] bool may_contain(const K& key) {
    const Hash128 hash = detail::hash_key(hasher_, key);
    return may_contain_hashes({&hash, 1}) == 1;
  }
  // Of equal keys in one batch, one at least is told "new" where all were; while a slot moves it
  // need not be the first.
  template <detail::KeyRange R>
  std::size_t insert_many(R&& keys, std::span<bool> fresh = {}) {
    return insert_hashes(detail::hash_keys(hasher_, keys), fresh);
  }
  template <detail::KeyRange R>
  std::size_t may_contain_many(R&& keys, std::span<bool> found = {}) {
    return may_contain_hashes(detail::hash_keys(hasher_, keys), found);
  }
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh = {});
  std::size_t may_contain_hashes(std::span<const Hash128> hashes, std::span<bool> found = {});

  // How many of the first keys of the last batch are done. After an error later ones may be done
  // too: a node that is gone stops its own keys, and not those that others already have.
  [[nodiscard]] std::size_t acknowledged() const noexcept;

  // The bits as they stand, of all shards one after the other, from byte `from` on. In the layouts of
  // one block they are those of the filter in one piece, plan() and hasher() (docs/format.md); in
  // blocked2 and standard those of a filter of an s-th of the bits for each shard. Of the keys that
  // others insert meanwhile some may be in it. Error{invalid_argument}: there are fewer bytes.
  void read(std::uint64_t from, std::span<std::byte> out);

  // How full the whole is. A sample has as much of each shard.
  [[nodiscard]] RedisFill watch();

  // Of the whole.
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }
  // The Redis keys of the shards, shard 0 first. To remove the filter, UNLINK them in this order.
  [[nodiscard]] const std::vector<std::string>& keys() const noexcept;
  // Nodes that have slots; 1 where there is no cluster.
  [[nodiscard]] std::size_t nodes();

 private:
  ShardedRedisFilter(const Plan& plan, const Hasher& hasher,
                     std::unique_ptr<detail::ShardedBits> bits);

  Plan plan_;
  Hasher hasher_;
  std::unique_ptr<detail::ShardedBits> bits_;
};

}  // namespace bloomery
