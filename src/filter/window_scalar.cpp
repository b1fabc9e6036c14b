// The scalar window kernels: the truth that all others are held against.
#include "filter/window_bulk.hpp"
#include "filter/window_kernels.hpp"

namespace bloomery::detail {

constexpr WindowKernel kScalarWindowLine = make_window_kernel<WindowLine, ScalarPattern>("scalar");
constexpr WindowKernel kScalarWindowPair = make_window_kernel<WindowPair, ScalarPattern>("scalar");

}  // namespace bloomery::detail
