// The scalar kernels: the truth that all others are held against, and what runs on a CPU
// without a vector unit that we know.
#include "filter/bulk.hpp"
#include "filter/classic.hpp"
#include "filter/counting.hpp"
#include "filter/kernels.hpp"
#include "filter/narrow.hpp"
#include "filter/shared.hpp"

namespace bloomery::detail {

namespace {

constexpr Kernel kSharedLineKernel = make_kernel<LineLayout<SharedLine<ScalarSpelling>>>("scalar");
constexpr Kernel kSharedPairKernel = make_kernel<PairLayout<SharedLine<ScalarSpelling>>>("scalar");
constexpr Kernel kSharedClassicKernel = make_kernel<ClassicLayout<SharedBits>>("scalar");
constexpr Kernel kSharedNarrowKernel = make_kernel<NarrowLayout<SharedBits>>("scalar");

}  // namespace

constexpr Kernel kScalarLine = make_kernel<LineLayout<ScalarLine>>("scalar", &kSharedLineKernel);
constexpr Kernel kScalarPair = make_kernel<PairLayout<ScalarLine>>("scalar", &kSharedPairKernel);
constexpr Kernel kClassic = make_kernel<ClassicLayout<PlainBits>>("scalar", &kSharedClassicKernel);
constexpr Kernel kNarrow = make_kernel<NarrowLayout<PlainBits>>("scalar", &kSharedNarrowKernel);
constexpr CountingKernel kScalarCells4 = make_counting_kernel<4, ScalarCells<4>>("scalar");
constexpr CountingKernel kScalarCells8 = make_counting_kernel<8, ScalarCells<8>>("scalar");

}  // namespace bloomery::detail
