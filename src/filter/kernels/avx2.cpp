// The AVX2 kernels: a block is in two registers; other layouts use this CPU's multiply and popcount instructions.
//
// A file of its own because it is compiled with the flags of its instruction set (instruction_sets.hpp).
#include "filter/kernels/kernel_set.hpp"

namespace bloomery::detail {
namespace {

struct Avx2Set {
  static constexpr const char* kName = "avx2";
  static constexpr bool kSingleBits = true;
  static constexpr bool kOneRing = false;
  using Block = VectorBlock<Avx2>;
  template <unsigned kCounterBits>
  using Counters = VectorCounters<Avx2, kCounterBits>;
};

}  // namespace

constexpr KernelSet avx2_kernels = make_kernel_set<Avx2Set>();

}  // namespace bloomery::detail
