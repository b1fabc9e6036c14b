// A block by atomic words, for bits that other threads turn on meanwhile.
//
// All accesses are relaxed: bits only turn on, each key is found by its own bits alone, and
// whoever learns of an insert in a happens-before order sees its words by coherence. A thread turns
// on only what it has seen off, and then says "certainly new"; of a key that was not there, some
// bit was off, and the first of its inserters to turn that on is such a thread.
#pragma once

#include <bloomery/detail/block.hpp>

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>

namespace bloomery::detail {

namespace {

// ---- a key's bits in all words of a block, as they are in memory ----------------------------------

struct BlockBits {
  alignas(64) std::uint64_t word[8];
};

struct ScalarExpandMask {
  static void expand_mask(std::uint64_t low, const WordMasks& masks, BlockBits& bits) noexcept {
    std::uint32_t words[16] = {};
    for (std::uint32_t chosen = masks.of[low >> 58]; chosen != 0; chosen &= chosen - 1) {
      const auto word = static_cast<unsigned>(std::countr_zero(chosen));
      ScalarBlock::store(words + word, ScalarBlock::bit(low, word));
    }
    std::memcpy(bits.word, words, sizeof words);
  }
};

#if defined(__AVX512F__) && defined(__AVX512BW__)
struct Avx512ExpandMask {
  [[gnu::always_inline]] static void expand_mask(std::uint64_t low, const WordMasks& masks,
                                                 BlockBits& bits) noexcept {
    const __m512i wanted =
        _mm512_maskz_sllv_epi32(masks.of[low >> 58], _mm512_set1_epi32(1),
                                reinterpret_cast<__m512i>(Avx512Block::shifts(low)));
    _mm512_store_si512(bits.word, wanted);
  }
};
#endif

#if defined(__AVX2__)
struct Avx2ExpandMask {
  [[gnu::always_inline]] static void expand_mask(std::uint64_t low, const WordMasks& masks,
                                                 BlockBits& bits) noexcept {
    const Avx2Block::Halves wanted = Avx2Block::bits(low, masks.of[low >> 58]);
    auto* halves = reinterpret_cast<__m256i*>(bits.word);
    _mm256_store_si256(halves, wanted.first);
    _mm256_store_si256(halves + 1, wanted.second);
  }
};
#endif

#if defined(__ARM_NEON) && defined(__aarch64__)
struct NeonExpandMask {
  [[gnu::always_inline]] static void expand_mask(std::uint64_t low, const WordMasks& masks,
                                                 BlockBits& bits) noexcept {
    const NeonBlock::Quarters wanted = NeonBlock::bits(low, masks.of[low >> 58]);
    for (int quarter = 0; quarter < 4; ++quarter)
      vst1q_u64(bits.word + 2 * quarter, vreinterpretq_u64_u32(wanted.of[quarter]));
  }
};
#endif

// ---- the block -----------------------------------------------------------------------------------

template <class ExpandMask>
struct AtomicBlock {
  [[gnu::always_inline]] static std::uint64_t load(std::uint64_t& word) noexcept {
    return std::atomic_ref<std::uint64_t>(word).load(std::memory_order_relaxed);
  }
  [[gnu::always_inline]] static bool test(std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    auto* words = reinterpret_cast<std::uint64_t*>(block);
    BlockBits wanted;
    ExpandMask::expand_mask(low, masks, wanted);
    std::uint64_t missing = 0;
    for (unsigned i = 0; i < 8; ++i) missing |= wanted.word[i] & ~load(words[i]);
    return missing == 0;
  }
  [[gnu::always_inline]] static bool set(std::uint32_t* block, std::uint64_t low,
                                         const WordMasks& masks) noexcept {
    auto* words = reinterpret_cast<std::uint64_t*>(block);
    BlockBits wanted;
    ExpandMask::expand_mask(low, masks, wanted);
    std::uint64_t missing[8];
    std::uint64_t any = 0;
    for (unsigned i = 0; i < 8; ++i) any |= missing[i] = wanted.word[i] & ~load(words[i]);
    if (any == 0) return false;
    // Which words miss bits is as good as random: one loop over them is mispredicted once, a branch
    // for each word several times.
    unsigned words_off = 0;
    for (unsigned i = 0; i < 8; ++i) words_off |= static_cast<unsigned>(missing[i] != 0) << i;
    for (; words_off != 0; words_off &= words_off - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(words_off));
      std::atomic_ref<std::uint64_t>(words[i]).fetch_or(wanted.word[i], std::memory_order_relaxed);
    }
    return true;
  }
};

}  // namespace
}  // namespace bloomery::detail
