// All shards of a new filter, or none.
//
// A cluster has no transaction over its nodes. So the first key stands for the filter:
//   1. it is claimed: a short string that expires in a minute, set only where nothing is;
//   2. the shards are made, each at once with all that it carries, where nothing is or what a
//      maker that died has left: a shard in which nothing was inserted;
//   3. the claim is turned into what stands for the filter, if it is still ours.
// Before the third step nobody can open the filter; after it, it is whole. A maker that fails
// removes what it made, unless the third step is done and only its answer was lost: then the filter
// is made. One that dies, or that no longer reaches the first key, leaves a claim, for a minute, and
// empty shards. One that sleeps for a minute finds its claim gone, and at worst has put its empty
// shards in place of another's: these have another identity, which every client sees.
//
// Where another filter is to be replaced (staged_shards.hpp) the claim stands beside the first key,
// which has the old filter until the third step; what was made is not removed but put back.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/cluster.hpp"

namespace bloomery::detail {

struct ShardsToMake {
  using Words = std::vector<std::string>;

  std::string first;    // the key that stands for the filter
  std::string claimed;  // the one that is claimed: the same, or one in its slot
  std::array<char, 8> identity{};
  std::vector<std::string> keys;  // what is made in step 2
  // How the first key begins after step 3, and never before: it has the identity.
  std::string committed;
  // Called between steps 1 and 2; what it throws ends the making.
  std::function<void()> claimed_now = [] {};
  // Commands for key i, and for the first key, that reply with 1 where they did it, with 0 where
  // the key has something else, with -1 where what was to be put there has gone, and with -2 where the
  // key has a shard that is longer. `commit` finds the claim where it was made.
  std::function<Words(std::size_t)> make;
  std::function<Words(std::size_t)> remove;
  std::function<Words(const std::string& claim)> commit;
};

// Error{exists}; {locked}: another makes it; {no_space}: a command replied with -1.
void make_shards(Cluster& cluster, const ShardsToMake& shards);

// Whether what stands at the first key is a claim.
[[nodiscard]] bool is_claim(std::string_view start) noexcept;
[[nodiscard]] Error being_made(const std::string& name);
// What was staged has expired, or was evicted.
[[nodiscard]] Error dropped_shard(const std::string& name);

// The script of every `remove` of strings: KEYS[1], if it begins with ARGV[1], of 128 bytes at most.
extern const std::string_view kRemoveString;

}  // namespace bloomery::detail
