// All kernels of one instruction set. They are made from a struct `Set`, in which the file of the set
// (scalar.cpp, avx2.cpp, ...) says what the set has:
//
//   kName           the name in BLOOMERY_KERNEL
//   kSingleBits     whether layouts without whole blocks gain from being compiled for this CPU; they use
//                   no vectors. If not, they use the kernels of the set before it
//   kOneRing        as in ring.hpp, for whole blocks
//   Block           test, set and Pattern of a block (detail/block.hpp)
//   Counters<bits>  the operations on a block of counters (counting.hpp)
//   locate          optional, as LocatedBlocks::locate in ring.hpp: for kBatch keys at once
//   Partitions      optional, in place of PartitionList in frozen.hpp
#pragma once

#include "filter/kernels/atomic.hpp"
#include "filter/kernels/counting.hpp"
#include "filter/kernels/frozen.hpp"
#include "filter/kernels/instruction_sets.hpp"
#include "filter/kernels/plain.hpp"
#include "filter/kernels/striped.hpp"
#include "filter/kernels/window.hpp"

#include <utility>

namespace bloomery::detail {
namespace {

template <class L>
constexpr bool kHasWholeBlocks = L::kBlockBits == kBlockBits;

// The Keys for one thread; for several threads without locks (look-ups never need one); and for several
// threads with the locks of blocks, which do not help the layout standard.
template <class Set, class L, bool = kHasWholeBlocks<L>>
struct KeysOf {
  using Block = typename Set::Block;
  using Own = WholeBlocks<L, Set, Block>;
  using LookUps = WholeBlocks<L, Set, RelaxedBlock<Block>>;
  using Atomic = WholeBlocks<L, Set, AtomicBlock<Block>>;
  using Striped = StripedKeys<L, Set>;
};
template <class Set, class L>
struct KeysOf<Set, L, false> {
  using Own = SingleBits<L, PlainBit>;
  using LookUps = SingleBits<L, AtomicBit>;
  using Atomic = LookUps;
  using Striped = LookUps;
};

template <class Set, class L, class Keys = KeysOf<Set, L>>
constexpr BitKernel kAtomicKernel =
    make_bit_kernel<typename Keys::Atomic, typename Keys::LookUps>(Set::kName);
template <class Set, class L, class Keys = KeysOf<Set, L>>
constexpr BitKernel kStripedKernel =
    make_bit_kernel<typename Keys::Striped, typename Keys::LookUps>(Set::kName);
template <class Set, class L>
constexpr Kernel kPlainKernel = make_kernel<typename KeysOf<Set, L>::Own>(Set::kName,
                                                                          &kAtomicKernel<Set, L>,
                                                                          &kStripedKernel<Set, L>);
template <class Set, class L>
constexpr CountingKernel kCountingKernel = make_counting_kernel<Set, L>(Set::kName);
template <class Set, class L>
constexpr WindowKernel kWindowKernel =
    make_window_kernel<L, typename Set::Block::Pattern>(Set::kName);

template <class Set, class L>
constexpr const Kernel* plain_kernel() {
  if constexpr (kHasWholeBlocks<L> || Set::kSingleBits)
    return &kPlainKernel<Set, L>;
  else
    return nullptr;
}
template <class Set, class L>
constexpr const CountingKernel* counting_kernel() {
  if constexpr (L::kBlockBits != 0 && !kHasWholeBlocks<L>)
    return &kCountingKernel<Set, L>;
  else
    return nullptr;
}
template <class Set, class L>
constexpr const WindowKernel* window_kernel() {
  if constexpr (kHasWholeBlocks<L>)
    return &kWindowKernel<Set, L>;
  else
    return nullptr;
}

template <class Set, std::size_t... kIndex>
constexpr KernelSet make_kernel_set(std::index_sequence<kIndex...>) {
  return {Set::kName,
          {plain_kernel<Set, LayoutOf<kAllLayouts[kIndex]>>()...},
          {counting_kernel<Set, LayoutOf<kAllLayouts[kIndex]>>()...},
          {window_kernel<Set, LayoutOf<kAllLayouts[kIndex]>>()...},
          make_frozen_kernel<Set>()};
}
template <class Set>
constexpr KernelSet make_kernel_set() {
  return make_kernel_set<Set>(std::make_index_sequence<kAllLayouts.size()>{});
}

}  // namespace
}  // namespace bloomery::detail
