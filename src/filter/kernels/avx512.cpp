// The AVX-512 kernels: a block is in one register, and the blocks of eight keys are computed at a time.
#include "filter/kernels/avx512_any_of.hpp"
#include "filter/kernels/avx512_frozen.hpp"
#include "filter/kernels/kernel_set.hpp"

namespace bloomery::detail {

constexpr KernelSet avx512_kernels = make_kernel_set<Avx512Set>();

}  // namespace bloomery::detail
