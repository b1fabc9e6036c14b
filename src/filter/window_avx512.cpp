// The AVX-512 window kernels: a block in one register.
#include "filter/window_bulk.hpp"
#include "filter/window_kernels.hpp"

namespace bloomery::detail {

constexpr WindowKernel kAvx512WindowBlocked =
    make_window_kernel<WindowBlocked, Avx512Pattern>("avx512");
constexpr WindowKernel kAvx512WindowBlocked2 =
    make_window_kernel<WindowBlocked2, Avx512Pattern>("avx512");

}  // namespace bloomery::detail
