// Look-ups of many keys of one string: a transaction that reads the block of each.
//
// GETRANGE of 64 bytes takes the server a third of the time of a BITFIELD_RO of six bits
// (docs/benchmarks.md), but cannot read the identity at once as that does. MULTI makes one moment
// of all: the length and the identity, which come first, hold for every block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "redis/bit_string.hpp"
#include "redis/connection.hpp"

namespace bloomery::detail {

class BlockReads {
 public:
  // Below so many keys of a string the commands around them cost more than blocks save.
  static constexpr std::size_t kFewest = 8;

  // Of a string with an identity, whose keys have their bits in one block or two.
  explicit BlockReads(BitString& string) : string_(&string) {}

  // A key, by its bits as SETBIT counts them: those of one block after the other.
  void add(std::span<const std::uint64_t> offsets);
  [[nodiscard]] std::size_t keys() const noexcept { return offsets_.size() / string_->hashes(); }

  // Writes the commands, each to what `next` gives, and returns how many they are. Their answers
  // before the last one say only whether they were understood; see `queued`.
  std::size_t ask(const std::function<Commands&()>& next) const;
  // The answer to another than the last command. An error that has a meaning is thrown.
  void queued(const Reply& reply) const;
  // The answer to the last: calls use(key, may contain) for each. Errors of BitString.
  void answer(const Reply& reply, const std::function<void(std::size_t, bool)>& use) const;

 private:
  BitString* string_;
  std::vector<std::uint64_t> offsets_;
};

}  // namespace bloomery::detail
