// Random 64-bit keys: SplitMix64, so that equal seeds give equal keys and no key repeats; and a call for each of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace bloomery::bench {

using Keys = std::span<const std::uint64_t>;

// The i-th key of a stream. One stream is a permutation of the integers, so its keys are
// distinct; keys of two ranges of one stream are distinct too.
[[nodiscard]] inline std::uint64_t random_key(std::uint64_t i) noexcept {
  std::uint64_t z = (i + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

[[nodiscard]] inline std::vector<std::uint64_t> random_keys(std::uint64_t first,
                                                            std::uint64_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = random_key(first + i);
  return keys;
}

// Of how many keys the call says yes.
template <class Range, class Call>
std::uint64_t each(const Range& keys, Call call) {
  std::uint64_t yes = 0;
  for (const auto key : keys) yes += call(key) ? 1 : 0;
  return yes;
}

}  // namespace bloomery::bench
