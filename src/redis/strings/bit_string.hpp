// A Redis string of bits: its commands, and the checks of their replies.
//
// One BITFIELD command per key: the server executes it atomically, and for many keys it is the fastest way. Measured
// (docs/benchmarks.md): neither a command per bit nor a script per batch is faster. Each command also reads the
// identity of the filter, so an answer from another string is detected.
//
// An insert makes a string that is gone, was cut, or belongs to a shorter filter now, longer. So few keys are set by a
// script each, which checks length and identity first; it costs the server more, but the client one round trip instead
// of two. For many keys the length is asked for before them, and the proof below after them, because what was cut off
// meanwhile seems new. Keys with a bit in the last byte, which are few, are always set by a script, so a string that
// was cut never gets its right length again. (A shard ends with bytes that no key reaches.)
//
// If another filter takes the place of this one, it may have the same length, but it has another identity. So a look-up
// is followed by a proof: the length and then the identity, or for a shard its end, which proves both. The right
// length, and the identity after it, prove that nothing was missing in the earlier answers. (All generations of a
// rotating filter have the same identity. But the newer one does not become the older one while it is cut, and the keys
// of the older one are forgotten when another takes its place.) Buckets of PHP classes have neither an identity nor a
// fixed length, so their length is read first: if a bucket is rotated between the commands, its answers were those of
// the moved bits, and a length that is read later could cause a wrong error.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "redis/cluster/cluster.hpp"

namespace bloomery::detail {

// The number of bytes that one command reads or writes.
constexpr std::size_t kPiece = std::size_t{1} << 20;

enum class BitOperation : std::uint8_t { set, test };

class BitString {
 public:
  using Identity = std::array<char, 8>;

  // Conditions on the string. With an identity: the identity is at kRedisIdentityAt, the bits begin after the header,
  // and the string has exactly `bytes` bytes. Without one: the string consists of bits only, and has at most `bytes`
  // and at least `least_bytes` bytes.
  struct Guard {
    std::optional<Identity> identity;
    std::uint64_t bytes = 0;
    std::uint64_t least_bytes = 0;
    bool is_shard = false;    // it ends with its identity again
    bool has_blocks = false;  // the bits of a key are in one block of 64 bytes, or in two
    bool rotates = false;     // it also has a generation, which may change
  };

  // `name` is the name of the string in messages; each key has `hashes` bits.
  BitString(std::string key, std::string name, const Guard& guard, std::size_t hashes);

  // Each of the ask functions sends one command. Error{missing, corrupt, mismatch}.
  void ask_length(Request& to) const;
  void check_length(const redisReply& reply);
  void ask_identity(Request& to) const;
  void check_identity(const redisReply& reply) const;
  // Asks which generation of the filter the string is.
  void ask_generation(Request& to) const;
  [[nodiscard]] std::uint64_t generation_in(const redisReply& reply) const;

  // What shows that the bits of so many keys are those of the filter: the length before them (and if there is an
  // identity the proof after them, too), the proof after them, or scripts, which set them only then.
  enum class Check : std::uint8_t { length_first, proof_last, in_scripts };
  [[nodiscard]] Check check_of(BitOperation operation, std::size_t keys) const noexcept;
  void ask_proof(Request& to) const;
  [[nodiscard]] std::size_t proof_commands() const noexcept { return guard_.is_shard ? 1 : 2; }
  // Checks the reply to one of the commands of the proof. Error{missing, corrupt, mismatch}.
  void check_proof(std::size_t command, const redisReply& reply);

  // Reads bytes of the string by one command.
  void ask_range(Request& to, std::uint64_t from, std::uint64_t bytes) const;

  // One command about the bits of a key, as SETBIT counts them.
  void ask_bits(Request& to, BitOperation operation, std::span<const std::uint64_t> offsets,
                Check check) const;
  struct Answer {
    bool is_true = false;          // set: a bit was off; test: all bits are on
    std::uint64_t generation = 0;  // of a string that rotates: the generation that answered
  };
  // Errors as for check_proof.
  [[nodiscard]] Answer answer_of(BitOperation operation, const redisReply& reply);
  // Error{io}: what is in the place of a bit is none.
  [[nodiscard]] bool is_one(const redisReply& bit) const;

  // If the string is gone, an insert of many keys creates a new one, which is zero except for these bits. This request
  // removes it, if it has few more bits than these: several clients may have written, and a bucket of a PHP class may
  // have taken its place.
  [[nodiscard]] Request removal_of_stray(std::size_t bits) const;
  // Called when the string was seen, or made, to have at least so many bytes.
  void reaches(std::uint64_t bytes);

  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Guard& guard() const noexcept { return guard_; }
  [[nodiscard]] std::size_t hashes() const noexcept { return hashes_; }
  // The bytes of the bits: their offset and their number.
  [[nodiscard]] std::uint64_t bits_begin() const noexcept;
  [[nodiscard]] std::uint64_t bits_bytes() const noexcept;

 private:
  void require_identity(std::string_view found) const;
  [[noreturn]] void gone() const;

  std::string key_;
  std::string name_;
  Guard guard_;
  std::size_t hashes_;
};

}  // namespace bloomery::detail
