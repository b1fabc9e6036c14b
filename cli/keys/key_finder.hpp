// The keys of a block's lines, and their hashes: the work that any thread can do, in any order.
#pragma once

#include "keys/json_field.hpp"

#include <bloomery/hash.hpp>

#include <cstddef>
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
  bool whitespace = false;      // runs of blanks are between fields instead, and one in a key
  bool ignore_case = false;     // A to Z count as a to z
  std::string json_field = {};  // the key is this one's value, unless it is empty
};

// What somebody wants to know of each key.
struct KeysWanted {
  std::optional<Hasher> hasher;  // its hash by this one
  bool views = false;            // its bytes
};

// What is known of lines before any is decided. It is used again for block after block.
struct Keys {
  std::vector<Hash128> hashes;          // where they were asked for
  std::vector<std::string_view> views;  // likewise; into the lines, or into what this holds
  std::string problem;  // why the line behind these has no key; empty: all lines have one
  std::string text;     // of the keys that no line has as they are
};

class KeyFinder {
 public:
  explicit KeyFinder(KeyRule rule);

  // The keys of the lines up to the first that has none, in place of those that were there. `ends`: just
  // behind each line's end.
  void find(std::string_view text, std::span<const std::size_t> ends, const KeysWanted& wanted,
            Keys& keys);

 private:
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
