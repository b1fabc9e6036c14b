// The scalar window kernels: the truth that all others are held against.
#include "filter/window_bulk.hpp"
#include "filter/window_kernels.hpp"

namespace bloomery::detail {

constexpr WindowKernel kScalarWindowBlocked =
    make_window_kernel<WindowBlocked, ScalarPattern>("scalar");
constexpr WindowKernel kScalarWindowBlocked2 =
    make_window_kernel<WindowBlocked2, ScalarPattern>("scalar");

}  // namespace bloomery::detail
