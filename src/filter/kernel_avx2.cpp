// The AVX2 kernels: a line in two registers; classic with this CPU's multiply and popcount.
#include "filter/bulk.hpp"
#include "filter/classic.hpp"
#include "filter/counting.hpp"
#include "filter/kernels.hpp"
#include "filter/shared.hpp"

namespace bloomery::detail {

namespace {

constexpr Kernel kSharedLineKernel = make_kernel<LineLayout<SharedLine<Avx2Spelling>>>("avx2");
constexpr Kernel kSharedPairKernel = make_kernel<PairLayout<SharedLine<Avx2Spelling>>>("avx2");
constexpr Kernel kSharedClassicKernel = make_kernel<ClassicLayout<SharedBits>>("avx2");

}  // namespace

constexpr Kernel kAvx2Line = make_kernel<LineLayout<Avx2Line>>("avx2", &kSharedLineKernel);
constexpr Kernel kAvx2Pair = make_kernel<PairLayout<Avx2Line>>("avx2", &kSharedPairKernel);
constexpr Kernel kAvx2Classic =
    make_kernel<ClassicLayout<PlainBits>>("avx2", &kSharedClassicKernel);
constexpr CountingKernel kAvx2Cells4 = make_counting_kernel<4, Avx2Cells<4>>("avx2");
constexpr CountingKernel kAvx2Cells8 = make_counting_kernel<8, Avx2Cells<8>>("avx2");

}  // namespace bloomery::detail
