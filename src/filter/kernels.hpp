// The kernels that this build has, one table a layout and instruction set.
#pragma once

#include <bloomery/detail/counting_kernel.hpp>
#include <bloomery/detail/kernel.hpp>

namespace bloomery::detail {

extern const Kernel kScalarBlocked, kScalarBlocked2, kStandard, kNarrow;
extern const CountingKernel kScalarCounters4, kScalarCounters8;
#if defined(__x86_64__)
extern const Kernel kAvx2Blocked, kAvx2Blocked2, kAvx2Standard, kAvx512Blocked, kAvx512Blocked2;
extern const CountingKernel kAvx2Counters4, kAvx2Counters8, kAvx512Counters4, kAvx512Counters8;
#elif defined(__aarch64__)
extern const Kernel kNeonBlocked, kNeonBlocked2;
extern const CountingKernel kNeonCounters4, kNeonCounters8;
#endif

}  // namespace bloomery::detail
