// Asks the memory for the bits of an item before the server has found the key of its command.
//
// A command on one item of a big filter waits for one cache line, which takes about as long as a
// server takes to look up the command, to check rights and to find the key. So a filter of commands,
// which the server calls before all that, remembers by the names of keys where Bloom filters had
// their bits when a command last opened them, and asks for those of the item there. (Filters of the
// other kinds, and long names and items, are not guessed.)
//
// It is a guess: nothing is read, and nothing depends on it. If the bits have moved since, or the
// filter is another one, a cache line comes that nobody needs.
#pragma once

#include "server/api.hpp"
#include "values/sub_filter.hpp"
#include "values/value.hpp"

namespace bloomery::server {

// What is known of a key: of its filter's newest sub-filter, by value, for it may be gone.
struct Guess {
  std::uint64_t name = 0;  // a hash of the key's name; 0: nothing is known
  Hashing hashing = Hashing::xxh3;
  Seed key;
  SubFilter bits;
};

// By commands on one item: a key with this name has this filter.
void learn(const String* name, const Value& value) noexcept;
// Where a key with this name was last. Null: it was not seen, or not lately.
[[nodiscard]] const Guess* guess_of(std::string_view name) noexcept;
// What the server calls before every command.
void guess(CommandFilterContext* command) noexcept;

}  // namespace bloomery::server
