// Bits that other threads turn on meanwhile: a block, and a bit, by atomic words.
//
// All accesses are relaxed: bits only turn on, each key is found by its own bits alone, and
// a thread that learns of an insert in a happens-before order sees its words by coherence. A thread turns
// on only what it has seen off, and then says "certainly new"; of a key that was not there, some
// bit was off, and the first of its inserters to turn that on is such a thread.
#pragma once

#include <bloomery/detail/relaxed_block.hpp>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

namespace bloomery::detail {
namespace {

// Look-ups are those of RelaxedBlock.
template <class Block>
struct AtomicBlock {
  [[gnu::always_inline]] static bool set(std::uint32_t* block, std::uint64_t low,
                                         const WordMasks& masks) noexcept {
    const Wanted wanted(low, masks);
    std::uint64_t missing[8];
    std::uint64_t any = 0;
    for (unsigned i = 0; i < 8; ++i) any |= missing[i] = wanted[i] & ~word(block, i).load(kRelaxed);
    if (any == 0) return false;
    // Which words miss bits is as good as random: one loop over them is mispredicted once, a branch
    // for each word several times.
    unsigned words_off = 0;
    for (unsigned i = 0; i < 8; ++i) words_off |= static_cast<unsigned>(missing[i] != 0) << i;
    for (; words_off != 0; words_off &= words_off - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(words_off));
      word(block, i).fetch_or(wanted[i], kRelaxed);
    }
    return true;
  }

 private:
  static constexpr std::memory_order kRelaxed = std::memory_order_relaxed;
  // The key's bits, two words at a time.
  struct Wanted {
    [[gnu::always_inline]] Wanted(std::uint64_t low, const WordMasks& masks) noexcept {
      typename Block::Pattern(low, masks).write(bits);
    }
    [[gnu::always_inline]] std::uint64_t operator[](unsigned i) const noexcept {
      std::uint64_t two;
      std::memcpy(&two, bits.words + 2 * i, sizeof two);
      return two;
    }
    BlockBits bits;
  };
  [[gnu::always_inline]] static std::atomic_ref<std::uint64_t> word(std::uint32_t* block,
                                                                    unsigned i) noexcept {
    return std::atomic_ref<std::uint64_t>(reinterpret_cast<std::uint64_t*>(block)[i]);
  }
};

struct AtomicBit {
  [[gnu::always_inline]] static bool test(const BitArray& array, std::uint64_t position) noexcept {
    return (word(array, position).load(std::memory_order_relaxed) & bit(position)) != 0;
  }
  // Not zero if it was off.
  [[gnu::always_inline]] static std::uint32_t set(const BitArray& array,
                                                  std::uint64_t position) noexcept {
    if (test(array, position)) return 0;
    word(array, position).fetch_or(bit(position), std::memory_order_relaxed);
    return 1;
  }

 private:
  [[gnu::always_inline]] static std::atomic_ref<std::uint32_t> word(
      const BitArray& array, std::uint64_t position) noexcept {
    return std::atomic_ref<std::uint32_t>(array.words[position / 32]);
  }
  // As it is in memory.
  [[gnu::always_inline]] static std::uint32_t bit(std::uint64_t position) noexcept {
    std::uint32_t bit;
    store_word(&bit, std::uint32_t{1} << (position % 32));
    return bit;
  }
};

}  // namespace
}  // namespace bloomery::detail
