// The NEON window kernels: a block in four registers.
#include "filter/window_bulk.hpp"
#include "filter/window_kernels.hpp"

namespace bloomery::detail {

constexpr WindowKernel kNeonWindowBlocked = make_window_kernel<WindowBlocked, NeonPattern>("neon");
constexpr WindowKernel kNeonWindowBlocked2 =
    make_window_kernel<WindowBlocked2, NeonPattern>("neon");

}  // namespace bloomery::detail
