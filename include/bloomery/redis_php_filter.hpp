// The bucket of a PHP class in Redis, shared with its PHP clients. The string has only the bits, from offset 0 on.
//
//   auto bucket = RedisPhpFilter::open({{.host = "10.0.0.7"}, "rptc"},
//                                      PhpScheme::string_hashes("BKDR,SDBM,JS"));
//   if (bucket.insert(comment)) publish(comment);   // true: certainly new
//
// A bucket has no parameters. The client can only check that the key holds a string, that it is not
// longer than the bits of the scheme, and that it never becomes shorter than before.
//
// Threads: one thread at a time may use an object.
#pragma once

#include <bloomery/detail/text_calls.hpp>
#include <bloomery/php_filter.hpp>
#include <bloomery/redis_url.hpp>
#include <bloomery/stats.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace bloomery {

namespace detail {
template <class Key>
class Generations;
}  // namespace detail

// Every operation may throw what those of RedisFilter throw. Error{wrong_kind}: the place is in
// shards.
class RedisPhpFilter : private detail::TextCalls<RedisPhpFilter> {
 public:
  // Error{missing}: the Redis key does not exist. This is also the case for an empty bucket of a PHP
  // class: see create().
  static RedisPhpFilter open(const RedisPlace& place, const PhpScheme& scheme);
  // Creates an empty bucket. Error{exists}.
  static RedisPhpFilter make(const RedisPlace& place, const PhpScheme& scheme);
  // A bucket whose key may be absent, which is how PHP classes begin.
  static RedisPhpFilter create(const RedisPlace& place, const PhpScheme& scheme);

  // Creates a bucket with the bits of a filter, which appears whole or not at all. Error{exists}.
  static RedisPhpFilter store(const RedisPlace& place, const PhpFilter& filter);
  // Loads the bits into memory.
  [[nodiscard]] PhpFilter load();

  RedisPhpFilter(RedisPhpFilter&&) noexcept;
  RedisPhpFilter& operator=(RedisPhpFilter&&) noexcept;
  ~RedisPhpFilter();

  // From now on look-ups and inserts also read the older bucket, into which rotate() moves this one: a
  // key in the older bucket is not new, and look-ups find it. The first call after a rotation throws
  // Error{missing | corrupt}, because a rotated bucket cannot be distinguished from an evicted one:
  // open it again.
  void ask_older();

  bool insert(std::string_view key) { return insert_many({&key, 1}) == 1; }
  [[nodiscard]] bool may_contain(std::string_view key) const {
    return may_contain_many({&key, 1}) == 1;
  }
  // As in RedisFilter, for text and bytes.
  using TextCalls::insert_many;
  using TextCalls::may_contain_many;
  [[nodiscard]] std::size_t acknowledged() const noexcept;
  // Inserts a key, and writes to `before` for each of its bits, in the order of the scheme's hashes, whether the newer
  // bucket already had it, as SETBIT replies to a PHP class. Returns the number of bits.
  // Error{invalid_argument}: `before` has room for fewer answers.
  std::size_t insert_bits(std::string_view key, std::span<bool> before);

  // The statistics of the newer bucket alone, over all bits of the scheme even if the string is shorter.
  // Empty a bucket when half of its bits are set. The items and the false-positive rate are computed for
  // good hashes; with the PHP hashes there are more items, and the rate is higher.
  [[nodiscard]] Stats stats();

  [[nodiscard]] const PhpScheme& scheme() const noexcept { return scheme_; }

  // Renames the bucket to older_redis_key() and drops the older bucket there, so that the bucket under
  // the key is empty again. False: the key does not exist, because nothing was added since the last
  // rotation; then the older bucket stays, so that a second call in a row forgets nothing.
  // Error{not_a_filter}: one of the two keys does not hold a string. Only clients that read both keys,
  // the newer one first, lose nothing; a PHP class that reads only the key forgets everything at once
  // (docs/migrate.md).
  static bool rotate(const RedisPlace& place);

 private:
  using Buckets = detail::Generations<std::string_view>;
  friend detail::TextCalls<RedisPhpFilter>;
  RedisPhpFilter(const RedisPlace& place, const PhpScheme& scheme);
  std::size_t do_insert(Texts keys, std::span<bool> fresh);
  std::size_t do_contain(Texts keys, std::span<bool> found) const;
  void begin_call() const noexcept;  // of what acknowledged() counts

  RedisPlace place_;
  PhpScheme scheme_;
  std::unique_ptr<Buckets> buckets_;
};

}  // namespace bloomery
