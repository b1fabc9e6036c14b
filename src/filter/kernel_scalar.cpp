// The scalar kernels: the truth that all others are held against, and what runs on a CPU
// without a vector unit that we know.
#include "filter/bulk.hpp"
#include "filter/classic.hpp"
#include "filter/kernels.hpp"

namespace bloomery::detail {

constexpr Kernel kScalarLine = make_kernel<LineLayout<ScalarLine>>("scalar");
constexpr Kernel kScalarPair = make_kernel<PairLayout<ScalarLine>>("scalar");
constexpr Kernel kClassic = make_kernel<ClassicLayout>("scalar");

}  // namespace bloomery::detail
