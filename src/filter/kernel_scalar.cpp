// The scalar kernels: the truth that all others are held against, and what runs on a CPU
// without a vector unit that we know.
#include "filter/bulk.hpp"
#include "filter/classic.hpp"
#include "filter/counting.hpp"
#include "filter/kernels.hpp"
#include "filter/narrow.hpp"

namespace bloomery::detail {

constexpr Kernel kScalarLine = make_kernel<LineLayout<ScalarLine>>("scalar");
constexpr Kernel kScalarPair = make_kernel<PairLayout<ScalarLine>>("scalar");
constexpr Kernel kClassic = make_kernel<ClassicLayout>("scalar");
constexpr Kernel kNarrow = make_kernel<NarrowLayout>("scalar");
constexpr CountingKernel kScalarCells4 = make_counting_kernel<4, ScalarCells<4>>("scalar");
constexpr CountingKernel kScalarCells8 = make_counting_kernel<8, ScalarCells<8>>("scalar");

}  // namespace bloomery::detail
