// The kinds of filters that a file or encoded bytes can hold.
//
//   plain      inserts only                        FilterView        filter.hpp
//   counting   inserts and removes                 CountingView      counting_filter.hpp
//   scalable   inserts, without an end             ScalableFilter    scalable_filter.hpp
//   window     inserts, and forgets               WindowFilter      window_filter.hpp
#pragma once

#include <cstdint>
#include <string_view>

namespace bloomery {

// The numbers are those of the format (docs/format.md).
enum class Kind : std::uint16_t { plain = 1, counting = 2, scalable = 3, window = 4 };

[[nodiscard]] std::string_view to_string(Kind kind) noexcept;

}  // namespace bloomery
