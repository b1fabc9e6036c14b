// The keys of a block's lines, and their hashes: the work that any thread can do, in any order.
#pragma once

#include "keys/json_field.hpp"

#include <bloomery/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

struct KeyRule {
  // The numbers of fields, from 1, in the key's order; none: the whole line.
  std::vector<std::size_t> fields = {};
  char delimiter = '\t';        // between fields, and between those of a key
  bool whitespace = false;      // runs of blanks separate fields instead; one blank those of a key
  bool ignore_case = false;     // A to Z count as a to z
  std::string json_field = {};  // if not empty, the key is the value of this field
};

// What the caller needs of each key.
struct KeysWanted {
  std::optional<Hasher> hasher;  // its hash, by this hasher
  bool views = false;            // its bytes
};

// What is known about lines before any of them is decided. Reused for each block.
struct Keys {
  std::vector<Hash128> hashes;          // if they were asked for
  std::vector<std::string_view> views;  // likewise; into the lines, or into `text`
  std::string problem;      // why the line after these has no key; empty: all lines have one
  std::uint64_t empty = 0;  // lines whose fields are empty or absent, so that they have one key
  std::string text;         // the keys that no line contains as they are
};

class KeyFinder {
 public:
  explicit KeyFinder(KeyRule rule);

  // Replaces the contents by the keys of the lines up to the first line without a key. `ends`: the place
  // right after each line's end.
  void find(std::string_view text, std::span<const std::size_t> ends, const KeysWanted& wanted,
            Keys& keys);

 private:
  // The part of the text as a key.
  [[nodiscard]] std::string_view in_case(std::string_view part,
                                         std::string_view text) const noexcept;
  template <class Use>
  void each_key(std::string_view text, std::span<const std::size_t> ends, std::string& problem,
                Use use);
  template <class Use>
  void each_joined(std::string_view text, std::span<const std::size_t> ends, Use use);
  template <class Use>
  void each_json(std::string_view text, std::span<const std::size_t> ends, std::string& problem,
                 Use use);

  KeyRule rule_;
  std::vector<std::size_t> by_number_;  // places in rule_.fields, in the order of their numbers
  std::optional<JsonField> json_;
  std::string lower_, key_;
  std::vector<std::string_view> found_;
};

// Changes A to Z in place.
void to_lower(std::span<char> text) noexcept;

}  // namespace bloomery::cli
