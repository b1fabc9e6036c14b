// The window kernels that this build has, one table a layout and instruction set.
#pragma once

#include <bloomery/detail/window_kernel.hpp>

namespace bloomery::detail {

extern const WindowKernel kScalarWindowLine, kScalarWindowPair;
#if defined(__x86_64__)
extern const WindowKernel kAvx2WindowLine, kAvx2WindowPair, kAvx512WindowLine, kAvx512WindowPair;
#elif defined(__aarch64__)
extern const WindowKernel kNeonWindowLine, kNeonWindowPair;
#endif

}  // namespace bloomery::detail
