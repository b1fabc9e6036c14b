// Windows small enough to follow by hand.
#pragma once

#include <bloomery/window_filter.hpp>

#include <cstdint>
#include <limits>

namespace bloomery::test {

inline constexpr auto kInsertions = WindowUnit::insertions;
inline constexpr auto kSeconds = WindowUnit::seconds;
inline constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

// Rates at which the few keys of a test have practically no false positive (1e-12 per key).
inline WindowFilter last(std::uint64_t window, std::uint32_t slices) {
  return WindowFilter(window_plan(kInsertions, window, window, 1e-12, slices));
}
inline WindowFilter past(std::uint64_t seconds, std::uint32_t slices) {
  return WindowFilter(window_plan(kSeconds, seconds, 1000, 1e-12, slices));
}

}  // namespace bloomery::test
