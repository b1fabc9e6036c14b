// The bits of a filter and what finds a key's bits in them: what layouts, kernels and filters hand each other.
#pragma once

#include <cstdint>

namespace bloomery::detail {

// Asks the memory for the cache line of an address. GCC takes a function that does nothing else for one
// without effect, and drops its calls. The empty statement costs no instruction and prevents that.
[[gnu::always_inline]] inline void prefetch(const void* at) noexcept {
  __builtin_prefetch(at);
  asm volatile("");
}

// For each of the 64 choices of a start and a stride: which of the sixteen words of a block a key with
// k bits in it uses. They are start, start + stride, ... mod 16; the stride is 1, 3, 5 or 7.
struct WordMasks {
  std::uint8_t ones[64][16];  // 1 for each such word
  std::uint16_t of[64];       // a bit for each such word
};
const WordMasks& word_masks(std::uint32_t k) noexcept;  // 1 <= k <= 16

// Where the bits are, and what finds a key's bits in them. Nothing is owned here.
// Invariant: words is 64-byte aligned and bits / 8 bytes long.
struct BitArray {
  std::uint32_t* words = nullptr;
  std::uint64_t blocks = 0;  // of kBlockBits of the layout
  std::uint64_t bits = 0;
  std::uint32_t hashes = 0;
  const WordMasks* masks = nullptr;
};

}  // namespace bloomery::detail
