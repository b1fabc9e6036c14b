// A long range of keys, shared out among threads part by part.
#pragma once

#include <cstddef>

namespace bloomery::detail {

// The keys that a thread takes at a time; fewer are not worth starting it.
constexpr std::size_t kKeysOfAPart = 65'536;

// Work on the keys [first, first + count); it gives a number, and does not throw.
struct PartOfKeys {
  const void* context = nullptr;
  std::size_t (*work)(const void* context, std::size_t first, std::size_t count) = nullptr;
};
// The sum of what the parts of `count` keys give. Each of so many threads (0: one for each core that the process may
// use) takes a part when it has done one. If fewer can be started, these do it.
[[nodiscard]] std::size_t sum_of_parts(std::size_t count, unsigned threads,
                                       const PartOfKeys& part) noexcept;

}  // namespace bloomery::detail
