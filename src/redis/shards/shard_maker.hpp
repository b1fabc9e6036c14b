// Makes all shards of a new filter, or none.
//
// A cluster has no transactions over several nodes. So the first key represents the filter:
//   1. the maker claims it: it sets a short string that expires in a minute, if the key does not exist;
//   2. the maker makes the shards, each by one command with everything in it, where no key exists, or where a
//      maker that died has left a shard into which nothing was inserted;
//   3. the maker replaces the claim by the key's final value, if it still holds the claim.
// Before the third step no client can open the filter; after it, the filter is whole. A maker that fails removes the
// shards that it made, unless the third step is done and only its answer was lost: then the filter exists. A maker
// that dies, or can no longer reach the first key, leaves a claim, for a minute, and empty shards. A maker that
// sleeps for a minute finds its claim gone; at worst it has replaced shards of another maker by its own empty shards,
// which have another identity that every client sees.
//
// When a filter is replaced (staged_keys.hpp), the claim is beside the first key, which has the old filter until the
// third step. If the making fails, the new shards are not only removed: the keys that they replaced are put back. If
// the maker dies, the next client does that (interrupted.hpp).
#pragma once

#include <bloomery/error.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/cluster/cluster.hpp"

namespace bloomery::detail {

struct ShardsToMake {
  using Words = std::vector<std::string>;

  std::string first;    // the key that represents the filter
  std::string claimed;  // the key that is claimed: the first one, or one in its slot
  std::array<char, 8> identity{};
  std::vector<std::string> keys;  // the keys that step 2 makes
  // The first bytes of the first key after step 3, and never before: they contain the identity.
  std::string committed;
  // Called between steps 1 and 2; an exception ends the making.
  std::function<void()> after_claim = [] {};
  // The note beside the first key between steps 1 and 3, for a client that must undo the making.
  std::string note = {};
  // Commands for key i, and for the first key. They reply with 1: done; 0: the key holds something else; -1: the
  // staged key is gone; -2: the key holds a longer shard. `commit` finds the claim at the claimed key.
  std::function<Words(std::size_t)> make;
  // Undoes `make`. The key that it replaced is put back if the first key still has the old filter.
  std::function<Words(std::size_t, bool put_back)> remove;
  std::function<Words(const std::string& claim)> commit;
  // For keys that were filled before: step 3 is not done if slots have moved since, and not sent on to another node.
  const UnmovedSlots* unmoved = nullptr;
  // Called after step 3, and before the note is removed.
  std::function<void()> after_commit = [] {};
};

// Error{exists}; {locked}: another maker holds the claim; {no_space}: a command replied with -1.
void make_shards(Cluster& cluster, const ShardsToMake& shards);

// The claim of a maker with this identity, and the command that sets it. The reply is a status, or nil if something
// is there already.
[[nodiscard]] std::string claim_of(const std::array<char, 8>& identity);
[[nodiscard]] ShardsToMake::Words claim_words(const std::string& key, const std::string& claim);
// Whether the first key holds a claim.
[[nodiscard]] bool is_claim(std::string_view start) noexcept;
// The keys of the claim and of the note for replacing the filter that `first` represents.
[[nodiscard]] std::string claim_beside(std::string_view first);
[[nodiscard]] std::string note_beside(std::string_view first);
// Removes the note, unless the key holds another note.
void remove_note(Cluster& cluster, const std::string& first, const std::string& note) noexcept;

[[nodiscard]] Error being_made(const std::string& name);
// The server has evicted a staged key, or the key has expired.
[[nodiscard]] Error dropped_key(const std::string& name);

// For `remove`: a script that removes the string KEYS[1] if its first 128 bytes are ARGV[1].
extern const std::string_view kRemoveString;

}  // namespace bloomery::detail
