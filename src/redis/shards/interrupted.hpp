// How a replacement of shards is undone whose maker was killed.
//
// A maker puts its shards into their places one by one (shard_maker.hpp). Before the first it leaves a
// note beside the first key: the number in the staged names, and how the first key begins once all
// shards are in their places. It removes the note when nothing is left to do. So a note whose maker has
// no claim is that of one that was killed, or that could not reach a node any more:
//   - if the first key begins as the note says, the filter is whole: what was set aside goes;
//   - if no filter is there, it was to be a new one, or the old one was removed since: what the maker
//     put into places goes, and what was set aside expires;
//   - otherwise what was set aside comes back.
// All of it is done under a claim, and doing it twice is harmless. A maker that only slept finds its
// claim and its staged keys gone, and ends with an error.
#pragma once

#include <bloomery/error.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "redis/shards/staged_keys.hpp"
#include "redis/wire/cluster.hpp"

namespace bloomery::detail {

[[nodiscard]] std::string encode_note(std::string_view number, std::string_view committed);

// The keys of a note, by their places, the arguments of their rules, and the identity of their filter.
struct NotedKeys {
  StagedKeys keys;
  std::array<char, 8> identity;
  std::function<StagedKeys::Words(std::size_t)> arguments;
};
// From what a note says. Error: no first key begins so.
using KeysOfNote = std::function<NotedKeys(std::string_view number, std::string_view committed)>;

// Undoes what the note beside `first` says, for one who holds a claim. False: there is no note, or its
// filter is whole. Error{locked}: its maker is alive. Error{corrupt}: it is no note.
bool undo_noted(Cluster& cluster, const std::string& first, const KeysOfNote& keys_of);

// For one who found the filter not to be whole, and holds no claim. True: it was undone. False: there
// was no note, its maker may be alive, or this user cannot undo it.
bool undo_interrupted(Cluster& cluster, const std::string& first,
                      const KeysOfNote& keys_of) noexcept;
// The error for a call that was not repeated after that.
[[nodiscard]] Error was_undone(const std::string& name);

}  // namespace bloomery::detail
