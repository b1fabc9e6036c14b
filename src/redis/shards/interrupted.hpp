// Undoes a replacement of shards whose maker was killed.
//
// A maker puts its shards into their places one by one (shard_maker.hpp). Before the first shard it leaves a note
// beside the first key: the number in the staged names, and the first bytes of the first key after all shards are in
// their places. It removes the note when nothing is left to do. So if there is a note and its maker has no claim, the
// maker was killed or could no longer reach a node:
//   - if the first key begins as the note says, the filter is whole: the keys that were set aside are removed;
//   - if no filter is there, it was to be a new one, or the old one was removed since then: the keys that the
//     maker put into places are removed, and the keys that were set aside expire;
//   - otherwise the keys that were set aside are put back.
// All of it is done under a claim, and doing it twice is harmless. A maker that was only asleep finds its claim and
// its staged keys gone, and ends with an error.
#pragma once

#include <bloomery/error.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "redis/cluster/cluster.hpp"
#include "redis/shards/staged_keys.hpp"

namespace bloomery::detail {

[[nodiscard]] std::string encode_note(std::string_view number, std::string_view committed);

// The keys of a note by their places, the arguments of their rules, and the identity of their filter.
struct NotedKeys {
  StagedKeys keys;
  std::array<char, 8> identity;
  std::function<StagedKeys::Words(std::size_t)> arguments;
};
// Makes the keys from the content of a note. Error: no first key begins like that.
using KeysOfNote = std::function<NotedKeys(std::string_view number, std::string_view committed)>;

// Undoes the replacement that the note beside `first` describes; the caller holds a claim. False: there is no note,
// or its filter is whole. Error{locked}: its maker is alive. Error{corrupt}: the key holds something that is not a
// note.
bool undo_noted(Cluster& cluster, const std::string& first, const KeysOfNote& keys_of);

// For a client that found the filter incomplete and holds no claim. True: the replacement was undone. False: there
// was no note, its maker may be alive, or this user has no right to undo it.
bool undo_interrupted(Cluster& cluster, const std::string& first,
                      const KeysOfNote& keys_of) noexcept;
// The error for a call that was not repeated after the replacement was undone.
[[nodiscard]] Error was_undone(const std::string& name);

}  // namespace bloomery::detail
