// Helpers about counters, for the tests of counting filters.
#pragma once

#include <bloomery/counting_view.hpp>

#include <algorithm>
#include <cstdint>

namespace bloomery::test {

inline constexpr std::uint32_t kWidths[] = {4, 8};

inline std::uint64_t full_of(std::uint32_t width) { return width == 4 ? 15 : 255; }

inline bool same_counters(const CountingView& a, const CountingView& b) {
  return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

}  // namespace bloomery::test
