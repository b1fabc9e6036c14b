// Operations on a block, and on a bit, while other threads set bits: by atomic accesses to words.
//
// All accesses are relaxed: bits are only set, a look-up of a key depends only on its own bits, and a
// thread that learns of an insert in a happens-before order sees the words of that insert by coherence. A
// thread sets only bits that it has seen clear, and then answers "certainly new". If a key was not there,
// one of its bits was clear, and the first thread that sets this bit gives that answer.
#pragma once

#include <bloomery/detail/relaxed_block.hpp>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

namespace bloomery::detail {
namespace {

// Inserts into a block. For look-ups RelaxedBlock is used.
template <class Block>
struct AtomicBlock {
  [[gnu::always_inline]] static bool set(std::uint32_t* block, std::uint64_t low,
                                         const WordMasks& masks) noexcept {
    const Wanted wanted(low, masks);
    std::uint64_t missing[8];
    std::uint64_t any = 0;
    for (unsigned i = 0; i < 8; ++i) any |= missing[i] = wanted[i] & ~word(block, i).load(kRelaxed);
    if (any == 0) return false;
    // The words that lack bits are practically random: a loop over them is mispredicted once, a branch
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
      std::memcpy(&two, bits.words + std::size_t{2} * i, sizeof two);
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
  // Returns a number other than zero if the bit was clear.
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
  // A word with this bit, in the byte order of the array.
  [[gnu::always_inline]] static std::uint32_t bit(std::uint64_t position) noexcept {
    std::uint32_t bit;
    store_word(&bit, std::uint32_t{1} << (position % 32));
    return bit;
  }
};

}  // namespace
}  // namespace bloomery::detail
