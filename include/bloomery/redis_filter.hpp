// Bloom filters in plain Redis strings, for servers without a module: in one string, or in shards
// over all nodes of a cluster.
//
//   const RedisPlace place({.host = "10.0.0.7"}, "urls");
//   auto seen = RedisFilter::create(place, plan(10'000'000, 0.001));
//   auto same = RedisFilter::open(place);   // in another process
//   if (same.insert(url)) fetch(url);       // true: certainly new
//
// A filter in one string is the key itself: 128 bytes that say what it is (docs/format.md), then
// its bits, at most kMaxRedisBits. In shards (the third part of a place) it may be larger than a
// string and than a machine: shard i of s is a string `urls:{t}`, where t, and so the node, follows
// from i and s alone. The hash of a key chooses its shard, so that a look-up is one command for one
// node; a batch is split, and all nodes work on it at once. Slots may move while the filter is in
// use: redirections are followed. A filter in one string belongs to the server at the address,
// which should be the node of a cluster that has the key.
//
// An insert is one BITFIELD command (in one string: for the few keys with a bit in the last byte a
// script), which the server executes at once: no reader sees half a key, and of two clients that
// insert the same new key, at least one gets the answer "new". Look-ups of eight keys or more read their
// blocks in a transaction. A batch costs one round trip for each 2,048 keys or fewer; an insert
// into one string waits for its length first, which costs one more per call.
//
// Promises: never "absent" for a key whose insert was acknowledged, as long as the servers keep the
// strings. Every command also reads which filter, and which shard, has answered: a string that was
// deleted, evicted, replaced, cut short or stored under another key is an Error for every client
// from then on. What a failover of Redis loses is lost. TLS: RedisTls (redis_url.hpp).
//
// Threads: one at a time for each object. Objects are independent of each other.
#pragma once

#include <bloomery/detail/key_calls.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/redis_url.hpp>
#include <bloomery/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bloomery {

namespace detail {
class Cluster;
class StringBits;
struct RedisHeader;
}  // namespace detail

// Every operation on Redis servers may throw
//   unavailable  not reached, no answer in time, hung up, LOADING, CLUSTERDOWN, MOVED (in one string);
//                a node of the cluster is gone, or the nodes redirect in circles
//   denied       AUTH, or a right that the user lacks (docs/configuration.md lists those needed)
//   missing      the filter, or one of its strings, is not there (or no longer)
//   mismatch, corrupt, not_a_filter  it is another filter, was cut short, or is something else
//   read_only    an insert was asked of a replica
//   no_space     the memory limit of the server
//   io           any other error reply of the server, in its words
// After an error acknowledged() is the number of first keys of the call that are done. The later ones may be
// done or not: repeating their inserts is harmless, but then perhaps no client gets the answer "new". The next call
// connects again.
class RedisFilter : public detail::KeyCalls<RedisFilter> {
 public:
  // Error{exists}: the place holds something. With `replace` a filter in one string replaces a
  // filter in one string, and a filter in shards replaces one with the same number of shards, and none of them
  // may become shorter; nothing else is ever replaced. Error{too_large}: the bits do not fit into the strings.
  // Shards: 0 means a multiple of the number of nodes, so many that no shard has more than 256 MiB. The bits of
  // the plan are rounded up to a multiple of 512 for each shard; the layouts blocked2 and standard
  // get a few more, so that the false-positive rate of the whole is the stated one
  // (docs/redis-cluster.md). Shard 0 represents the filter and is made last, so `open` finds all of
  // the filter or nothing. If `create` fails, it removes the shards that it made. If its process dies, empty
  // shards and a claim remain; the claim expires within a minute, and then the next `create` takes over.
  // Error{locked}: another process is making a filter there.
  static RedisFilter create(const RedisPlace& place, const Plan& plan,
                            const Hasher& hasher = Hasher(), bool replace = false);
  // Reads the parameters from the server. Error{missing}; {wrong_kind}: it is in shards and
  // the place is not, or the other way round, or it rotates; {mismatch}: it has another number
  // of shards; {locked}: it is being made.
  static RedisFilter open(const RedisPlace& place);
  // Creates a filter with all the bits of another one, as RedisFilterWriter::of_bits does.
  static RedisFilter store(const RedisPlace& place, const FilterView& filter, bool replace = false);

  RedisFilter(RedisFilter&&) noexcept;
  RedisFilter& operator=(RedisFilter&&) noexcept;
  ~RedisFilter();

  // The calls of KeyCalls: insert, may_contain, insert_many, may_contain_many, insert_hashes,
  // may_contain_hashes, hash (detail/key_calls.hpp). If a call has equal keys that are new, at least one gets
  // the answer "new": the first, unless a slot moves during the call. Many keys are hashed and sent in
  // parts of 262,144.
  bool insert_hash(Hash128 hash) { return insert_hashes({&hash, 1}) == 1; }
  [[nodiscard]] bool may_contain_hash(Hash128 hash) const {
    return may_contain_hashes({&hash, 1}) == 1;
  }

  // The number of first keys of the last call that are done.
  [[nodiscard]] std::size_t acknowledged() const noexcept;

  // Counts the bits on the servers while others may insert: all bits up to 4 MiB, and a sample of 4 MiB
  // above.
  [[nodiscard]] Stats stats();

  // Reads bytes of the bits, from byte `from` on; shards follow each other. In the layouts of
  // one block (blocked, blocked128, blocked64) the shards are parts of one filter's bits; in
  // the others each shard is a filter of its own. Keys that others insert at the same time may or may not
  // be in it. Error{invalid_argument}: there are fewer bytes.
  void read(std::uint64_t from, std::span<std::byte> out);
  // The filter in memory. Error{wrong_kind}: its shards are not one filter (is_one_piece()).
  [[nodiscard]] Filter load();
  [[nodiscard]] bool is_one_piece() const noexcept;

  // Of the whole.
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }
  // Nothing: it is in one string.
  [[nodiscard]] std::optional<std::uint32_t> shards() const noexcept;
  // The Redis keys of its strings, shard 0 first. To remove the filter, UNLINK them in this order.
  [[nodiscard]] const std::vector<std::string>& keys() const noexcept { return keys_; }
  // How many nodes have slots; 1 without a cluster.
  [[nodiscard]] std::size_t nodes();

 private:
  RedisFilter(const detail::RedisHeader& header, detail::Cluster cluster,
              std::vector<std::string> keys);

  friend detail::KeyCalls<RedisFilter>;
  std::size_t do_insert(std::span<const Hash128> hashes, bool* fresh);
  std::size_t do_contain(std::span<const Hash128> hashes, bool* found) const;
  static constexpr std::size_t keys_at_once() noexcept { return 262'144; }
  template <class Work>
  std::size_t around_many(Work work) const {
    begin();
    return work();
  }
  void begin() const noexcept;  // of what acknowledged() counts

  Plan plan_;
  Hasher hasher_;
  std::vector<std::string> keys_;
  std::unique_ptr<detail::StringBits> bits_;
};

// Writes a new filter beside its place, from bits in pieces or from keys, and puts it there when it is whole.
//
//   auto writer = RedisFilterWriter::of_bits(place, filter.plan(), filter.hasher());
//   writer.write(0, filter.bytes());   // in pieces of any size, in any order
//   writer.publish();
//
// The new strings have temporary names in the same slots, and a time to live: if a writer dies, the
// place keeps what it had, and the new strings disappear within ten minutes. publish() replaces one
// string atomically. Shards are renamed one by one, shard 0 last, because there are no cross-node
// transactions. Until then the new filter cannot be opened. A client that has the old one open, or opens
// it at that moment, sees by the identity of a shard that the filter was replaced: Error{mismatch}, and
// never "absent". If a rename fails, the old shards are put back. Only if a writer dies, or loses its connection,
// between the first rename and the last, shards of both filters remain: an error for every client, until
// a writer with `replace` puts a whole filter there.
//
// Threads: one at a time for each object.
class RedisFilterWriter {
 public:
  // For the bits of another filter: the plan is taken as it is. Shards: in the layouts of one block
  // any number works that divides the blocks; 0 means the number of the replaced filter, or else
  // the nearest to what create() would choose. blocked2 and standard have other bits for each
  // number of shards; one shard has those of the filter in one piece, and is their default. With
  // `replace` as RedisFilter::create, also if shards of the old filter are lost. Error{exists};
  // {mismatch}: the filter that is replaced has another number of shards, or longer ones;
  // {invalid_argument}: the blocks do not divide; {too_large}; {locked}.
  static RedisFilterWriter of_bits(const RedisPlace& place, const Plan& plan, const Hasher& hasher,
                                   bool replace = false);
  // For keys: the plan is rounded as create() does. Shards: 0 means the number of the replaced
  // filter, or else as create(). Keys of one string are collected in memory, at most 512 MiB.
  // Errors as of_bits.
  static RedisFilterWriter of_keys(const RedisPlace& place, const Plan& plan, const Hasher& hasher,
                                   bool replace = false);

  RedisFilterWriter(RedisFilterWriter&&) noexcept;
  RedisFilterWriter& operator=(RedisFilterWriter&&) noexcept;
  // Without publish(), what was written is removed.
  ~RedisFilterWriter();

  // Sets bytes of the bits; shards follow each other. They must still be zeros.
  // Error{no_space}: the server has dropped the new strings, because its memory is full, or because
  // nothing was written for ten minutes (keep_alive()).
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  // As in RedisFilter.
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh = {});
  // Renews the time to live, at most once per minute; for callers that write nothing for minutes.
  // The other calls do it too.
  void keep_alive();
  // The statistics that the finished filter would have.
  [[nodiscard]] Stats stats();

  // Puts the filter into its place; once. Error{exists}: the place holds something that is not
  // replaced; {locked}: another filter is being put there; {no_space} as write().
  void publish();

  [[nodiscard]] const Plan& plan() const noexcept;
  [[nodiscard]] const Hasher& hasher() const noexcept;
  // Nothing: it is in one string.
  [[nodiscard]] std::optional<std::uint32_t> shards() const noexcept;

 private:
  enum class Source : std::uint8_t { bits, keys };
  static RedisFilterWriter begin(Source source, const RedisPlace& place, const Plan& plan,
                                 const Hasher& hasher, bool replace);
  class NewStrings;
  explicit RedisFilterWriter(std::unique_ptr<NewStrings> strings);

  std::unique_ptr<NewStrings> strings_;
};

}  // namespace bloomery
