// Divides a long range of keys among threads, part by part.
//
// A file of its own because the calls of every filter (key_calls.hpp) and the insert by regions (bulk_insert.hpp) stand
// on it, and not on each other.
#pragma once

#include <cstddef>

namespace bloomery::detail {

// The number of keys that a thread takes at a time. For fewer keys it does not pay to start a thread.
constexpr std::size_t kKeysOfAPart = 65'536;

// Work on the keys [first, first + count). It returns a number and does not throw.
struct PartOfKeys {
  const void* context = nullptr;
  std::size_t (*work)(const void* context, std::size_t first, std::size_t count) = nullptr;
};
// The sum of the results of all parts of `count` keys. Each of `threads` threads (0: one for each core that the
// process may use) takes the next part when it has finished one. If fewer threads can be started, these do all parts.
[[nodiscard]] std::size_t sum_of_parts(std::size_t count, unsigned threads,
                                       const PartOfKeys& part) noexcept;

}  // namespace bloomery::detail
