// A Redis string of bits: the commands about it, and the checks of their answers.
//
// A key takes one BITFIELD command: the server executes it at once, and it is the fastest way.
// Measured (docs/benchmarks.md): neither a command per bit nor a script over a batch is faster, and
// a script needs a right of its own. What a script could have checked first is checked in the
// answers: each command also reads the identity of the filter, so that no answer of another string
// is believed.
//
// A string that was cut short shows it by its length, as long as nothing makes it longer up to its
// very end. So keys with a bit in the last byte, which are few, are set by a script that looks at
// the length first. (A shard ends with bytes that no key reaches.) Another filter that takes the
// place of this one may be as long, but has another identity. So a look-up is followed by a proof:
// the length and then the identity, or for a shard its end, which is both. A string that was cut
// never has its right length again; so a right length, and the identity after it, prove that
// nothing was missing in what was read before. (All generations of a rotating filter have one
// identity. But the newer one does not become the older one while it is cut, and the keys of the
// older one are forgotten once another takes its place.) Buckets of PHP have neither an identity
// nor a length of their own. Their length is asked for first: one that is rotated in between has
// moved what it answered for, and its length would then be an error for nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "redis/wire/cluster.hpp"

namespace bloomery::detail {

// Bytes that are read or written by one command.
constexpr std::size_t kPiece = std::size_t{1} << 20;

enum class BitOperation : std::uint8_t { set, test };

class BitString {
 public:
  using Identity = std::array<char, 8>;

  // What must hold of the string. With an identity, that stands at kRedisIdentityAt, the bits begin
  // after the header, and the string has exactly `bytes` bytes. Without one it is bits alone, and
  // has at most `bytes` and at least `least_bytes` bytes.
  struct Guard {
    std::optional<Identity> identity;
    std::uint64_t bytes = 0;
    std::uint64_t least_bytes = 0;
    bool is_shard = false;    // it ends with the identity once more
    bool has_blocks = false;  // the bits of a key are in one block of 64 bytes, or in two
    bool rotates = false;     // it also has a generation, which may change
  };

  // `name` is the string's in messages; each key has `hashes` bits.
  BitString(std::string key, std::string name, const Guard& guard, std::size_t hashes);

  // Each asks by one command. Error{missing, corrupt, mismatch}.
  void ask_length(Request& to) const;
  void check_length(const redisReply& reply);
  void ask_identity(Request& to) const;
  void check_identity(const redisReply& reply) const;

  // Whether the length is asked for before the bits, and what follows them as a proof.
  [[nodiscard]] bool length_comes_first(BitOperation operation) const noexcept {
    return operation == BitOperation::set || !guard_.identity;
  }
  void ask_proof(Request& to) const;
  [[nodiscard]] std::size_t proof_commands() const noexcept { return guard_.is_shard ? 1 : 2; }
  // The reply to one of the commands of the proof. Error{missing, corrupt, mismatch}.
  void check_proof(std::size_t command, const redisReply& reply);

  // Reads bytes of the string by one command.
  void ask_range(Request& to, std::uint64_t from, std::uint64_t bytes) const;

  // One command about the bits of a key, as SETBIT counts them.
  void ask_bits(Request& to, BitOperation operation, std::span<const std::uint64_t> offsets) const;
  struct Answer {
    bool is_true = false;          // set: a bit was off; test: all bits are on
    std::uint64_t generation = 0;  // of a string that rotates: the one that has answered
  };
  // Errors as above.
  [[nodiscard]] Answer answer_of(BitOperation operation, const redisReply& reply);

  // An insert into a string that is gone creates a new one, of zeros but for the key's bits. This
  // removes it, and nothing else.
  [[nodiscard]] Request removal_of_stray() const;
  // The string was seen, or made, to have at least so many bytes.
  void reaches(std::uint64_t bytes);

  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Guard& guard() const noexcept { return guard_; }
  [[nodiscard]] std::size_t hashes() const noexcept { return hashes_; }
  // The bytes of its bits: where they begin, and how many they are.
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
