// The NEON window kernels: a line in four registers.
#include "filter/window_bulk.hpp"
#include "filter/window_kernels.hpp"

namespace bloomery::detail {

constexpr WindowKernel kNeonWindowLine = make_window_kernel<WindowLine, NeonPattern>("neon");
constexpr WindowKernel kNeonWindowPair = make_window_kernel<WindowPair, NeonPattern>("neon");

}  // namespace bloomery::detail
