// The NEON kernels: a line in four registers.
#include "filter/bulk.hpp"
#include "filter/counting.hpp"
#include "filter/kernels.hpp"

namespace bloomery::detail {

constexpr Kernel kNeonLine = make_kernel<LineLayout<NeonLine>>("neon");
constexpr Kernel kNeonPair = make_kernel<PairLayout<NeonLine>>("neon");
constexpr CountingKernel kNeonCells4 = make_counting_kernel<4, NeonCells<4>>("neon");
constexpr CountingKernel kNeonCells8 = make_counting_kernel<8, NeonCells<8>>("neon");

}  // namespace bloomery::detail
