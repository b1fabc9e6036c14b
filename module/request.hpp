// What a command asks to be made: the words of BF.RESERVE and BF.INSERT, and the settings where they
// say nothing.
//
// BF.RESERVE key rate capacity, and what may follow: RedisBloom's words, of which it takes four at most
// and overlooks those that it does not know, and ours on top of them. BF.INSERT knows its options by
// their first letters, as RedisBloom does; KEYED, which is ours, by the whole word.
#pragma once

#include <bloomery/window_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "chain.hpp"
#include "command.hpp"

namespace bloomery::server {

// A filter to be made, of any kind.
struct Request {
  Kind kind = Kind::chain;
  Chain::Request chain;  // its rate, its capacity and whether it is keyed are every kind's
  std::uint32_t counter_bits = 4;  // counting filters
  WindowUnit unit = WindowUnit::insertions;
  std::uint64_t window = 0;
  std::uint32_t slices = kDefaultSlices;
};

// One of the settings alone.
[[nodiscard]] Request default_request() noexcept;
// Error{invalid_argument, too_large, no_memory}.
[[nodiscard]] AnyValue make_value(Request request);

struct Reserve {
  Request request;
  bool if_not_exists = false;
};
struct Insert {
  std::optional<Request> request;  // none: NOCREATE
  std::size_t first_item = 0;      // among the words
};
// Nothing: the words are no such command, and the complaint has been made.
[[nodiscard]] std::optional<Reserve> parse_reserve(const Arguments& arguments);
[[nodiscard]] std::optional<Insert> parse_insert(const Arguments& arguments);

}  // namespace bloomery::server
