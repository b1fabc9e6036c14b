// A filter in shards that is made beside what has its name, and put in its place when it is whole.
//
//   auto writer = ShardedRedisWriter::of_bits({.host = "10.0.0.7"}, "urls", filter.plan(),
//                                             filter.hasher(), {.shards = 12});
//   writer.write(0, filter.bytes());   // in pieces of any size, in any order
//   writer.publish();
//
// The new shards have names of their own in the slots of those that they become, and a time to
// live, so that a writer that dies leaves nothing for longer than ten minutes, and what was there
// as it was. `publish` renames them one by one, as no transaction goes over the nodes of a cluster,
// shard 0 last. Until then nobody opens the new filter; who has the old one open, or opens it in
// that moment, is told by a shard's identity that it is another's, Error{mismatch}: "absent" is
// never answered. Where a rename fails the old shards are put back. Only a writer that dies, or is
// cut off, between the first rename and the last leaves some shards of the old filter and some of
// the new: an error for every client, which the next writer with `replace` mends.
//
// Threads: one at a time for each object.
#pragma once

#include <bloomery/sharded_redis_filter.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace bloomery {

namespace detail {
class ShardsInTheMaking;
}

struct ShardedRedisWriterOptions {
  // 0: as many as the replaced filter has, and without one as `create`; of bits, the nearest number
  // that divides them.
  std::uint32_t shards = 0;
  // A filter in shards goes, one of which shards are lost too. Its number of shards stays, for it is
  // in their names, and none becomes shorter: whoever still has the old filter open would write
  // behind the end. Nothing else is ever replaced.
  bool replace = false;
};

// Every operation may throw what those of ShardedRedisFilter throw, and
//   no_space, missing  also: the server has dropped a new shard, for want of memory or as nothing was
//             written for ten minutes (keep_alive)
class ShardedRedisWriter {
 public:
  // For the bits of another filter: the plan is taken as it is. In the layouts of one block any
  // number of shards that divides the blocks has the same bits, one after the other. pair and
  // standard have other bits for every number, and those of the filter in one piece in one shard.
  // Error{exists}; {mismatch}: that filter's shards are others; {invalid_argument}: the blocks do
  // not divide; {too_large}.
  static ShardedRedisWriter of_bits(const RedisAddress& address, std::string_view name,
                                    const Plan& plan, const Hasher& hasher,
                                    const ShardedRedisWriterOptions& options = {});
  // For keys: the plan is enlarged as `create` does. Errors as above, and those of `create`.
  static ShardedRedisWriter of_keys(const RedisAddress& address, std::string_view name,
                                    const Plan& plan, const Hasher& hasher,
                                    const ShardedRedisWriterOptions& options = {});

  ShardedRedisWriter(ShardedRedisWriter&&) noexcept;
  ShardedRedisWriter& operator=(ShardedRedisWriter&&) noexcept;
  // Without publish(): what was written goes.
  ~ShardedRedisWriter();

  // Sets bytes of the bits of all shards, one after the other. They must be zeros yet.
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  // As ShardedRedisFilter's.
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh = {});
  // For one who has nothing to write for minutes: keeps what is written, and does nothing more than
  // once in a minute. The other calls do it too.
  void keep_alive();
  // As the finished filter's.
  [[nodiscard]] RedisFill watch();

  // Puts it in its place; once. Error{exists}: one of the keys has something that is not replaced;
  // {locked}: another is being put there.
  void publish();

  [[nodiscard]] const Plan& plan() const noexcept;
  [[nodiscard]] const Hasher& hasher() const noexcept;
  [[nodiscard]] std::uint32_t shards() const noexcept;

 private:
  explicit ShardedRedisWriter(std::unique_ptr<detail::ShardsInTheMaking> shards);

  std::unique_ptr<detail::ShardsInTheMaking> shards_;
};

}  // namespace bloomery
