// The AVX2 kernels: a block in two registers; standard with this CPU's multiply and popcount.
#include "filter/atomic.hpp"
#include "filter/bulk.hpp"
#include "filter/counting.hpp"
#include "filter/kernels.hpp"
#include "filter/standard.hpp"

namespace bloomery::detail {

namespace {

constexpr Kernel kAtomicBlockedKernel =
    make_kernel<BlockedLayout<AtomicBlock<Avx2ExpandMask>>>("avx2");
constexpr Kernel kAtomicBlocked2Kernel =
    make_kernel<Blocked2Layout<AtomicBlock<Avx2ExpandMask>>>("avx2");
constexpr Kernel kAtomicStandardKernel = make_kernel<StandardLayout<AtomicBits>>("avx2");

}  // namespace

constexpr Kernel kAvx2Blocked =
    make_kernel<BlockedLayout<Avx2Block>>("avx2", &kAtomicBlockedKernel);
constexpr Kernel kAvx2Blocked2 =
    make_kernel<Blocked2Layout<Avx2Block>>("avx2", &kAtomicBlocked2Kernel);
constexpr Kernel kAvx2Standard =
    make_kernel<StandardLayout<PlainBits>>("avx2", &kAtomicStandardKernel);
constexpr CountingKernel kAvx2Counters4 = make_counting_kernel<4, Avx2Counters<4>>("avx2");
constexpr CountingKernel kAvx2Counters8 = make_counting_kernel<8, Avx2Counters<8>>("avx2");

}  // namespace bloomery::detail
