// Where every key of a filter without bits is: one line that all such filters share.
#pragma once

#include <bloomery/plan.hpp>

#include <array>
#include <cstdint>

namespace bloomery::detail {

// All are ones, so that nothing can be denied, and what an insert or a removal stores is what is
// there (cells of ones are saturated).
extern std::array<std::uint32_t, kLineBits / 32> full_line;

}  // namespace bloomery::detail
