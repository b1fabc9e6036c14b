// One bit of the array, plain, or atomic beside other threads.
//
// Bit i of the array is bit i % 32 of little-endian word i / 32, which is bit i % 8 of byte i / 8.
#pragma once

#include <bloomery/detail/kernel.hpp>

#include <atomic>
#include <cstdint>

namespace bloomery::detail {
namespace {

struct PlainBits {
  [[gnu::always_inline]] static bool test(const BitArray& bit_array,
                                          std::uint64_t position) noexcept {
    return (ScalarBlock::load(bit_array.words + position / 32) >> (position % 32) & 1) != 0;
  }
  // Not zero if it was off.
  [[gnu::always_inline]] static std::uint32_t set(const BitArray& bit_array,
                                                  std::uint64_t position) noexcept {
    std::uint32_t* word = bit_array.words + position / 32;
    const std::uint32_t wanted = std::uint32_t{1} << (position % 32);
    const std::uint32_t old = ScalarBlock::load(word);
    ScalarBlock::store(word, old | wanted);
    return wanted & ~old;
  }
};

// As shared.hpp says.
struct AtomicBits {
  [[gnu::always_inline]] static bool test(const BitArray& bit_array,
                                          std::uint64_t position) noexcept {
    return (word(bit_array, position).load(std::memory_order_relaxed) & bit(position)) != 0;
  }
  [[gnu::always_inline]] static std::uint32_t set(const BitArray& bit_array,
                                                  std::uint64_t position) noexcept {
    if (test(bit_array, position)) return 0;
    word(bit_array, position).fetch_or(bit(position), std::memory_order_relaxed);
    return 1;
  }

 private:
  [[gnu::always_inline]] static std::atomic_ref<std::uint32_t> word(
      const BitArray& bit_array, std::uint64_t position) noexcept {
    return std::atomic_ref<std::uint32_t>(bit_array.words[position / 32]);
  }
  // As it is in memory.
  [[gnu::always_inline]] static std::uint32_t bit(std::uint64_t position) noexcept {
    std::uint32_t bit;
    ScalarBlock::store(&bit, std::uint32_t{1} << (position % 32));
    return bit;
  }
};

}  // namespace
}  // namespace bloomery::detail
