// The filter that a command asks for: the words of BF.RESERVE and BF.INSERT, or else the settings.
//
// BF.RESERVE key error_rate capacity, then options: those of RedisBloom, at most three words, where it
// ignores those that it does not know, and also ours. BF.INSERT knows its options by their first
// letters, as RedisBloom does; KEYED, which is ours, and TIGHTENING, SEED and VALIDATESCALETO,
// which are valkey-bloom's, by the whole word.
#pragma once

#include <cstddef>
#include <optional>

#include "commands/command.hpp"
#include "values/make.hpp"

namespace bloomery::server {

[[nodiscard]] Request default_request() noexcept;  // from the settings alone
// Makes the filter in a key that is empty and opened for writing, and replicates that it was made.
// A command in RedisBloom's words that is replayed comes from RedisBloom, since our masters and AOFs have a header
// instead: the filter gets RedisBloom's layout, whatever the settings. RedisBloom also replicates items that it
// refused; only a filter with the same bits can tell which those are. Error: as plan_header; {no_memory}, which comes
// before any memory is taken if the server's limit is too low.
Value& make_filter(const Arguments& arguments, OpenedKey& key, Request request);

struct Reserve {
  Request request;
  bool if_not_exists = false;
};
struct Insert {
  std::optional<Request> request;  // none: NOCREATE
  std::size_t first_item = 0;      // its index among the words; the number of words: there is none
};
// Both throw ErrorReply or WrongArity if the words are not a valid command.
[[nodiscard]] Reserve parse_reserve(const Arguments& arguments);
[[nodiscard]] Insert parse_insert(const Arguments& arguments);

}  // namespace bloomery::server
