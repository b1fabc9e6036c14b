// Clearing blocks one by one.
#include "server/lazy_clear.hpp"

#include <bloomery/plan.hpp>

#include <algorithm>
#include <new>

#include "filter/window_ring.hpp"

namespace bloomery::server {

OwnedLazyClear LazyClear::make(const detail::WindowBitArray& bit_array, std::uint32_t first,
                               std::uint32_t count) noexcept {
  const std::uint64_t words = (bit_array.blocks + 63) / 64;
  void* const memory = allocate(sizeof(LazyClear) + words * sizeof(std::uint64_t));
  if (memory == nullptr) return nullptr;
  auto* const made = new (memory) LazyClear(first, count);
  std::fill_n(made->bits(), words, ~std::uint64_t{0});
  return OwnedLazyClear(made);
}

void LazyClear::clear_now(const detail::WindowBitArray& bit_array, std::uint64_t block) noexcept {
  constexpr std::size_t kWords = kBlockBits / 32;
  for (std::uint32_t i = 0; i < count_; ++i) {
    std::uint32_t* const words =
        detail::block_at(bit_array, block, (first_ + i) % bit_array.ring_slices);
    // Parts that are zero are only read, so that pages that were never used are not taken.
    if (std::any_of(words, words + kWords, [](std::uint32_t word) { return word != 0; }))
      std::fill_n(words, kWords, 0U);
  }
  bits()[block / 64] &= ~(std::uint64_t{1} << block % 64);
}

void LazyClear::clear(const detail::WindowBitArray& bit_array, std::uint64_t from,
                      std::uint64_t to) noexcept {
  // The blocks of a slice lie too far apart for the CPU to prefetch them by itself.
  constexpr std::uint64_t kAhead = 24;
  for (std::uint64_t block = std::max(from, next_); block < to; ++block) {
    if (block + kAhead < to)
      __builtin_prefetch(detail::block_at(bit_array, block + kAhead, first_), 1);
    clear(bit_array, block);
  }
}

bool LazyClear::clear_some(const detail::WindowBitArray& bit_array, std::uint64_t most) noexcept {
  const std::uint64_t end = next_ + std::min(most, bit_array.blocks - next_);
  clear(bit_array, next_, end);
  next_ = end;
  return next_ == bit_array.blocks;
}

}  // namespace bloomery::server
