// The AVX-512 kernels: a line in one register, and the places of eight keys worked out at a time.
#include "filter/any_line_avx512.hpp"
#include "filter/bulk.hpp"
#include "filter/counting.hpp"
#include "filter/kernels.hpp"
#include "filter/places_avx512.hpp"
#include "filter/shared.hpp"

namespace bloomery::detail {

namespace {

constexpr Kernel kSharedLineKernel =
    make_kernel<LineLayout<Avx512Block<SharedLine<Avx512Spelling>>>>("avx512");
constexpr Kernel kSharedPairKernel =
    make_kernel<PairLayout<Avx512Block<SharedLine<Avx512Spelling>>>>("avx512");

}  // namespace

constexpr Kernel kAvx512Line =
    make_kernel<LineLayout<Avx512Block<Avx512Line>>>("avx512", &kSharedLineKernel);
constexpr Kernel kAvx512Pair =
    make_kernel<PairLayout<Avx512Block<Avx512Line>>>("avx512", &kSharedPairKernel);
constexpr CountingKernel kAvx512Cells4 =
    make_counting_kernel<4, Avx512Block<Avx512Cells<4>>>("avx512");
constexpr CountingKernel kAvx512Cells8 =
    make_counting_kernel<8, Avx512Block<Avx512Cells<8>>>("avx512");

}  // namespace bloomery::detail
