// The AVX2 window kernels: a block in two registers.
#include "filter/window_bulk.hpp"
#include "filter/window_kernels.hpp"

namespace bloomery::detail {

constexpr WindowKernel kAvx2WindowBlocked = make_window_kernel<WindowBlocked, Avx2Pattern>("avx2");
constexpr WindowKernel kAvx2WindowBlocked2 =
    make_window_kernel<WindowBlocked2, Avx2Pattern>("avx2");

}  // namespace bloomery::detail
