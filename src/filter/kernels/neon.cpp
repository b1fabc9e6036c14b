// The NEON kernels: a block is in four registers.
//
// A file of its own because it is compiled for 64-bit ARM only (instruction_sets.hpp).
#include "filter/kernels/kernel_set.hpp"

namespace bloomery::detail {
namespace {

struct NeonSet {
  static constexpr const char* kName = "neon";
  static constexpr bool kSingleBits = false;
  static constexpr bool kOneRing = false;
  using Block = VectorBlock<Neon>;
  template <unsigned kCounterBits>
  using Counters = VectorCounters<Neon, kCounterBits>;
};

}  // namespace

constexpr KernelSet neon_kernels = make_kernel_set<NeonSet>();

}  // namespace bloomery::detail
