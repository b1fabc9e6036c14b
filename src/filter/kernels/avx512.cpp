// The AVX-512 kernels: a block is in one register, and the blocks of eight keys are computed at a time.
//
// A file of its own because it is compiled with the flags of its instruction set (instruction_sets.hpp).
#include "filter/kernels/avx512_any_of.hpp"
#include "filter/kernels/avx512_frozen.hpp"
#include "filter/kernels/kernel_set.hpp"

namespace bloomery::detail {

constexpr KernelSet avx512_kernels = make_kernel_set<Avx512Set>();

}  // namespace bloomery::detail
