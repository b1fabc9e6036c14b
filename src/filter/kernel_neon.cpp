// The NEON kernels: a line in four registers.
#include "filter/bulk.hpp"
#include "filter/kernels.hpp"

namespace bloomery::detail {

constexpr Kernel kNeonLine = make_kernel<LineLayout<NeonLine>>("neon");
constexpr Kernel kNeonPair = make_kernel<PairLayout<NeonLine>>("neon");

}  // namespace bloomery::detail
