// A block in which other threads may set bits at the same time: loads and stores without data races.
//
// Bits are only set, never cleared. So a load may see any mixture of old and new words, or bytes: each mixture is
// a subset of the bits that the block will have, and a thread that learns of an insert in a happens-before order
// sees all of its bits by coherence. Only a thread that holds the block's lock (stripes.hpp) stores into it.
//
// Loads and stores are relaxed atomics of 64 bits (32 where words are scalar). On x86-64 they are vector loads
// and stores in assembly, because C++ has no atomic of 64 bytes; but not under a sanitizer, which has to see them.
#pragma once

#include <bloomery/detail/block.hpp>
#include <bloomery/detail/inline_block.hpp>
#include <bloomery/detail/stripes.hpp>

#include <atomic>
#include <cstdint>

namespace bloomery::detail {

template <class Isa>
struct Relaxed : Isa {
  [[gnu::always_inline]] static typename Isa::Words load(const std::uint32_t* block) noexcept {
    BlockBits copy;
    for (unsigned i = 0; i < 8; ++i) two_words(copy.words, i) = atomic(block, i).load(kRelaxed);
    return Isa::load(copy.words);
  }
  [[gnu::always_inline]] static void store(std::uint32_t* block,
                                           const typename Isa::Words& words) noexcept {
    BlockBits copy;
    Isa::store(copy.words, words);
    for (unsigned i = 0; i < 8; ++i) atomic(block, i).store(two_words(copy.words, i), kRelaxed);
  }

 private:
  using TwoWords [[gnu::may_alias]] = std::uint64_t;
  static constexpr std::memory_order kRelaxed = std::memory_order_relaxed;
  static TwoWords& two_words(std::uint32_t* block, unsigned i) noexcept {
    return reinterpret_cast<TwoWords*>(block)[i];
  }
  static std::atomic_ref<std::uint64_t> atomic(const std::uint32_t* block, unsigned i) noexcept {
    return std::atomic_ref<std::uint64_t>(
        reinterpret_cast<std::uint64_t*>(const_cast<std::uint32_t*>(block))[i]);
  }
};

#if defined(BLOOMERY_INLINE_BLOCK) && defined(__AVX2__)
template <>
struct Relaxed<Avx2> : Avx2 {
  [[gnu::always_inline]] static Words load(const std::uint32_t* block) noexcept {
    const auto* registers = reinterpret_cast<const Register*>(block);
    Words out;
    asm volatile("vmovdqa %1, %0" : "=x"(out.of[0]) : "m"(registers[0]));
    asm volatile("vmovdqa %1, %0" : "=x"(out.of[1]) : "m"(registers[1]));
    return out;
  }
  [[gnu::always_inline]] static void store(std::uint32_t* block, const Words& words) noexcept {
    auto* registers = reinterpret_cast<Register*>(block);
    asm volatile("vmovdqa %1, %0" : "=m"(registers[0]) : "x"(words.of[0]));
    asm volatile("vmovdqa %1, %0" : "=m"(registers[1]) : "x"(words.of[1]));
  }
};
#endif

#if defined(BLOOMERY_INLINE_BLOCK) && defined(__AVX512F__) && defined(__AVX512BW__)
template <>
struct Relaxed<Avx512> : Avx512 {
  [[gnu::always_inline]] static Words load(const std::uint32_t* block) noexcept {
    Words out;
    asm volatile("vmovdqa64 %1, %0" : "=v"(out) : "m"(*reinterpret_cast<const Words*>(block)));
    return out;
  }
  [[gnu::always_inline]] static void store(std::uint32_t* block, Words words) noexcept {
    asm volatile("vmovdqa64 %1, %0" : "=m"(*reinterpret_cast<Words*>(block)) : "v"(words));
  }
};
#endif

// Loads and stores of words for ScalarBlock.
struct RelaxedWords {
  static std::uint32_t load(const std::uint32_t* word) noexcept {
    const std::uint32_t value = atomic(word).load(std::memory_order_relaxed);
    return load_word(&value);
  }
  static void store(std::uint32_t* word, std::uint32_t value) noexcept {
    std::uint32_t stored;
    store_word(&stored, value);
    atomic(word).store(stored, std::memory_order_relaxed);
  }

 private:
  static std::atomic_ref<std::uint32_t> atomic(const std::uint32_t* word) noexcept {
    return std::atomic_ref<std::uint32_t>(*const_cast<std::uint32_t*>(word));
  }
};

template <class Block>
struct RelaxedBlockOf;
template <class Words>
struct RelaxedBlockOf<ScalarBlockIn<Words>> {
  using type = ScalarBlockIn<RelaxedWords>;
};
template <class Isa>
struct RelaxedBlockOf<VectorBlock<Isa>> {
  using type = VectorBlock<Relaxed<Isa>>;
};
// The same operations on a block in which other threads set bits.
template <class Block>
using RelaxedBlock = typename RelaxedBlockOf<Block>::type;

// Sets the bits of a key in a block in which other threads set bits too; `stripe` is that of the block. A present key
// is found without a lock. No other thread changes the block while its lock is held, so only what is clear under the
// lock decides the answer.
template <class Block>  // a RelaxedBlock
struct StripedBlock {
  [[gnu::always_inline]] static bool set(Stripe& stripe, std::uint32_t* block, std::uint64_t low,
                                         const WordMasks& masks) noexcept {
    if (Block::test(block, low, masks)) return false;
    if (!stripe.try_lock()) [[unlikely]]
      return wait_and_set(stripe, block, low, masks);
    return set_and_unlock(stripe, block, low, masks);
  }

 private:
  // Apart, so that an insert that need not wait saves no registers: its locked instruction would wait for their stores.
  [[gnu::noinline]] static bool wait_and_set(Stripe& stripe, std::uint32_t* block,
                                             std::uint64_t low, const WordMasks& masks) noexcept {
    stripe.lock();
    return set_and_unlock(stripe, block, low, masks);
  }
  [[gnu::always_inline]] static bool set_and_unlock(Stripe& stripe, std::uint32_t* block,
                                                    std::uint64_t low,
                                                    const WordMasks& masks) noexcept {
    const bool fresh = Block::set(block, low, masks);
    stripe.unlock();
    return fresh;
  }
};

}  // namespace bloomery::detail
