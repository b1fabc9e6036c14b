// Passes bytes through zlib, liblzma or libbz2, whose interfaces are alike.
//
// Each has a struct with a pointer to the next byte and a count, for the input and for the output; only
// the types of these fields differ. The counts may have 32 bits.
#pragma once

#include "compressed/codec.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace bloomery::cli {

constexpr std::size_t kMostPiece = std::size_t{1} << 30;

// Gives the library as much of the input and of the output as its counts can hold; returns how much.
template <class State>
Decoder::Step give(State& state, std::string_view in, std::span<char> out) {
  const Decoder::Step given{.taken = std::min(in.size(), kMostPiece),
                            .made = std::min(out.size(), kMostPiece)};
  // No library writes to its input, but not every one declares it const.
  state.next_in = reinterpret_cast<decltype(state.next_in)>(const_cast<char*>(in.data()));
  state.avail_in = static_cast<decltype(state.avail_in)>(given.taken);
  state.next_out = reinterpret_cast<decltype(state.next_out)>(out.data());
  state.avail_out = static_cast<decltype(state.avail_out)>(given.made);
  return given;
}

// How much of both the library has used.
template <class State>
Decoder::Step done(const State& state, const Decoder::Step& given) {
  return {.taken = given.taken - state.avail_in, .made = given.made - state.avail_out};
}

// Calls step() until the text is consumed and the library's output is appended to `out`, or until
// step() returns true, which means the end.
template <class State, class Call>
void pump(State& state, std::string_view text, std::string& out, Call step) {
  std::array<char, std::size_t{64} << 10> room;
  for (bool more = true; more;) {
    const Decoder::Step given = give(state, text, room);
    const bool ended = step();
    const Decoder::Step did = done(state, given);
    out.append(room.data(), did.made);
    text.remove_prefix(did.taken);
    more = !ended && (!text.empty() || did.made == room.size());
  }
}

}  // namespace bloomery::cli
