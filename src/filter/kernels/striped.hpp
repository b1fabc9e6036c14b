// Operations on blocks while other threads of the process set bits: an insert holds the lock of a block's stripe.
//
// A present key is found without a lock. A thread that stores into a block holds the lock of its stripe and
// stores the whole block, which costs one locked instruction instead of one for each of its words. If several
// threads insert a key with one block, exactly one of them sees some of its bits clear under the lock, unless
// other keys have set all of them.
//
// In a batch the locks, like the blocks, are prefetched from memory or from another core. Measured
// (docs/benchmarks-threads.md): sorting a batch by stripe, to take each lock once, costs what it saves.
//
// Included by the file of each instruction set, as ring.hpp is.
#pragma once

#include <bloomery/detail/relaxed_block.hpp>

#include "filter/kernels/plain.hpp"

#include <cstdint>

namespace bloomery::detail {
namespace {

template <class L, class Set>
struct StripedKeys : WholeBlocks<L, Set, RelaxedBlock<typename Set::Block>> {
  // A type of this file, so that the functions made of it are too.
  struct Block : RelaxedBlock<typename Set::Block> {};
  using Batch = typename LocatedBlocks<L, Set>::Batch;

  [[gnu::always_inline]] static bool insert(const BitArray& array, const Batch& batch,
                                            std::size_t i) noexcept {
    bool fresh = false;
    for (unsigned j = 0; j < L::kKeyBlocks; ++j)
      fresh |= StripedBlock<Block>::set(stripe_of(batch.block[j][i]), batch.block[j][i],
                                        batch.low[j][i], *array.masks);
    return fresh;
  }
  [[gnu::always_inline]] static void prefetch(const BitArray&, const Batch& batch,
                                              std::size_t i) noexcept {
    for (unsigned j = 0; j < L::kKeyBlocks; ++j) {
      __builtin_prefetch(batch.block[j][i], 1);
      __builtin_prefetch(&stripe_of(batch.block[j][i]), 1);
    }
  }
  static bool insert_one(const BitArray& array, Hash128 hash) noexcept {
    const auto blocks = L::blocks(array, hash);
    // A locked instruction waits for earlier accesses, and later accesses wait for it; prefetches do neither. The
    // lock is in the second cache, and on its way while the block comes from memory.
    for (const KeyBlock& at : blocks) {
      if constexpr (L::kKeyBlocks > 1) __builtin_prefetch(words_of(array, at), 1);
      __builtin_prefetch(&stripe_of(words_of(array, at)), 1);
    }
    bool fresh = false;
    for (const KeyBlock& at : blocks)
      fresh |= StripedBlock<Block>::set(stripe_of(words_of(array, at)), words_of(array, at), at.low,
                                        *array.masks);
    return fresh;
  }
};

}  // namespace
}  // namespace bloomery::detail
