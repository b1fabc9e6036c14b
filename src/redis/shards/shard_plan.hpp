// The plan of a filter in shards, and its false-positive rate.
//
// A look-up asks one shard, each with the same probability. With n keys in total a shard has
// N ~ Binomial(n, 1/s) of them, so that the rate of the whole is E[fpr(m/s bits, N keys)].
//   - In the layouts of one block (blocked, blocked128, blocked64) the shards together are the
//     filter in one piece (shard_keys.hpp), whose rate already counts unequal loads of the blocks.
//     The size must only be a multiple of s blocks.
//   - The layouts of two blocks, and standard, spread a key over its own shard, and their rate is convex in the load,
//     so that unequal loads cost something: about k(k-1)/2 * s/n of the rate, 1 in 10^4 for shards
//     of a million keys. The sum over the binomial says how much, and bits are added until the
//     stated rate holds.
#pragma once

#include <bloomery/detail/layout.hpp>
#include <bloomery/plan.hpp>

#include <cstdint>

namespace bloomery::detail {

// Whether the shards, one after the other, are bit for bit the filter in one piece.
[[nodiscard]] inline bool one_block_per_key(Layout layout) noexcept {
  return visit_layout(layout, [](auto of) { return of.blocks_per_key(2) == 1; });
}

// The plan of the whole filter, with a number of bits that the shards can share equally. Its rate is at most the
// stated rate; if `whole` itself misses the stated rate, it is at most the rate of `whole`. Error{too_large,
// invalid_argument}.
[[nodiscard]] Plan plan_for_shards(const Plan& whole, std::uint32_t shards);

// The plan of each shard: an s-th of the bits, and an s-th of the capacity, rounded up.
[[nodiscard]] Plan plan_of_shard(const Plan& whole, std::uint32_t shards);

// The expected false-positive rate of the whole filter after `items` distinct keys.
[[nodiscard]] double fpr_in_shards(const Plan& whole, std::uint32_t shards, double items);

// The default number of shards: a multiple of the number of nodes, so that each node has the same number; in a
// cluster four per node, so that some can move to nodes that are added; and no shard is larger than 256 MiB, which is
// half of the largest string and moves between nodes in a second.
[[nodiscard]] std::uint32_t shards_for(const Plan& whole, std::size_t nodes);

}  // namespace bloomery::detail
