// The AVX2 window kernels: a line in two registers.
#include "filter/window_bulk.hpp"
#include "filter/window_kernels.hpp"

namespace bloomery::detail {

constexpr WindowKernel kAvx2WindowLine = make_window_kernel<WindowLine, Avx2Pattern>("avx2");
constexpr WindowKernel kAvx2WindowPair = make_window_kernel<WindowPair, Avx2Pattern>("avx2");

}  // namespace bloomery::detail
