// Bloom filters in plain Redis strings, for servers that load no module.
//
//   auto seen = RedisFilter::create({.host = "10.0.0.7"}, "urls", plan(10'000'000, 0.001));
//   auto same = RedisFilter::open({.host = "10.0.0.7"}, "urls");   // in another process
//   if (same.insert(url)) fetch(url);                              // true: certainly new
//
// A filter is one string: 128 bytes that say what it is (docs/format.md), then its bits. Every
// insert is one BITFIELD command, or for the few keys with a bit in the last byte one script, which the
// server runs at once: no reader sees half a key, and of two clients that insert a new key, one at
// least is told "new". Look-ups of eight keys and more are transactions that read their blocks. What
// belongs to a batch is sent together, so that it costs one round trip for each 2,048 keys or fewer;
// an insert waits for the string's length first, which is one more a call.
//
// Promises: never "absent" for a key whose insert was acknowledged, as long as the server keeps
// the string. Where it does not (deleted, expired, evicted, replaced, cut short), every client
// gets an Error from then on. What a failover of Redis loses, is lost.
// The limit is one string's 2^32 bits. A connection has no TLS, and follows no redirection of a
// cluster: give the address of the node that has the key, or see sharded_redis_filter.hpp for
// larger filters and clusters.
//
// Threads: one at a time for each object. Objects are independent of each other.
#pragma once

#include <bloomery/detail/keys.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/php_filter.hpp>
#include <bloomery/plan.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery {

struct RedisAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 6379;
  std::string socket = {};  // a unix socket's path; then host and port do not count
  std::string user = {};    // with a password: AUTH user password, or AUTH password
  std::string password = {};
  std::uint32_t database = 0;
  // The longest wait for the connection, and for the server to take or send some bytes.
  std::chrono::milliseconds timeout{5'000};
};

// The most bits that a filter in one Redis string can have.
constexpr std::uint64_t kMaxRedisBits = (std::uint64_t{1} << 32) - kBlockBits * 2;

namespace detail {
class Connection;
class RedisBits;
class StringWriter;
}  // namespace detail

// What every operation of the two classes below may throw:
//   unavailable  not reached, no answer in time, hung up, LOADING, CLUSTERDOWN, MOVED
//   denied       AUTH or the rights of the user (docs/configuration.md has those that are needed)
//   missing      the string is not there (any more)
//   mismatch, corrupt, not_a_filter  it is another filter, cut short, or something else
//   read_only    a replica, asked to insert
//   no_space     the server's memory limit
//   io           any other complaint of the server, in its words
// After an error in a batch, acknowledged() says how many of its first keys are done; whether
// later ones are is not known. To insert them again harms nothing, but "new" may then be told to
// nobody. A connection that failed is made anew by the next call.

// How full a filter on a server is, while others may go on filling it. The server counts its bits:
// all of them up to 4 MiB, a sample of 4 MiB above.
struct RedisFill {
  double ones = 0;             // the share of bits that are set
  double error = 0;            // its standard error, from the spread within the sample
  bool sampled = false;        // not all of the bits were counted
  double estimated_items = 0;  // keys that set so many; infinite where all are set
  double current_fpr = 0;      // the false-positive rate of so many
  // Half of the bits or more are set, or the filter holds more keys than it was planned for: time
  // for a larger one, or to rotate.
  bool over_capacity = false;
};

class RedisFilter {
 public:
  // Error{exists}: the key holds something; with `replace` only what is no filter, which is never
  // replaced. Error{too_large}: more than kMaxRedisBits.
  static RedisFilter create(const RedisAddress& address, std::string_view key, const Plan& plan,
                            const Hasher& hasher = Hasher(), bool replace = false);
  // Takes the parameters from the server.
  static RedisFilter open(const RedisAddress& address, std::string_view key);

  // Puts a filter with all the bits of another under the key, at once and whole: until then the
  // key has what it had. Errors as create; those who have an old one open are told {mismatch}.
  static RedisFilter store(const RedisAddress& address, std::string_view key,
                           const FilterView& filter, bool replace = false);
  // The filter as it stands, in memory. Of the keys that others insert meanwhile some may be in it.
  [[nodiscard]] Filter load();
  // A part of its bits, from byte `from` on. Error{invalid_argument}: there are fewer bytes.
  void read(std::uint64_t from, std::span<std::byte> out);

  RedisFilter(RedisFilter&&) noexcept;
  RedisFilter& operator=(RedisFilter&&) noexcept;
  ~RedisFilter();

  // Adds a key. True: it was certainly not there before.
  template <detail::Key K>
  bool insert(const K& key) {
    const Hash128 hash = detail::hash_key(hasher_, key);
    return insert_hashes({&hash, 1}) == 1;
  }
  // False: the key was certainly never inserted.
  template <detail::Key K>
  [[nodiscard]] bool may_contain(const K& key) {
    const Hash128 hash = detail::hash_key(hasher_, key);
    return may_contain_hashes({&hash, 1}) == 1;
  }
  // Many keys, in order; returns how many were certainly new, or may be there. The answers,
  // unless empty, must have room for one a key.
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

  // How many keys of the last batch the server has answered for.
  [[nodiscard]] std::size_t acknowledged() const noexcept;

  [[nodiscard]] RedisFill watch();

  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }

 private:
  RedisFilter(const Plan& plan, const Hasher& hasher, std::unique_ptr<detail::RedisBits> bits);

  Plan plan_;
  Hasher hasher_;
  std::unique_ptr<detail::RedisBits> bits_;
};

// A filter that comes in pieces: under another name until publish(), which puts it under the key at
// once and whole. Dropped before, it leaves the key as it was; a writer that dies leaves a string that
// the server drops ten minutes after the last write.
class RedisFilterWriter {
 public:
  // Error{too_large}: more than kMaxRedisBits.
  RedisFilterWriter(const RedisAddress& address, std::string_view key, const Plan& plan,
                    const Hasher& hasher);
  RedisFilterWriter(const RedisFilterWriter&) = delete;
  RedisFilterWriter& operator=(const RedisFilterWriter&) = delete;
  ~RedisFilterWriter();

  // Sets bytes of the bits. They must be zeros yet.
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  // Once. Errors as RedisFilter::store.
  void publish(bool replace = false);

 private:
  Plan plan_;
  std::unique_ptr<detail::Connection> connection_;
  std::unique_ptr<detail::StringWriter> writer_;
};

// The bucket of a PHP class, shared with its PHP clients: bits alone, from offset 0.
//
// It carries no parameters. What can be checked is: that the key holds a string, one no longer
// than the scheme's bits, and that it never becomes shorter than this object has seen it.
class RedisPhpFilter {
 public:
  // Error{missing}: there is no such key. An empty bucket is one too: see `create`.
  static RedisPhpFilter open(const RedisAddress& address, std::string_view key,
                             const PhpScheme& scheme);
  // A new, empty bucket. Error{exists}.
  static RedisPhpFilter make(const RedisAddress& address, std::string_view key,
                             const PhpScheme& scheme);
  // A bucket that may be absent, as PHP classes begin.
  static RedisPhpFilter create(const RedisAddress& address, std::string_view key,
                               const PhpScheme& scheme);

  // A new bucket with the bits of a filter, at once and whole. Error{exists}.
  static RedisPhpFilter store(const RedisAddress& address, std::string_view key,
                              const PhpFilter& filter);
  // The bits as they stand, in memory.
  [[nodiscard]] PhpFilter load();

  RedisPhpFilter(RedisPhpFilter&&) noexcept;
  RedisPhpFilter& operator=(RedisPhpFilter&&) noexcept;
  ~RedisPhpFilter();

  bool insert(std::string_view key) { return insert_many({&key, 1}) == 1; }
  [[nodiscard]] bool may_contain(std::string_view key) { return may_contain_many({&key, 1}) == 1; }
  std::size_t insert_many(std::span<const std::string_view> keys, std::span<bool> fresh = {});
  std::size_t may_contain_many(std::span<const std::string_view> keys, std::span<bool> found = {});
  [[nodiscard]] std::size_t acknowledged() const noexcept;

  // Of all the scheme's bits, whether the string is that long or not. Past one half the PHP classes
  // are to be emptied. Items and rate are what good hashes would give; of the PHP ones there are
  // more items, and the rate is higher.
  [[nodiscard]] RedisFill watch();

  [[nodiscard]] const PhpScheme& scheme() const noexcept { return scheme_; }

 private:
  RedisPhpFilter(const PhpScheme& scheme, std::unique_ptr<detail::RedisBits> bits);

  PhpScheme scheme_;
  std::unique_ptr<detail::RedisBits> bits_;
};

}  // namespace bloomery
