// The AVX-512 window kernels: a line in one register.
#include "filter/window_bulk.hpp"
#include "filter/window_kernels.hpp"

namespace bloomery::detail {

constexpr WindowKernel kAvx512WindowLine = make_window_kernel<WindowLine, Avx512Pattern>("avx512");
constexpr WindowKernel kAvx512WindowPair = make_window_kernel<WindowPair, Avx512Pattern>("avx512");

}  // namespace bloomery::detail
