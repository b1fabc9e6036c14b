// The primitives that highway_bench compares: those of `blocked` in our intrinsics and over Highway.
#pragma once

#include <bloomery/detail/kernel.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace bloomery::bench {

// Each applies one primitive to all keys in turn and counts the answers.
struct Primitives {
  std::string name;
  std::uint64_t (*test)(const detail::BitArray&, std::span<const Hash128>) = nullptr;
  std::uint64_t (*set)(const detail::BitArray&, std::span<const Hash128>) = nullptr;
  const detail::BitKernel* ring = nullptr;  // the same in the library's ring, if set
};

Primitives our_primitives();     // intrinsics, compiled for this CPU
Primitives highway_static();     // Highway, compiled for this CPU
Primitives highway_dynamic();    // Highway, every target compiled, one chosen at each call
Primitives highway_each_call();  // the same, chosen at every single key

}  // namespace bloomery::bench
