// The scalar kernels: the reference implementation that tests compare all others with, and the kernels
// for CPUs without a supported vector unit.
//
// A file of its own because it is compiled without the flags of any instruction set (instruction_sets.hpp).
#include "filter/kernels/kernel_set.hpp"

namespace bloomery::detail {
namespace {

struct ScalarSet {
  static constexpr const char* kName = "scalar";
  static constexpr bool kSingleBits = true;
  static constexpr bool kOneRing = true;
  using Block = ScalarBlock;
  template <unsigned kCounterBits>
  using Counters = ScalarCounters<kCounterBits>;
};

}  // namespace

constexpr KernelSet scalar_kernels = make_kernel_set<ScalarSet>();

}  // namespace bloomery::detail
