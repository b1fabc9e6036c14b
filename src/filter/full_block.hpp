// Where every key of a filter without bits is: one block that all such filters share.
#pragma once

#include <bloomery/plan.hpp>

#include <array>
#include <cstdint>

namespace bloomery::detail {

// All are ones, so that nothing can be denied, and what an insert or a removal stores is what is
// there (counters of ones are saturated).
extern std::array<std::uint32_t, kBlockBits / 32> full_block;

}  // namespace bloomery::detail
