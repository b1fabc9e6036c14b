// Keys as bits of one Redis string, set and tested in batches; the string is watched over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "redis/bit_string.hpp"
#include "redis/connection.hpp"
#include "redis/fill.hpp"

namespace bloomery::detail {

class RedisBits {
 public:
  using Identity = BitString::Identity;
  using Guard = BitString::Guard;

  // The offsets of `count` keys from key `first` on, `hashes` for each.
  using OffsetsOf =
      std::function<void(std::size_t first, std::size_t count, std::span<std::uint64_t> offsets)>;

  RedisBits(Connection connection, const std::string& key, const Guard& guard, std::size_t hashes);

  // Returns how many answers are true: was a bit of the key off; are all of them on.
  // `set` waits for the length before it sends the first key, which is one round trip a call: what is
  // set in a string that was cut makes it longer, and what is set behind the end of a shorter filter
  // that has taken its place makes that unreadable. That it never gets its old length back so, and what
  // is cut later is seen by all, is BitString::ask's.
  // Of a string that rotates, `generations`, unless empty, says which one gave each answer.
  std::size_t set(std::size_t keys, const OffsetsOf& offsets_of, std::span<bool> answers,
                  std::span<std::uint64_t> generations = {});
  std::size_t test(std::size_t keys, const OffsetsOf& offsets_of, std::span<bool> answers,
                   std::span<std::uint64_t> generations = {});
  [[nodiscard]] std::size_t acknowledged() const noexcept { return acknowledged_; }

  // Asks the server for the string's length, and checks it. Errors as the others.
  void check();
  [[nodiscard]] Connection& connection() noexcept { return connection_; }
  [[nodiscard]] const std::string& key() const noexcept { return string_.key(); }
  [[nodiscard]] const std::string& name() const noexcept { return string_.name(); }
  // What the string has had, as far as seen here.
  [[nodiscard]] std::uint64_t least_bytes() const noexcept { return string_.guard().least; }

  // The bytes from `from` on, of the string that the guard describes from first to last.
  void read(std::uint64_t from, std::span<std::byte> out);

  // Of the bits from byte `from` on: all of them, or a sample, and then with a standard error.
  Share share_of_ones(std::uint64_t from);

 private:
  using Change = BitString::Change;
  struct Window {
    std::size_t first = 0;
    std::size_t keys = 0;
    std::uint64_t reach = 0;  // bytes that the string has at least once these keys are set
  };

  std::size_t run(Change change, std::size_t keys, const OffsetsOf& offsets_of,
                  std::span<bool> answers, std::span<std::uint64_t> generations);
  bool is_checked_after(Change change) const;
  Window send(Change change, std::size_t first, std::size_t keys, const OffsetsOf& offsets_of);
  std::size_t run_blocks(std::size_t keys, const OffsetsOf& offsets_of, std::span<bool> answers);
  void remove_debris() noexcept;

  Connection connection_;
  BitString string_;
  std::size_t acknowledged_ = 0;
  Commands commands_;
  std::vector<std::uint64_t> offsets_;
};

}  // namespace bloomery::detail
