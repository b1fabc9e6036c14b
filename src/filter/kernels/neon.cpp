// The NEON kernels: a block is in four registers.
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
