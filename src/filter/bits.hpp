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
  [[gnu::always_inline]] static bool test(const Shape& shape, std::uint64_t position) noexcept {
    return (ScalarLine::load(shape.words + position / 32) >> (position % 32) & 1) != 0;
  }
  // Not zero if it was off.
  [[gnu::always_inline]] static std::uint32_t set(const Shape& shape,
                                                  std::uint64_t position) noexcept {
    std::uint32_t* word = shape.words + position / 32;
    const std::uint32_t wanted = std::uint32_t{1} << (position % 32);
    const std::uint32_t old = ScalarLine::load(word);
    ScalarLine::store(word, old | wanted);
    return wanted & ~old;
  }
};

// As shared.hpp says.
struct SharedBits {
  [[gnu::always_inline]] static bool test(const Shape& shape, std::uint64_t position) noexcept {
    return (word(shape, position).load(std::memory_order_relaxed) & bit(position)) != 0;
  }
  [[gnu::always_inline]] static std::uint32_t set(const Shape& shape,
                                                  std::uint64_t position) noexcept {
    if (test(shape, position)) return 0;
    word(shape, position).fetch_or(bit(position), std::memory_order_relaxed);
    return 1;
  }

 private:
  [[gnu::always_inline]] static std::atomic_ref<std::uint32_t> word(
      const Shape& shape, std::uint64_t position) noexcept {
    return std::atomic_ref<std::uint32_t>(shape.words[position / 32]);
  }
  // As it is in memory.
  [[gnu::always_inline]] static std::uint32_t bit(std::uint64_t position) noexcept {
    std::uint32_t bit;
    ScalarLine::store(&bit, std::uint32_t{1} << (position % 32));
    return bit;
  }
};

}  // namespace
}  // namespace bloomery::detail
