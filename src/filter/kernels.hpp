// The kernels that this build has, one table a layout and instruction set.
#pragma once

#include <bloomery/detail/counting_kernel.hpp>
#include <bloomery/detail/kernel.hpp>

namespace bloomery::detail {

extern const Kernel kScalarLine, kScalarPair, kClassic, kNarrow;
extern const CountingKernel kScalarCells4, kScalarCells8;
#if defined(__x86_64__)
extern const Kernel kAvx2Line, kAvx2Pair, kAvx2Classic, kAvx512Line, kAvx512Pair;
extern const CountingKernel kAvx2Cells4, kAvx2Cells8, kAvx512Cells4, kAvx512Cells8;
#elif defined(__aarch64__)
extern const Kernel kNeonLine, kNeonPair;
extern const CountingKernel kNeonCells4, kNeonCells8;
#endif

}  // namespace bloomery::detail
