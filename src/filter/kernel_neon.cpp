// The NEON kernels: a block in four registers.
#include "filter/atomic.hpp"
#include "filter/bulk.hpp"
#include "filter/counting.hpp"
#include "filter/kernels.hpp"

namespace bloomery::detail {

namespace {

constexpr Kernel kAtomicBlockedKernel =
    make_kernel<BlockedLayout<AtomicBlock<NeonExpandMask>>>("neon");
constexpr Kernel kAtomicBlocked2Kernel =
    make_kernel<Blocked2Layout<AtomicBlock<NeonExpandMask>>>("neon");

}  // namespace

constexpr Kernel kNeonBlocked =
    make_kernel<BlockedLayout<NeonBlock>>("neon", &kAtomicBlockedKernel);
constexpr Kernel kNeonBlocked2 =
    make_kernel<Blocked2Layout<NeonBlock>>("neon", &kAtomicBlocked2Kernel);
constexpr CountingKernel kNeonCounters4 = make_counting_kernel<4, NeonCounters<4>>("neon");
constexpr CountingKernel kNeonCounters8 = make_counting_kernel<8, NeonCounters<8>>("neon");

}  // namespace bloomery::detail
