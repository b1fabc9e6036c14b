// The kernels that this build has, one table a layout and instruction set.
#pragma once

#include <bloomery/detail/kernel.hpp>

namespace bloomery::detail {

extern const Kernel kScalarLine, kScalarPair, kClassic;
#if defined(__x86_64__)
extern const Kernel kAvx2Line, kAvx2Pair, kAvx2Classic, kAvx512Line, kAvx512Pair;
#elif defined(__aarch64__)
extern const Kernel kNeonLine, kNeonPair;
#endif

}  // namespace bloomery::detail
