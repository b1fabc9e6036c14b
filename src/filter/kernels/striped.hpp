// Bits that other threads of the process turn on meanwhile, under the lock of each block's stripe.
//
// A key that is there is found without a lock. Who stores into a block holds its stripe and stores it whole,
// which costs one locked instruction instead of one for each of its words. Of several inserters of a key with
// one block, exactly one sees some of its bits off under the lock, unless other keys have turned all on.
//
// In a batch the locks are on their way from memory, or from another core, as long as the blocks are. Measured
// (docs/benchmarks-threads.md): sorting a batch by stripe, to take each lock once, costs what it saves.
//
// Included by the file of each instruction set, as ring.hpp is.
#pragma once

#include <bloomery/detail/relaxed_block.hpp>

#include "filter/kernels/plain.hpp"
#include "filter/stripes.hpp"

#include <cstdint>

namespace bloomery::detail {
namespace {

template <class L, class Set>
struct StripedKeys : WholeBlocks<L, Set, RelaxedBlock<typename Set::Block>> {
  using Block = RelaxedBlock<typename Set::Block>;
  using Batch = typename LocatedBlocks<L, Set>::Batch;

  // Under its lock a block has a bit off or on for good, whatever was seen before.
  [[gnu::always_inline]] static bool insert_into(std::uint32_t* block, std::uint64_t low,
                                                 const WordMasks& masks) noexcept {
    if (Block::test(block, low, masks)) return false;
    Stripe& stripe = stripe_of(block);
    stripe.lock();
    const bool fresh = Block::set(block, low, masks);
    stripe.unlock();
    return fresh;
  }
  [[gnu::always_inline]] static bool insert(const BitArray& array, const Batch& batch,
                                            std::size_t i) noexcept {
    bool fresh = false;
    for (unsigned j = 0; j < L::kKeyBlocks; ++j)
      fresh |= insert_into(batch.block[j][i], batch.low[j][i], *array.masks);
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
    // A locked instruction waits for what comes before it, and what comes after waits for it.
    if constexpr (L::kKeyBlocks > 1)
      for (const KeyBlock& at : blocks) __builtin_prefetch(words_of(array, at), 1);
    bool fresh = false;
    for (const KeyBlock& at : blocks)
      fresh |= insert_into(words_of(array, at), at.low, *array.masks);
    return fresh;
  }
};

}  // namespace
}  // namespace bloomery::detail
