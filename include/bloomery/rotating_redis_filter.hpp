// A rotating filter in Redis strings: it forgets by dropping the older of two generations.
//
//   auto seen = RotatingRedisFilter::create({{.host = "10.0.0.7"}, "comments"}, 1'000'000, 0.001);
//   if (seen.insert(comment)) publish(comment);    // true: in neither generation
//   seen.rotate();                                 // once a day, by one of the clients
//
// Keys go into the newer generation; look-ups ask both. rotate() drops the older generation, makes the
// newer one the older and begins a new one, at once for all clients: a key is found at least for the time
// between two rotations, and forgotten at the second rotation after its insert.
//
// The newer generation is under the key itself, the older one under "{comments}:older": two strings of
// full size, each with the parameters of the whole filter, the same identity, and the number of its
// generation. Every command reads both. So clients notice a rotation by themselves, and a generation that
// is missing, cut short, or of another filter is an Error and never "absent". Look-ups ask the newer
// generation first: if a rotation happens between the two questions, the second question goes to the
// generation that was the newer one.
//
// In shards (redis_filter.hpp) each shard is two such strings and rotates atomically. The shards rotate
// one after the other, the first shard last. A key is in one shard only, so each key still sees an atomic
// rotation. If a client dies while it rotates, some shards are a generation ahead, which is harmless: the
// next rotate() rotates the others.
//
// Threads: one thread at a time may use an object. Objects are independent of each other.
#pragma once

#include <bloomery/detail/key_calls.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/redis_url.hpp>
#include <bloomery/stats.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bloomery {

namespace detail {
class Cluster;
template <class Key>
class Generations;
struct OpenStrings;
class Request;
struct RedisHeader;
class StringBits;
}  // namespace detail

// Every operation may throw the errors of RedisFilter.
class RotatingRedisFilter : public detail::KeyCalls<RotatingRedisFilter> {
 public:
  // Creates a filter for `capacity` keys per generation. Both generations together have the
  // false-positive rate `fpr`: each is planned for half of it. With `replace` it replaces an existing
  // rotating filter. In shards (the third part of a place; 0: as many as RedisFilter::create would make)
  // it may be larger than a string and than a machine. Error{exists | too_large}; {locked}: another
  // process is making a filter there; {wrong_kind}: a filter in shards is not replaced.
  static RotatingRedisFilter create(const RedisPlace& place, std::uint64_t capacity, double fpr,
                                    const Hasher& hasher = Hasher(),
                                    std::optional<Layout> layout = std::nullopt,
                                    bool replace = false);
  // Error{wrong_kind}: the filter does not rotate, or it is in shards and the place is not, or the
  // reverse; {mismatch}: it has another number of shards, or the key is that of the older generation.
  static RotatingRedisFilter open(const RedisPlace& place);

  RotatingRedisFilter(RotatingRedisFilter&&) noexcept;
  RotatingRedisFilter& operator=(RotatingRedisFilter&&) noexcept;
  ~RotatingRedisFilter();

  // The calls of KeyCalls, as in RedisFilter. insert adds a key to the newer generation, even if the older one has
  // it, and so renews it. It answers true if the key was certainly in neither. may_contain answers false if the
  // key was certainly not inserted since the rotation before the last one. For each 65,536 keys the calls ask the
  // newer generation, then the older one for the keys that need it.
  bool insert_hash(Hash128 hash) { return insert_hashes({&hash, 1}) == 1; }
  [[nodiscard]] bool may_contain_hash(Hash128 hash) const {
    return may_contain_hashes({&hash, 1}) == 1;
  }
  // After an error: how many keys of the call the newer generation certainly has, counted from the first.
  [[nodiscard]] std::size_t acknowledged() const noexcept;

  // The number of the newer generation: the number of rotations plus 2, because a new filter begins with two
  // generations. Error{mismatch}: the key holds another filter now.
  [[nodiscard]] std::uint64_t generation();
  // Rotates, unless another client has rotated since the generation was `from`: then it returns false and
  // changes nothing. So if several clients rotate at the same time, only one rotation happens. If the
  // connection breaks before the answer, the generation on the server shows whether the rotation happened. A
  // rotation also repairs the loss of the older generation, because it drops that generation. The server
  // makes the new string of zeros (0.1 s for 512 MiB) and frees the old one in the background.
  bool rotate(std::uint64_t from);
  bool rotate() { return rotate(generation()); }

  struct BothStats {
    Stats newer, older;
    double current_fpr = 0;  // of both generations together
  };
  [[nodiscard]] BothStats stats();
  // Reads the headers and the lengths of both strings. Error{missing | corrupt | mismatch}: the strings
  // are not complete, or they are not two successive generations of this filter. The bits have no
  // checksums.
  void verify();

  // The plan of one generation; its false-positive rate is half of that of the whole.
  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return plan_.capacity; }
  [[nodiscard]] double fpr() const noexcept { return plan_.fpr * 2; }
  // The Redis key of the older generation; in shards, of the first shard.
  [[nodiscard]] std::string older_key() const;
  // nullopt if the filter is under one key.
  [[nodiscard]] std::optional<std::uint32_t> shards() const noexcept {
    return shards_ == 0 ? std::nullopt : std::optional(shards_);
  }
  // The number of nodes that have slots; 1 without a cluster.
  [[nodiscard]] std::size_t nodes();

 private:
  using Generations = detail::Generations<Hash128>;
  RotatingRedisFilter(const RedisPlace& place, const detail::RedisHeader& header,
                      detail::Cluster cluster);
  friend detail::OpenStrings;
  static RotatingRedisFilter open(const RedisPlace& place, const detail::RedisHeader& header,
                                  detail::Cluster cluster);

  friend detail::KeyCalls<RotatingRedisFilter>;
  std::size_t do_insert(std::span<const Hash128> hashes, bool* fresh);
  std::size_t do_contain(std::span<const Hash128> hashes, bool* found) const;
  static constexpr std::size_t keys_at_once() noexcept { return 65'536; }
  void begin_call() const noexcept;  // starts the count of acknowledged()

  // The generation in the header of one of the two strings. Error{mismatch}: the string belongs to another filter.
  std::uint64_t generation_in(detail::StringBits& bits, std::uint32_t shard) const;
  void verify_shard(std::uint32_t shard);
  detail::Request rotation(std::uint32_t shard, std::uint64_t from) const;

  Plan plan_;
  Hasher hasher_;
  std::array<char, 8> identity_;  // of all generations
  std::uint32_t shards_;          // 0: it is in one key
  std::unique_ptr<Generations> generations_;
};

// The key of the older generation, of a rotating filter or of the bucket of a PHP class.
[[nodiscard]] std::string older_redis_key(std::string_view key);

}  // namespace bloomery
