// Keys as bits of one Redis string or of many strings: set and tested in batches, counted, and read.
#pragma once

#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "redis/shards/key_batches.hpp"
#include "redis/strings/bit_string.hpp"
#include "redis/strings/ones_sample.hpp"
#include "redis/strings/redis_header.hpp"

namespace bloomery::detail {

// For each key its string, and the offsets of its bits in that string, as SETBIT counts them. The offsets of one key
// follow those of the key before.
struct KeyBits {
  std::vector<std::uint32_t> strings;
  std::vector<std::uint64_t> offsets;
};

// Writes the next keys, at most `most`, to an empty `to`, and returns their number; 0: there are no more keys.
using NextKeyBits = std::function<std::size_t(std::size_t most, KeyBits& to)>;

// Hashed keys of a filter in so many shards; with 1 the filter is in one string.
[[nodiscard]] NextKeyBits bits_of(const Plan& whole, std::uint32_t shards,
                                  std::span<const Hash128> hashes);

// Error{invalid_argument}: the range goes beyond the end of the filter's bits.
void require_within(const Plan& plan, std::uint64_t from, std::uint64_t bytes);

class StringBits {
 public:
  // All strings have the same numbers of bytes and hashes.
  StringBits(Cluster cluster, std::vector<BitString> strings);
  // The strings of a filter under these keys; `header` may be the header of any of them.
  StringBits(Cluster cluster, RedisHeader header, const std::vector<std::string>& keys);

  // Begins a call of one run or several.
  void begin() noexcept { batches_.begin(); }
  // Returns the number of true answers (set: a bit of the key was off; test: all bits are on). For a string that
  // rotates, `generations` says which generation gave each answer. In a filter in one string, bits are only set if its
  // length is right: those of few keys by scripts; before those of more the length is asked for, which costs a round
  // trip. What is then set in a string that was cut or deleted makes it longer, and so does what is set behind the end
  // of a shorter filter that has taken its place: the remains of a deleted one are removed, and the shorter filter is
  // repaired when it is opened. (Shards are never replaced by shorter ones.)
  std::size_t run(BitOperation operation, const NextKeyBits& next, std::span<bool> answers,
                  std::span<std::uint64_t> generations = {});
  // Sets the bits of one key in one string, and tells for each bit whether it was set before, as SETBIT does.
  void set_one(std::span<const std::uint64_t> offsets, std::span<bool> before);
  // The number of first keys of the call that are done.
  [[nodiscard]] std::size_t acknowledged() const noexcept { return batches_.acknowledged(); }

  // Reads which generation a string is now. Error{missing, mismatch}.
  [[nodiscard]] std::uint64_t generation_of(std::uint32_t string);

  // Undoes what a killed maker of shards has left unfinished (interrupted.hpp). False: nothing was undone.
  bool undo_interrupted() noexcept;

  // Reads and checks the lengths of all strings.
  void check_lengths();
  // Does the same, and checks that each string is the shard that `header` describes, with its end.
  void check_shards(RedisHeader header);
  // Counts the ones in all bits, or in a sample.
  Share share_of_ones();
  // Reads bytes of the bits of all strings as one array, from byte `from` on.
  void read(std::uint64_t from, std::span<std::byte> out);

  [[nodiscard]] Cluster& cluster() noexcept { return cluster_; }
  [[nodiscard]] const std::vector<BitString>& strings() const noexcept { return strings_; }
  [[nodiscard]] std::uint32_t shards() const noexcept {
    return static_cast<std::uint32_t>(strings_.size());
  }

 private:
  struct Piece {
    BitString* string;
    std::uint64_t at;  // in the string
    std::span<std::byte> out;
  };
  void split(KeyBits bits, BitOperation operation, KeyBatches::Parts& parts);
  void read_of_string(std::span<const Piece> pieces);
  void read_of_shards(std::span<const Piece> pieces);
  static void copy(const redisReply& bits, const Piece& piece);

  Cluster cluster_;
  std::vector<BitString> strings_;
  KeyBatches batches_;
};

}  // namespace bloomery::detail
