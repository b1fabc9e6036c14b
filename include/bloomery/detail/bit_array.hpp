// The bits of a filter and the data that locates a key's bits in them. Layouts, kernels and filters pass both
// as one BitArray.
#pragma once

#include <cstdint>

namespace bloomery::detail {

// Prefetches the cache line of an address. GCC treats a function that does nothing else as one without
// effect, and drops its calls. The empty asm statement prevents that and costs no instruction.
[[gnu::always_inline]] inline void prefetch(const void* at) noexcept {
  __builtin_prefetch(at);
  asm volatile("");
}

// For each of the 64 choices of a start and a stride: the words, out of the sixteen of a block, in
// which a key has its k bits. They are start, start + stride, ... mod 16; the stride is 1, 3, 5 or 7.
struct WordMasks {
  std::uint8_t ones[64][16];  // 1 for each of these words
  std::uint16_t of[64];       // a bit for each of these words
};
const WordMasks& word_masks(std::uint32_t k) noexcept;  // 1 <= k <= 16

// Where the bits are, and the data that locates a key's bits in them. It owns nothing.
// Invariant: words is 64-byte aligned and bits / 8 bytes long.
struct BitArray {
  std::uint32_t* words = nullptr;
  std::uint64_t blocks = 0;  // of kBlockBits of the layout
  std::uint64_t bits = 0;
  std::uint32_t hashes = 0;
  const WordMasks* masks = nullptr;
};

}  // namespace bloomery::detail
