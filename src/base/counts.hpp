// Counts that stay at the largest number: one that began again at 0 would be smaller than its parts, and what has such
// a count could not be read again.
//
// A file of its own because filters, RedisBloom's dumps, the client of modules and the module itself count so, and
// have no other header of src/base in common.
#pragma once

#include <cstdint>

namespace bloomery::detail {

[[nodiscard]] constexpr std::uint64_t sum_of_counts(std::uint64_t a, std::uint64_t b) noexcept {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

}  // namespace bloomery::detail
