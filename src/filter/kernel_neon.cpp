// The NEON kernels: a line in four registers.
#include "filter/bulk.hpp"
#include "filter/counting.hpp"
#include "filter/kernels.hpp"
#include "filter/shared.hpp"

namespace bloomery::detail {

namespace {

constexpr Kernel kSharedLineKernel = make_kernel<LineLayout<SharedLine<NeonSpelling>>>("neon");
constexpr Kernel kSharedPairKernel = make_kernel<PairLayout<SharedLine<NeonSpelling>>>("neon");

}  // namespace

constexpr Kernel kNeonLine = make_kernel<LineLayout<NeonLine>>("neon", &kSharedLineKernel);
constexpr Kernel kNeonPair = make_kernel<PairLayout<NeonLine>>("neon", &kSharedPairKernel);
constexpr CountingKernel kNeonCells4 = make_counting_kernel<4, NeonCells<4>>("neon");
constexpr CountingKernel kNeonCells8 = make_counting_kernel<8, NeonCells<8>>("neon");

}  // namespace bloomery::detail
