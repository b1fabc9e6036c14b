// One Bloom filter in many filters of a Redis module: the memory and the cores of a whole cluster.
//
//   auto seen = ShardedModuleFilter::create({.host = "10.0.0.7"}, "urls",
//                                           {.capacity = 5'000'000'000, .rate = 0.001});
//   auto same = ShardedModuleFilter::open({.host = "10.0.0.8"}, "urls");  // in another process
//   if (same.insert(url)) fetch(url);                                     // true: certainly new
//
// The servers have bloomery.so, or RedisBloom. Shard i of s is a filter `urls:{t}` of its own, made
// by BF.RESERVE, as ShardedRedisFilter's strings are (sharded_redis_filter.hpp); beside shard 0
// stands a record, `urls:{0}:shards`, of what the whole is. A batch is a BF.MEXISTS or BF.INSERT
// for each shard, and all nodes work at once.
//
// The module answers "absent" for a key that is not there at all, and makes a new filter for the
// first BF.ADD. So each shard holds some items that are ours alone, which are asked for in every
// command (after it, where it inserts): a shard that is missing, evicted or replaced is an Error
// and never "absent".
//
// Threads: one at a time for each object. Objects are independent of each other.
#pragma once

#include <bloomery/redis_filter.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery {

namespace detail {
class ShardedModule;
}

struct ModulePlan {
  std::uint64_t capacity = 0;   // keys, in all shards together
  double fpr = 0;               // the stated false-positive rate up to there
  std::uint32_t expansion = 2;  // a full shard grows by this factor; 0: it takes no more keys

  friend bool operator==(const ModulePlan&, const ModulePlan&) = default;
};

// Every operation may throw what those of ShardedRedisFilter throw, and
//   io        also: the server has no module with BF commands
//   no_space  also: a shard that does not grow is full
class ShardedModuleFilter {
 public:
  // Without a number of shards: as ShardedRedisFilter. Each is made for its share of the keys and
  // for 7 standard deviations more, as hashing does not fill them evenly, so that none is full or
  // grows before the whole has reached its capacity (one time in 10^9).
  // All or nothing as there; the record stands for the filter.
  // Error{exists, invalid_argument}.
  static ShardedModuleFilter create(const RedisAddress& address, std::string_view name,
                                    const ModulePlan& plan, std::uint32_t shards = 0);
  // Takes the parameters from the record, and checks every shard.
  static ShardedModuleFilter open(const RedisAddress& address, std::string_view name);

  // Makes a filter that has every key of the sources, which are of one plan and number of shards: one
  // source is copied, of several the others are merged into the copy by BF.MERGE, which bloomery.so
  // alone has. It goes shard by shard and chunk by chunk, between clusters too, and the new filter
  // is put in its place as ShardedRedisWriter does; with `replace` that of another filter of as many
  // shards. It has the identity of the first source, whose marks are among its items; marks of the
  // others count as keys. No source is replaced, nor what a source was made of, from whose marks those
  // of the new filter could not be told. Of the keys that others insert meanwhile some may be in it.
  // Error{mismatch}: the sources differ; {exists}; {wrong_kind}: the module cannot merge.
  static void store(const RedisAddress& address, std::string_view name,
                    std::span<ShardedModuleFilter* const> sources, bool replace = false);

  ShardedModuleFilter(ShardedModuleFilter&&) noexcept;
  ShardedModuleFilter& operator=(ShardedModuleFilter&&) noexcept;
  ~ShardedModuleFilter();

  // True: the key was certainly not there before.
  bool insert(std::string_view key) { return insert_many({&key, 1}) == 1; }
  // False: the key was certainly never inserted.
  [[nodiscard]] bool may_contain(std::string_view key) { return may_contain_many({&key, 1}) == 1; }
  // Many keys; returns how many were certainly new, or may be there. The answers, unless empty,
  // must have room for one a key.
  std::size_t insert_many(std::span<const std::string_view> keys, std::span<bool> fresh = {});
  std::size_t may_contain_many(std::span<const std::string_view> keys, std::span<bool> found = {});

  // How many of the first keys of the last batch are done; as ShardedRedisFilter's.
  [[nodiscard]] std::size_t acknowledged() const noexcept;

  // How many keys were new when they were inserted, as the servers count them.
  [[nodiscard]] std::uint64_t items();

  [[nodiscard]] const ModulePlan& plan() const noexcept;
  // The Redis keys of the shards, shard 0 first; and of the record. To remove the filter, UNLINK
  // the record, then the shards.
  [[nodiscard]] const std::vector<std::string>& keys() const noexcept;
  [[nodiscard]] std::string record_key() const { return keys().front() + ":shards"; }
  // Nodes that have slots; 1 where there is no cluster.
  [[nodiscard]] std::size_t nodes();

 private:
  explicit ShardedModuleFilter(std::unique_ptr<detail::ShardedModule> shards);

  std::unique_ptr<detail::ShardedModule> shards_;
};

}  // namespace bloomery
