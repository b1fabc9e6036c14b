// Hashes to test kernels with: random ones, and extreme ones that are never drawn.
#pragma once

#include <bloomery/hash.hpp>

#include <cstdint>
#include <vector>

#include "support/random.hpp"

namespace bloomery::test {

// All zeros, all ones, one bit, halves alike.
inline std::vector<Hash128> adversarial_hashes() {
  constexpr std::uint64_t kOnes = ~std::uint64_t{0};
  std::vector<Hash128> out = {{0, 0}, {kOnes, kOnes}, {0, kOnes}, {kOnes, 0}};
  for (unsigned bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = std::uint64_t{1} << bit;
    for (const Hash128 hash : {Hash128{one, 0}, Hash128{0, one}, Hash128{~one, kOnes},
                               Hash128{kOnes, ~one}, Hash128{one, one}, Hash128{one - 1, one - 1}})
      out.push_back(hash);
  }
  return out;
}

inline std::vector<Hash128> mixed_hashes(std::uint64_t seed, std::size_t random) {
  std::vector<Hash128> out = adversarial_hashes();
  Random source(seed);
  for (std::size_t i = 0; i < random; ++i) out.push_back(source.hash());
  return out;
}

}  // namespace bloomery::test
