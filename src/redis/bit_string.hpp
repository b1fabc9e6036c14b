// A Redis string of bits as commands and their answers, wherever these are sent.
//
// One BITFIELD command a key: the server runs it at once, and it is the quickest way.
// Measured (docs/benchmarks.md): neither a command a bit nor a script over a batch is quicker, and
// a script needs leave to run. What a script could have checked first is checked in the answers:
// each command also reads the filter's identity, so that no answer of another string is believed.
//
// A string that was cut short shows it by its length, as long as nothing makes it longer to its very
// end. So the few keys with a bit in its last byte are the exception: a script sets their bits, and
// looks at the length first. (A shard ends with bytes that no key reaches.) Another that takes its
// place may be as long, but has another identity. So what is asked for after a look-up, and proves
// that nothing was missing, is the length and then the identity; of a shard its end, which is both.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "redis/connection.hpp"

namespace bloomery::detail {

class BitString {
 public:
  using Identity = std::array<char, 8>;
  enum class Change { set, test };

  // What must hold of the string. An identity stands at kRedisIdentityAt of a string of exactly
  // `bytes` bytes; without one the string has at most `bytes`, and at least `least`.
  struct Guard {
    std::optional<Identity> identity;
    std::uint64_t bytes = 0;
    std::uint64_t least = 0;
    bool blocks = false;   // a key's bits are in one block of 64 bytes, or two
    bool rotates = false;  // the string also has a generation, which may change
  };

  // `name` says in errors where the string is; `hashes` bits are a key's.
  BitString(std::string key, std::string name, const Guard& guard, std::size_t hashes);

  void ask_length(Commands& to) const;
  // Error{missing, corrupt, mismatch}.
  void check_length(const Reply& reply) { check_length(*reply); }
  void check_length(const redisReply& reply);

  // What stands at kRedisIdentityAt. Error{missing, mismatch}.
  void ask_identity(Commands& to) const;
  void check_identity(const redisReply& reply) const;

  // What a shard ends with: it is whole, and this one. Errors of length and identity.
  void ask_end(Commands& to) const;
  void check_end(const redisReply& reply) const;

  // The bits of one key, counted as SETBIT does. One command, and one answer.
  void ask(Commands& to, Change change, std::span<const std::uint64_t> offsets) const;
  // Set: was a bit off? Test: are all on? Errors as above.
  [[nodiscard]] bool answer_of(Change change, const Reply& reply);
  // Of a string that rotates: the generation that gave this answer.
  [[nodiscard]] static std::uint64_t generation_of(const Reply& reply);

  // An insert into a string that is no longer there has made a new one, of zeros but for its bits.
  // The command that removes it, and nothing else.
  void ask_to_remove_debris(Commands& to) const;
  // The string was seen, or made, to have so many bytes.
  void reaches(std::uint64_t bytes);

  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const Guard& guard() const noexcept { return guard_; }
  [[nodiscard]] std::size_t hashes() const noexcept { return hashes_; }

 private:
  void check_identity(std::string_view found) const;
  [[noreturn]] void gone() const;

  std::string key_;
  std::string name_;
  Guard guard_;
  std::size_t hashes_;
};

}  // namespace bloomery::detail
