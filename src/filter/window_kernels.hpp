// The window kernels that this build has, one table a layout and instruction set.
#pragma once

#include <bloomery/detail/window_kernel.hpp>

namespace bloomery::detail {

extern const WindowKernel kScalarWindowBlocked, kScalarWindowBlocked2;
#if defined(__x86_64__)
extern const WindowKernel kAvx2WindowBlocked, kAvx2WindowBlocked2, kAvx512WindowBlocked,
    kAvx512WindowBlocked2;
#elif defined(__aarch64__)
extern const WindowKernel kNeonWindowBlocked, kNeonWindowBlocked2;
#endif

}  // namespace bloomery::detail
