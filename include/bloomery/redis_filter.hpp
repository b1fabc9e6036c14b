// Plain filters in Redis strings, for servers without a module: in one string, or in shards over all
// nodes of a cluster.
//
//   const RedisPlace place({.host = "10.0.0.7"}, "urls");
//   auto seen = RedisFilter::create(place, plan(10'000'000, 0.001));
//   auto same = RedisFilter::open(place);   // in another process
//   if (same.insert(url)) fetch(url);       // true: certainly new
//
// A filter in one string is the value of the Redis key itself: a header of 128 bytes (docs/format.md),
// then its bits, at most kMaxRedisBits. In shards (the third part of a place) it may be larger than a
// string and than a machine: shard i of s is a string `urls:{t}`, where t, and so the node, depends only
// on i and s. The hash of a key selects its shard, so that a look-up is one command to one node; a batch
// is split, and all nodes work on it at once. Slots may move while the filter is in use, because the
// client follows redirections. A filter in one string belongs to the server at the address, which should
// be the node of a cluster that has the key.
//
// An insert is one BITFIELD command (in one string a script, for up to four keys and for those with a bit in the last
// byte), which the server executes atomically: no reader sees half a key, and if two clients insert the same new key,
// at least one gets the answer "new". Look-ups of eight keys or more read their blocks in a transaction. Many keys cost
// one round trip for each 2,048 keys (in shards: for each 2,048 per node) or fewer; an insert of more than four keys
// into one string first asks for its length, which costs one more round trip per call.
//
// Promises: never "absent" for a key whose insert was acknowledged, as long as the servers keep the
// strings. Every command also reads the identity of the filter and of the shard that answers: if a
// string was deleted, evicted, replaced, cut short or stored under another key, every client gets an
// Error from then on. Keys that a failover of Redis loses are lost. For TLS see RedisTls (redis_url.hpp).
//
// Threads: one thread at a time may use an object. Objects are independent of each other.
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
struct OpenStrings;
class StringBits;
struct RedisHeader;
}  // namespace detail

// Every operation on Redis servers may throw
//   unavailable  not reached, no answer in time, hung up, LOADING, CLUSTERDOWN, MOVED (in one string);
//                a node of the cluster is gone, or the nodes redirect in circles
//   denied       AUTH, or a right that the user lacks (docs/configuration.md lists those needed)
//   missing      the filter, or one of its strings, does not exist (any more)
//   mismatch, corrupt, not_a_filter  the string has another filter, was cut short, or is something else
//   read_only    the server is a replica and refuses inserts
//   no_space     the memory limit of the server
//   io           any other error reply of the server, in its words
// After such an error acknowledged() says how many keys of the call are done, counted from the first. The later keys
// may be done or not: repeating their inserts is harmless, but then perhaps no client gets the answer "new". The next
// call connects again. A connection that was closed while it idled is no error if the same server can tell that it has
// lost nothing since (docs/configuration.md).
class RedisFilter : public detail::KeyCalls<RedisFilter> {
 public:
  // Error{exists}: the place holds something. With `replace` a filter in one string replaces a filter in one
  // string, and a filter in shards replaces one with the same number of shards; no shard may become shorter,
  // and nothing else is ever replaced. Error{too_large}: the bits do not fit into the strings. 0 shards means
  // a multiple of the number of nodes, large enough that no shard has more than 256 MiB. The bits of the plan
  // are rounded up to a multiple of 512 for each shard; the layouts blocked2 and standard get a few more bits,
  // so that the false-positive rate of the whole filter is the stated one (docs/redis-cluster.md). Shard 0
  // represents the filter and is made last, so `open` finds the complete filter or nothing. If `create` fails,
  // it removes the shards that it made. If its process dies, empty shards and a claim remain; the claim
  // expires within a minute, and then the next `create` takes over.
  // Error{locked}: another process is making a filter there.
  static RedisFilter create(const RedisPlace& place, const Plan& plan,
                            const Hasher& hasher = Hasher(), bool replace = false);
  // Opens a filter with the parameters that the server has. What a client of a larger filter, which was in its string
  // before, has written behind its end is cut off, with the rights to EVAL and SET. Error{missing}; {wrong_kind}: the
  // filter is in shards and the place is not, or the reverse, or the filter rotates; {mismatch}: it has another number
  // of shards; {locked}: a process is making it.
  static RedisFilter open(const RedisPlace& place);
  // Creates a filter with all the bits of another one, as RedisFilterWriter::of_bits does.
  static RedisFilter store(const RedisPlace& place, const FilterView& filter, bool replace = false);

  RedisFilter(RedisFilter&&) noexcept;
  RedisFilter& operator=(RedisFilter&&) noexcept;
  ~RedisFilter();

  // The calls of KeyCalls: insert, may_contain, insert_many, may_contain_many, insert_hashes,
  // may_contain_hashes, hash (detail/key_calls.hpp). If a call has several equal new keys, at least one of
  // them gets the answer "new": the first one, unless a slot moves during the call. Many keys are hashed and
  // sent in parts of 262,144.
  bool insert_hash(Hash128 hash) { return insert_hashes({&hash, 1}) == 1; }
  [[nodiscard]] bool may_contain_hash(Hash128 hash) const {
    return may_contain_hashes({&hash, 1}) == 1;
  }

  // How many keys of the last call are done, counted from the first.
  [[nodiscard]] std::size_t acknowledged() const noexcept;

  // Counts the bits on the servers, also while other clients insert. It reads all bits up to 4 MiB, and
  // a sample of 4 MiB from larger filters.
  [[nodiscard]] Stats stats();

  // Reads the bytes of the bits from byte `from` on; shards follow each other. In the layouts with one
  // block per key (blocked, blocked128, blocked64) the shards are parts of one filter's bits; in the
  // other layouts each shard is a filter of its own. Keys that other clients insert at the same time may
  // or may not be in the bytes. Error{invalid_argument}: there are fewer bytes.
  void read(std::uint64_t from, std::span<std::byte> out);
  // Loads the filter into memory. Error{wrong_kind}: its shards are not parts of one filter
  // (is_one_piece()).
  [[nodiscard]] Filter load();
  [[nodiscard]] bool is_one_piece() const noexcept;

  // The plan and the hasher of the whole filter.
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }
  // nullopt if the filter is in one string.
  [[nodiscard]] std::optional<std::uint32_t> shards() const noexcept;
  // The Redis keys of its strings, shard 0 first. To remove the filter, UNLINK them in this order.
  [[nodiscard]] const std::vector<std::string>& keys() const noexcept { return keys_; }
  // How many nodes have slots; 1 without a cluster.
  [[nodiscard]] std::size_t nodes();

 private:
  RedisFilter(const detail::RedisHeader& header, detail::Cluster cluster,
              std::vector<std::string> keys);
  friend detail::OpenStrings;
  static RedisFilter open(const RedisPlace& place, const detail::RedisHeader& header,
                          detail::Cluster cluster);

  friend detail::KeyCalls<RedisFilter>;
  std::size_t do_insert(std::span<const Hash128> hashes, bool* fresh);
  std::size_t do_contain(std::span<const Hash128> hashes, bool* found) const;
  static constexpr std::size_t keys_at_once() noexcept { return 262'144; }
  void begin_call() const noexcept;  // of what acknowledged() counts

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
// The new strings have temporary names in the same slots, and a time to live: if a writer dies, the place keeps
// what it had, and the new strings disappear within ten minutes. publish() replaces one string atomically. It
// renames shards one by one, shard 0 last, because there are no cross-node transactions; until the last rename
// the new filter cannot be opened. If a client has the old filter open, or opens it during the renames, the
// identity of a shard shows that the filter was replaced: it gets Error{mismatch}, and never "absent". If a
// rename fails, publish() puts the old shards back. Only if a writer dies, or loses its connection, between the
// first and the last rename, shards of both filters remain: every client gets an error until a writer with
// `replace` puts a complete filter there.
//
// Threads: one thread at a time may use an object.
class RedisFilterWriter {
 public:
  // A writer for the bits of another filter. It takes the plan unchanged. In the layouts with one block
  // per key the number of shards must divide the number of blocks; 0 shards means the number of the
  // replaced filter, or else the nearest valid number to what create() would choose. In blocked2 and
  // standard the bits differ with the number of shards; one shard has the bits of a filter in one
  // piece, and is the default. `replace` works as in RedisFilter::create, and even if shards of the old
  // filter are lost. Error{exists};
  // {mismatch}: the filter to replace has another number of shards, or longer ones; {invalid_argument}:
  // the number of shards does not divide the number of blocks; {too_large}; {locked}.
  static RedisFilterWriter of_bits(const RedisPlace& place, const Plan& plan, const Hasher& hasher,
                                   bool replace = false);
  // A writer for keys. It rounds the plan as create() does. 0 shards means the number of the replaced
  // filter, or else the number that create() would choose. For one string it collects the bits in
  // memory, at most 512 MiB. Errors as of_bits.
  static RedisFilterWriter of_keys(const RedisPlace& place, const Plan& plan, const Hasher& hasher,
                                   bool replace = false);

  RedisFilterWriter(RedisFilterWriter&&) noexcept;
  RedisFilterWriter& operator=(RedisFilterWriter&&) noexcept;
  // If publish() was not called, removes what was written.
  ~RedisFilterWriter();

  // Writes bytes of the bits from byte `at` on; shards follow each other. These bytes must still be zeros.
  // Error{no_space}: the server has dropped the new strings, because its memory is full, or because
  // nothing was written for ten minutes (keep_alive()). Keys for one string outlive it.
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  // As in RedisFilter, but not again after an Error{unavailable}: a failover may have lost what was acknowledged before
  // (collected keys are not lost). Begin again then, with another writer. The same holds for publish().
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh = {});
  // Renews the time to live, at most once per minute; for callers that write nothing for minutes.
  // The other calls do it too.
  void keep_alive();
  // The statistics that the finished filter would have.
  [[nodiscard]] Stats stats();

  // Puts the filter into its place. Call it once. Error{exists}: the place holds something that may not
  // be replaced; {locked}: another writer is putting a filter there; {no_space} as in write(); {unavailable}: a slot
  // of the cluster has moved, or a connection was lost, since the writer began. Begin again with another writer then.
  void publish();

  [[nodiscard]] const Plan& plan() const noexcept;
  [[nodiscard]] const Hasher& hasher() const noexcept;
  // nullopt if the filter is in one string.
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
