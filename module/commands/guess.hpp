// Prefetches the bits of an item before the server has found the key of its command.
//
// A command on one item of a big filter waits for one cache line, which takes about as long as a
// server takes to look up the command, to check rights and to find the key. So a command filter,
// which the server calls before all that, remembers for each key's name where its Bloom filter had
// its bits when a command last opened it, and prefetches the bits of the item there. (There is no
// guess for filters of other kinds, or for long names and items.)
//
// It is a guess: nothing is read, and nothing depends on it. If the bits have moved since, or the
// filter is another one, it loads a cache line that is not needed.
#pragma once

#include "server/api.hpp"
#include "values/sub_filter.hpp"
#include "values/value.hpp"

namespace bloomery::server {

// What is known about a key: the newest sub-filter of its filter, by value, since the original may be gone.
struct Guess {
  std::uint64_t name = 0;  // a hash of the key's name; 0: nothing is known
  Hashing hashing = Hashing::xxh3;
  Seed key;
  SubFilter bits;
};

// Called by commands on one item: a key with this name has this filter.
void learn(const String* name, const Value& value) noexcept;
// Where the filter of this key was last. Null: the key was not seen, or not recently.
[[nodiscard]] const Guess* guess_of(std::string_view name) noexcept;
// The function that the server calls before every command.
void guess(CommandFilterContext* command) noexcept;

}  // namespace bloomery::server
