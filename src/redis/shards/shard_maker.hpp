// Makes all shards of a new filter, or none.
//
// A cluster has no transactions over several nodes. So the first key stands for the filter:
//   1. it is claimed: a short string that expires in a minute, set only where there is nothing;
//   2. the shards are made, each at once with everything in it, where there is nothing, or where a
//      maker that died has left a shard into which nothing was inserted;
//   3. the claim is turned into what stands for the filter, if it is still ours.
// Before the third step no client can open the filter; after it, the filter is whole. A maker that
// fails removes what it made, unless the third step is done and only its answer was lost: then the
// filter is made. A maker that dies, or no longer reaches the first key, leaves a claim, for a
// minute, and empty shards. One that sleeps for a minute finds its claim gone, and at worst has put
// its empty shards in place of another's: these have another identity, which every client sees.
//
// When a filter is replaced (staged_keys.hpp), the claim stands beside the first key, which has the
// old filter until the third step; and what was made is not removed, but what it replaced is put
// back. If the maker dies, the next one who comes does that (interrupted.hpp).
#pragma once

#include <bloomery/error.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/wire/cluster.hpp"

namespace bloomery::detail {

struct ShardsToMake {
  using Words = std::vector<std::string>;

  std::string first;    // the key that stands for the filter
  std::string claimed;  // the key that is claimed: the first one, or one in its slot
  std::array<char, 8> identity{};
  std::vector<std::string> keys;  // what step 2 makes
  // How the first key begins after step 3, and never before: it contains the identity.
  std::string committed;
  // Called between steps 1 and 2; an exception ends the making.
  std::function<void()> after_claim = [] {};
  // What stands beside the first key between steps 1 and 3, for one who has to undo the making.
  std::string note = {};
  // Commands for key i, and for the first key. They reply with 1: done; 0: the key holds something
  // else; -1: what was to be put there is gone; -2: the key holds a longer shard. `commit` finds
  // the claim where it was made.
  std::function<Words(std::size_t)> make;
  // Undoes `make`. What it replaced comes back, if the first key still has the old filter.
  std::function<Words(std::size_t, bool put_back)> remove;
  std::function<Words(const std::string& claim)> commit;
  // Called after step 3. The note goes after it.
  std::function<void()> after_commit = [] {};
};

// Error{exists}; {locked}: another maker is at it; {no_space}: a command replied with -1.
void make_shards(Cluster& cluster, const ShardsToMake& shards);

// What a maker with this identity puts where it claims, and the command that does it: the reply is a
// status, or nil where something is there already.
[[nodiscard]] std::string claim_of(const std::array<char, 8>& identity);
[[nodiscard]] ShardsToMake::Words claim_words(const std::string& key, const std::string& claim);
// Whether what stands at the first key is a claim.
[[nodiscard]] bool is_claim(std::string_view start) noexcept;
// The key of the claim for replacing what `first` stands for, and of the note.
[[nodiscard]] std::string claim_beside(std::string_view first);
[[nodiscard]] std::string note_beside(std::string_view first);
// Removes the note, unless another one is there.
void remove_note(Cluster& cluster, const std::string& first, const std::string& note) noexcept;

[[nodiscard]] Error being_made(const std::string& name);
// The server has evicted what was to be put into a place, or it has expired.
[[nodiscard]] Error dropped_key(const std::string& name);

// For `remove`: a script that removes the string KEYS[1] if its first 128 bytes are ARGV[1].
extern const std::string_view kRemoveString;

}  // namespace bloomery::detail
