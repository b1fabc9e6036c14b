// The textbook's filter, written only from the comments of the headers: a list of positions per key,
// one byte per bit. Slow, and simple enough to be obviously right.
#pragma once

#include <bloomery/plan.hpp>

#include <cstdint>
#include <vector>

#include "support/random.hpp"

namespace bloomery::test {

// floor(a * b / 2^64), from 32-bit halves.
inline std::uint64_t high_product(std::uint64_t a, std::uint64_t b) noexcept {
  const std::uint64_t a0 = a & 0xFFFFFFFF, a1 = a >> 32, b0 = b & 0xFFFFFFFF, b1 = b >> 32;
  const std::uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
  return a1 * b1 + (middle >> 32) + ((a0 * b1 + (middle & 0xFFFFFFFF)) >> 32);
}

// The sixteen odd constants: the upper halves of SplitMix64's first outputs, with the lowest bit set.
inline std::uint32_t lane_multiplier(unsigned word) noexcept {
  return static_cast<std::uint32_t>(mix(word * 0x9E3779B97F4A7C15) >> 32) | 1;
}

inline Hash128 second_of(Hash128 hash) noexcept {
  const std::uint64_t turned = hash.low << 32 | hash.low >> 32;
  const std::uint64_t mixed = (hash.high ^ turned) * 0x9E6C63D0676A9A99;
  const std::uint64_t low = mixed ^ mixed >> 32;
  return {low * 0xA0761D6478BD642F, low};
}

// The k positions of a hash in one of the blocks of `block_bits`, sixteen words each, as bits of
// the whole array: the bit in a word is the top 5, 3 or 2 bits of a product.
inline void block_positions(std::uint64_t bits, std::uint32_t block_bits, std::uint32_t k,
                            Hash128 hash, std::vector<std::uint64_t>& out) {
  const std::uint64_t block = high_product(hash.high, bits / block_bits);
  const std::uint64_t word_bits = block_bits / 16;
  const unsigned start = hash.low >> 58 & 15;
  const unsigned stride = 2 * static_cast<unsigned>(hash.low >> 62) + 1;
  for (std::uint32_t j = 0; j < k; ++j) {
    const unsigned word = (start + j * stride) % 16;
    const auto half = static_cast<std::uint32_t>(word % 2 == 0 ? hash.low : hash.low >> 32);
    const std::uint64_t bit = (half * lane_multiplier(word)) * word_bits >> 32;
    out.push_back(block * block_bits + word * word_bits + bit);
  }
}

inline std::vector<std::uint64_t> positions(const Plan& plan, Hash128 hash) {
  std::vector<std::uint64_t> out;
  switch (plan.layout) {
    case Layout::blocked:
      block_positions(plan.bits, 512, plan.hashes, hash, out);
      break;
    case Layout::blocked2:
      block_positions(plan.bits, 512, plan.hashes / 2, hash, out);
      block_positions(plan.bits, 512, plan.hashes / 2, second_of(hash), out);
      break;
    case Layout::blocked128:
      block_positions(plan.bits, 128, plan.hashes, hash, out);
      break;
    case Layout::blocked64:
      block_positions(plan.bits, 64, plan.hashes, hash, out);
      break;
    case Layout::blocked2x128:
      block_positions(plan.bits, 128, plan.hashes / 2, hash, out);
      block_positions(plan.bits, 128, plan.hashes / 2, second_of(hash), out);
      break;
    case Layout::blocked2x64:
      block_positions(plan.bits, 64, plan.hashes / 2, hash, out);
      block_positions(plan.bits, 64, plan.hashes / 2, second_of(hash), out);
      break;
    case Layout::standard: {
      std::uint64_t state = hash.high;
      const std::uint64_t increment = second_of(hash).high | 1;
      for (std::uint32_t j = 0; j < plan.hashes; ++j) {
        out.push_back(high_product(state, plan.bits));
        state = state * 0xD1342543DE82EF95 + increment;
      }
      break;
    }
  }
  return out;
}

class NaiveFilter {
 public:
  explicit NaiveFilter(const Plan& plan) : plan_(plan), bits_(plan.bits) {}

  bool insert(Hash128 hash) {
    bool fresh = false;
    for (const std::uint64_t position : positions(plan_, hash)) {
      fresh |= !bits_[position];
      bits_[position] = true;
    }
    return fresh;
  }
  [[nodiscard]] bool may_contain(Hash128 hash) const {
    for (const std::uint64_t position : positions(plan_, hash))
      if (!bits_[position]) return false;
    return true;
  }
  // Bit i of the array is bit i % 8 of byte i / 8.
  [[nodiscard]] std::vector<std::byte> bytes() const {
    std::vector<std::byte> out(plan_.bytes());
    for (std::uint64_t i = 0; i < plan_.bits; ++i)
      if (bits_[i]) out[i / 8] |= std::byte{1} << (i % 8);
    return out;
  }
  [[nodiscard]] const std::vector<bool>& bits() const noexcept { return bits_; }
  std::vector<bool>& bits() noexcept { return bits_; }

 private:
  Plan plan_;
  std::vector<bool> bits_;
};

}  // namespace bloomery::test
