// Makes filters: from a request, from stored bytes, and as copies. All are made from a header.
#pragma once

#include <bloomery/window_plan.hpp>

#include <cstdint>
#include <functional>
#include <optional>

#include "values/value.hpp"

namespace bloomery::server {

// A new filter of any kind.
struct Request {
  Kind kind = Kind::scalable;
  double fpr = 0;
  std::uint64_t capacity = 0;
  bool keyed = false;            // with `key`, or one from the system's random source
  std::optional<Seed> key = {};  // if it is keyed
  // Scalable filters. Only native filters can be of another kind, or keyed.
  Family family = Family::native;
  bool is_ours = false;  // asked for in words that RedisBloom does not have
  std::uint32_t growth = 2;
  bool scaling = true;
  Tightening tightening = {};  // native filters only
  // Counting filters.
  std::uint32_t counter_bits = 4;
  // Windows.
  WindowUnit unit = WindowUnit::insertions;
  std::uint64_t window = 0;
  std::uint32_t slices = kDefaultSlices;
};

// The header of the empty filter, with a new key if it is keyed. Error{invalid_argument |
// too_large}.
[[nodiscard]] Header plan_header(const Request& request);

// `array(bytes)` gives the memory of each array in order, with the bits in it, and throws if it
// has none. Error{no_memory}, and what `array` throws.
[[nodiscard]] AnyValue make_value(const Header& header,
                                  const std::function<OwnedMemory(std::uint64_t)>& array);
// All bits are zero. Error{no_memory}: also if the machine could not hold all of them.
[[nodiscard]] AnyValue make_empty(const Header& header);
[[nodiscard]] AnyValue copy(const Value& value);  // Error{no_memory}

}  // namespace bloomery::server
