// A filter in plain Redis strings that forgets: two generations, of which the older is dropped.
//
//   auto seen = RotatingRedisFilter::create({.host = "10.0.0.7"}, "comments", 1'000'000, 0.001);
//   if (seen.insert(comment)) publish(comment);    // true: in neither generation
//   seen.rotate();                                 // once a day, by one of the clients
//
// Keys go into the newer generation; look-ups ask both. `rotate` drops the older, makes the newer
// the older and begins a new one, at once for all clients: a key is found for at least as long as
// from one rotation to the next, and forgotten after the second one.
//
// The newer generation is the key itself, the older stands beside it ("{comments}:older"): two
// strings of full size, each with the parameters of the whole, one identity for all generations and
// a generation that counts. Every command reads both. So clients follow a rotation without being
// told, and a generation that is missing, cut short, or of another filter is an Error and never
// "absent". Look-ups ask the newer first: a rotation between the two questions moves what the newer
// had to where the second one looks.
//
// Threads: one at a time for each object. Objects are independent of each other.
#pragma once

#include <bloomery/redis_filter.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery {

namespace detail {
struct RedisHeader;
}

// Every operation may throw what those of RedisFilter throw.
class RotatingRedisFilter {
 public:
  // For `capacity` keys a generation, and a rate that both together keep to: each is planned for
  // half of it. With `replace` an existing rotating filter goes. Error{exists, too_large}.
  static RotatingRedisFilter create(const RedisAddress& address, std::string_view key,
                                    std::uint64_t capacity, double fpr,
                                    const Hasher& hasher = Hasher(),
                                    std::optional<Layout> layout = std::nullopt,
                                    bool replace = false);
  // Error{wrong_kind}: a filter that does not rotate.
  static RotatingRedisFilter open(const RedisAddress& address, std::string_view key);

  RotatingRedisFilter(RotatingRedisFilter&&) noexcept;
  RotatingRedisFilter& operator=(RotatingRedisFilter&&) noexcept;
  ~RotatingRedisFilter();

  // Adds a key to the newer generation, also where the older has it: that keeps it alive. True: it
  // was certainly in neither.
  template <detail::Key K>
  bool insert(const K& key) {
    const Hash128 hash = detail::hash_key(hasher_, key);
    return insert_hashes({&hash, 1}) == 1;
  }
  // False: the key was certainly not inserted since the last rotation but one.
  template <detail::Key K>
  [[nodiscard]] bool may_contain(const K& key) {
    const Hash128 hash = detail::hash_key(hasher_, key);
    return may_contain_hashes({&hash, 1}) == 1;
  }
  template <detail::KeyRange R>
  std::size_t insert_many(R&& keys, std::span<bool> fresh = {}) {
    return insert_hashes(detail::hash_keys(hasher_, keys), fresh);
  }
  template <detail::KeyRange R>
  std::size_t may_contain_many(R&& keys, std::span<bool> found = {}) {
    return may_contain_hashes(detail::hash_keys(hasher_, keys), found);
  }
  // Two round trips: the newer generation, then the older for the keys that need it.
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh = {});
  std::size_t may_contain_hashes(std::span<const Hash128> hashes, std::span<bool> found = {});
  // After an error, how many of the first keys the newer generation has for certain.
  [[nodiscard]] std::size_t acknowledged() const noexcept;

  // The newer generation's number, from 2 on, as a new filter has an older one: how often the filter
  // was rotated, and 2. Error{mismatch}: the key holds another filter by now.
  [[nodiscard]] std::uint64_t generation();
  // Rotates, unless another client has done so since the generation was `from`: then false, and
  // nothing is changed. So of clients that rotate at the same time one does. Where the answer is
  // lost with the connection, the generation is asked for, and says whether it was done.
  // It also makes a lost older generation good, for that is what it drops. The server makes the new
  // string of zeros (0.1 s for 512 MiB) and frees the old one in the background.
  bool rotate(std::uint64_t from);
  bool rotate() { return rotate(generation()); }

  struct Fill {
    RedisFill newer, older;
    double current_fpr = 0;  // of both together
  };
  [[nodiscard]] Fill watch();
  // Reads the headers and lengths of both strings: are they whole, and one generation and the one
  // before it of this filter? Error{missing, corrupt, mismatch}. Bits carry no checksums.
  void verify();

  // Of one generation; its rate is half of that of the whole.
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return plan_.capacity; }
  [[nodiscard]] double fpr() const noexcept { return plan_.fpr * 2; }

 private:
  RotatingRedisFilter(const detail::RedisHeader& header, std::unique_ptr<detail::RedisBits> newer,
                      std::unique_ptr<detail::RedisBits> older);
  // The answers of the older generation to those of `hashes` that `asked` names.
  std::vector<bool> ask_older(std::span<const Hash128> hashes, std::span<const std::size_t> asked,
                              std::vector<std::uint64_t>& generations);
  void require_next(std::uint64_t newer, std::uint64_t older) const;
  // The number in the header of one of the two. Error{mismatch}: it is another filter's.
  std::uint64_t generation_in(detail::RedisBits& bits) const;

  Plan plan_;
  Hasher hasher_;
  std::array<char, 8> identity_;  // of all generations
  std::unique_ptr<detail::RedisBits> newer_, older_;
};

// A rotation for the bucket of a PHP class, which has no parameters to keep: what the key holds moves
// to the name beside it, and the key begins empty, as such classes begin. What was there is dropped.
// False: the key is not there, for nothing was added since the last time; what is beside it stays, so
// that a second call in a row forgets nothing. Error{not_a_filter}: one of both is no string. Only
// clients that ask both names, the key first, lose nothing; a PHP class that asks the key alone forgets
// everything at once (docs/migrate.md).
bool rotate_php_bucket(const RedisAddress& address, std::string_view key);
// The name of the older generation of a key.
[[nodiscard]] std::string older_redis_key(std::string_view key);

}  // namespace bloomery
