// Clearing blocks one by one.
#include "stale_blocks.hpp"

#include <bloomery/plan.hpp>

#include <algorithm>
#include <new>

#include "filter/window_ring.hpp"

namespace bloomery::server {

OwnedStaleBlocks StaleBlocks::of(const detail::WindowBitArray& bit_array, std::uint32_t first,
                                 std::uint32_t count) noexcept {
  const std::uint64_t words = (bit_array.blocks + 63) / 64;
  void* const memory = allocate(sizeof(StaleBlocks) + words * sizeof(std::uint64_t));
  if (memory == nullptr) return nullptr;
  auto* const made = new (memory) StaleBlocks(first, count);
  std::fill_n(made->bits(), words, ~std::uint64_t{0});
  return OwnedStaleBlocks(made);
}

void StaleBlocks::clear(const detail::WindowBitArray& bit_array, std::uint64_t block) noexcept {
  constexpr std::size_t kWords = kBlockBits / 32;
  for (std::uint32_t i = 0; i < count_; ++i) {
    std::uint32_t* const words =
        detail::block_at(bit_array, block, (first_ + i) % bit_array.ring_slices);
    // Pages that nobody has used are only read.
    if (std::any_of(words, words + kWords, [](std::uint32_t word) { return word != 0; }))
      std::fill_n(words, kWords, 0U);
  }
  bits()[block / 64] &= ~(std::uint64_t{1} << block % 64);
}

void StaleBlocks::settle(const detail::WindowBitArray& bit_array, std::uint64_t from,
                         std::uint64_t to) noexcept {
  // The blocks of a slice lie too far apart for the CPU to ask for them ahead by itself.
  constexpr std::uint64_t kAhead = 24;
  for (std::uint64_t block = std::max(from, next_); block < to; ++block) {
    if (block + kAhead < to)
      __builtin_prefetch(detail::block_at(bit_array, block + kAhead, first_), 1);
    settle(bit_array, block);
  }
}

bool StaleBlocks::go_on(const detail::WindowBitArray& bit_array, std::uint64_t most) noexcept {
  const std::uint64_t end = next_ + std::min(most, bit_array.blocks - next_);
  settle(bit_array, next_, end);
  next_ = end;
  return next_ == bit_array.blocks;
}

}  // namespace bloomery::server
