// The AVX-512 kernels: a block in one register, and the places of eight keys worked out at a time.
#include "filter/atomic.hpp"
#include "filter/bulk.hpp"
#include "filter/counting.hpp"
#include "filter/in_any_avx512.hpp"
#include "filter/kernels.hpp"
#include "filter/places_avx512.hpp"

namespace bloomery::detail {

namespace {

constexpr Kernel kAtomicBlockedKernel =
    make_kernel<BlockedLayout<Avx512Batch<AtomicBlock<Avx512ExpandMask>>>>("avx512");
constexpr Kernel kAtomicBlocked2Kernel =
    make_kernel<Blocked2Layout<Avx512Batch<AtomicBlock<Avx512ExpandMask>>>>("avx512");

}  // namespace

constexpr Kernel kAvx512Blocked =
    make_kernel<BlockedLayout<Avx512Batch<Avx512Block>>>("avx512", &kAtomicBlockedKernel);
constexpr Kernel kAvx512Blocked2 =
    make_kernel<Blocked2Layout<Avx512Batch<Avx512Block>>>("avx512", &kAtomicBlocked2Kernel);
constexpr CountingKernel kAvx512Counters4 =
    make_counting_kernel<4, Avx512Batch<Avx512Counters<4>>>("avx512");
constexpr CountingKernel kAvx512Counters8 =
    make_counting_kernel<8, Avx512Batch<Avx512Counters<8>>>("avx512");

}  // namespace bloomery::detail
