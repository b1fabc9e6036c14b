// The scalar kernels: the truth that all others are held against, and what runs on a CPU
// without a vector unit that we know.
#include "filter/atomic.hpp"
#include "filter/bulk.hpp"
#include "filter/counting.hpp"
#include "filter/kernels.hpp"
#include "filter/narrow.hpp"
#include "filter/standard.hpp"

namespace bloomery::detail {

namespace {

constexpr Kernel kAtomicBlockedKernel =
    make_kernel<BlockedLayout<AtomicBlock<ScalarExpandMask>>>("scalar");
constexpr Kernel kAtomicBlocked2Kernel =
    make_kernel<Blocked2Layout<AtomicBlock<ScalarExpandMask>>>("scalar");
constexpr Kernel kAtomicStandardKernel = make_kernel<StandardLayout<AtomicBits>>("scalar");
constexpr Kernel kAtomicNarrowKernel = make_kernel<NarrowLayout<AtomicBits>>("scalar");

}  // namespace

constexpr Kernel kScalarBlocked =
    make_kernel<BlockedLayout<ScalarBlock>>("scalar", &kAtomicBlockedKernel);
constexpr Kernel kScalarBlocked2 =
    make_kernel<Blocked2Layout<ScalarBlock>>("scalar", &kAtomicBlocked2Kernel);
constexpr Kernel kStandard =
    make_kernel<StandardLayout<PlainBits>>("scalar", &kAtomicStandardKernel);
constexpr Kernel kNarrow = make_kernel<NarrowLayout<PlainBits>>("scalar", &kAtomicNarrowKernel);
constexpr CountingKernel kScalarCounters4 = make_counting_kernel<4, ScalarCounters<4>>("scalar");
constexpr CountingKernel kScalarCounters8 = make_counting_kernel<8, ScalarCounters<8>>("scalar");

}  // namespace bloomery::detail
