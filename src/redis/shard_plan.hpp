// A plan divided among shards, and the rate that is left.
//
// A look-up asks one shard, each as likely as any other; with n keys in all, a shard has
// N ~ Binomial(n, 1/s) of them. So the rate of all is E[rate(m/s bits, N keys)].
//   - In the layouts of one block (block, blocked128, blocked64) the shards together are the filter in one
//     piece (shard_of.hpp), whose rate already counts that blocks are unequally loaded. A size that
//     is a multiple of s blocks is all that is needed.
//   - blocked2 and standard spread a key over its shard alone, and their rate is convex in the load, so
//     that unequal loads cost something: about k(k-1)/2 * s/n of the rate, 1 in 10^4 for shards of
//     a million keys. The sum over the binomial says how much, and bits are added until the
//     stated rate holds.
#pragma once

#include <bloomery/plan.hpp>

#include <cstdint>

namespace bloomery::detail {

// Whether the shards, one after the other, are the filter in one piece.
[[nodiscard]] constexpr bool one_block_per_key(Layout layout) noexcept {
  return layout == Layout::blocked || counter_bits(layout) != 0;
}

// The whole, in bits that s shards can share. Its rate is not above the stated one, or where
// `whole` itself does not keep to that, not above what `whole` has.
// Error{too_large, invalid_argument}.
[[nodiscard]] Plan plan_for_shards(const Plan& whole, std::uint32_t shards);

// What each shard is: an s-th of the bits, and of the capacity, rounded up.
[[nodiscard]] Plan plan_of_shard(const Plan& whole, std::uint32_t shards);

// The expected rate of a whole in shards after `items` distinct keys.
[[nodiscard]] double fpr_in_shards(const Plan& whole, std::uint32_t shards, double items);

// How many shards to make for `nodes` nodes where nobody says: a multiple of them, so that each
// has as many; four for each of several, so that some can move when there are more nodes; and none
// above 256 MiB, which is half of what a string may have, and is moved between nodes in a second.
[[nodiscard]] std::uint32_t shards_for(const Plan& whole, std::size_t nodes);

}  // namespace bloomery::detail
