// One block of counters and one key: the counters that a key has in a 64-byte block.
//
// The block is that of layout `blocked` (detail/block.hpp): sixteen 32-bit words, little-endian, of
// which a key uses k. Each word is 8 counters of 4 bits or 4 counters of 8, the lowest bits first; the
// key's counter in a word is the top 3 or 2 bits of the product whose top 5 are the bit of `blocked`.
//
// A counter that reaches its greatest value is saturated: it has lost count, so nothing changes it
// any more. Four primitives for each instruction set:
//
//   set    counts up the key's counters that are not saturated; was any zero?
//   take   if none is zero, counts down those that are not saturated; else changes nothing
//   test   are they all above zero?
//   least  the least of them
//
// The scalar ones are the truth; tests/filter/counting_kernels_test.cpp holds all others
// against them.
#pragma once

#include <bloomery/detail/block.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace bloomery::detail {
namespace {  // as bulk.hpp

template <unsigned kCounterBits>
struct CounterWidth {
  static_assert(kCounterBits == 4 || kCounterBits == 8);
  static constexpr std::uint32_t kFull = (1U << kCounterBits) - 1;
  // Of a product's top 5 bits, those that are a multiple of the width: where the counter starts.
  static constexpr std::uint32_t kStarts = 32 - kCounterBits;
};

template <unsigned kCounterBits>
struct ScalarCounters : CounterWidth<kCounterBits> {
  using CounterWidth<kCounterBits>::kFull;

  // Calls visit(word, start) for each of a key's counters until it returns false.
  template <class Visit>
  static bool each(std::uint64_t low, const WordMasks& masks, Visit visit) noexcept {
    for (std::uint32_t words = masks.of[low >> 58]; words != 0; words &= words - 1) {
      const auto word = static_cast<unsigned>(std::countr_zero(words));
      const auto half = static_cast<std::uint32_t>(low >> (word % 2 * 32));
      const std::uint32_t start =
          ((half * kLaneMultipliers[word]) >> 27) & CounterWidth<kCounterBits>::kStarts;
      if (!visit(word, start)) return false;
    }
    return true;
  }
  static std::uint32_t counter(const std::uint32_t* block, unsigned word,
                               std::uint32_t start) noexcept {
    return ScalarBlock::load(block + word) >> start & kFull;
  }
  static bool test(const std::uint32_t* block, std::uint64_t low, const WordMasks& masks) noexcept {
    return each(low, masks, [&](unsigned word, std::uint32_t start) {
      return counter(block, word, start) != 0;
    });
  }
  static bool set(std::uint32_t* block, std::uint64_t low, const WordMasks& masks) noexcept {
    bool fresh = false;
    each(low, masks, [&](unsigned word, std::uint32_t start) {
      const std::uint32_t old = counter(block, word, start);
      fresh |= old == 0;
      const std::uint32_t one = old != kFull;
      ScalarBlock::store(block + word, ScalarBlock::load(block + word) + (one << start));
      return true;
    });
    return fresh;
  }
  static bool take(std::uint32_t* block, std::uint64_t low, const WordMasks& masks) noexcept {
    if (!test(block, low, masks)) return false;
    return each(low, masks, [&](unsigned word, std::uint32_t start) {
      const std::uint32_t one = counter(block, word, start) != kFull;
      ScalarBlock::store(block + word, ScalarBlock::load(block + word) - (one << start));
      return true;
    });
  }
  static std::uint32_t least(const std::uint32_t* block, std::uint64_t low,
                             const WordMasks& masks) noexcept {
    std::uint32_t found = kFull;
    each(low, masks, [&](unsigned word, std::uint32_t start) {
      found = std::min(found, counter(block, word, start));
      return true;
    });
    return found;
  }
};

// ---- the same, sixteen words at once ---------------------------------------------------
// One in each of the key's counters is a `unit`; a unit times kFull is the counter. A refused `take`
// stores what it loaded, since a branch would be mispredicted where absent keys are mixed in.

#if defined(__AVX512F__) && defined(__AVX512BW__)
template <unsigned kCounterBits>
struct Avx512Counters : CounterWidth<kCounterBits> {
  using Words = Avx512Block::Words;
  using CounterWidth<kCounterBits>::kFull;

  [[gnu::always_inline]] static Words starts(std::uint64_t low) noexcept {
    return Avx512Block::shifts(low) & CounterWidth<kCounterBits>::kStarts;
  }
  [[gnu::always_inline]] static __m512i counters(Words starts) noexcept {
    return reinterpret_cast<__m512i>((Words{} + kFull) << starts);
  }
  [[gnu::always_inline]] static bool test(const std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    return _mm512_mask_testn_epi32_mask(masks.of[low >> 58], counters(starts(low)),
                                        _mm512_load_si512(block)) == 0;
  }
  // Those of the chosen words whose counter is not saturated.
  [[gnu::always_inline]] static __mmask16 counting(__mmask16 words, __m512i counter,
                                                   __m512i old) noexcept {
    return _mm512_mask_cmpneq_epi32_mask(words, _mm512_and_si512(old, counter), counter);
  }
  [[gnu::always_inline]] static bool set(std::uint32_t* block, std::uint64_t low,
                                         const WordMasks& masks) noexcept {
    const __mmask16 words = masks.of[low >> 58];
    const Words start = starts(low);
    const __m512i counter = counters(start), old = _mm512_load_si512(block);
    const auto unit = reinterpret_cast<__m512i>((Words{} + 1U) << start);
    const __m512i sum = _mm512_mask_add_epi32(old, counting(words, counter, old), old, unit);
    *reinterpret_cast<Words*>(block) = reinterpret_cast<Words>(sum);
    return _mm512_mask_testn_epi32_mask(words, counter, old) != 0;
  }
  [[gnu::always_inline]] static bool take(std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    const __mmask16 words = masks.of[low >> 58];
    const Words start = starts(low);
    const __m512i counter = counters(start), old = _mm512_load_si512(block);
    const auto unit = reinterpret_cast<__m512i>((Words{} + 1U) << start);
    const bool there = _mm512_mask_testn_epi32_mask(words, counter, old) == 0;
    const auto changed = static_cast<__mmask16>(there ? counting(words, counter, old) : 0);
    const __m512i difference = _mm512_mask_sub_epi32(old, changed, old, unit);
    *reinterpret_cast<Words*>(block) = reinterpret_cast<Words>(difference);
    return there;
  }
  [[gnu::always_inline]] static std::uint32_t least(const std::uint32_t* block, std::uint64_t low,
                                                    const WordMasks& masks) noexcept {
    const Words values = (*reinterpret_cast<const Words*>(block) >> starts(low)) & kFull;
    return _mm512_mask_reduce_min_epu32(masks.of[low >> 58], reinterpret_cast<__m512i>(values));
  }
};
#endif

#if defined(__AVX2__)
template <unsigned kCounterBits>
struct Avx2Counters : CounterWidth<kCounterBits> {
  using Words = Avx2Block::Words;
  using CounterWidth<kCounterBits>::kFull;

  // Eight words: what is there, and zeros in the words that the key does not use.
  struct Half {
    __m256i old, start, unit, counter;

    [[gnu::always_inline]] Half(const std::uint32_t* block, unsigned first, std::uint64_t low,
                                std::uint32_t words) noexcept {
      old = _mm256_load_si256(reinterpret_cast<const __m256i*>(block + first));
      const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
      const __m256i chosen = _mm256_set1_epi32(static_cast<int>(words >> first));
      const __m256i one = _mm256_and_si256(_mm256_cmpeq_epi32(_mm256_and_si256(chosen, lane), lane),
                                           _mm256_set1_epi32(1));
      const __m256i product =
          _mm256_mullo_epi32(_mm256_set1_epi64x(static_cast<long long>(low)),
                             *reinterpret_cast<const __m256i*>(kLaneMultipliers + first));
      start = _mm256_and_si256(_mm256_srli_epi32(product, 27),
                               _mm256_set1_epi32(CounterWidth<kCounterBits>::kStarts));
      unit = _mm256_sllv_epi32(one, start);
      counter = _mm256_sub_epi32(_mm256_slli_epi32(unit, kCounterBits), unit);
    }
    // The units of the counters that are zero, or that are not saturated.
    [[nodiscard, gnu::always_inline]] __m256i empty() const noexcept {
      return _mm256_and_si256(
          _mm256_cmpeq_epi32(_mm256_and_si256(old, counter), _mm256_setzero_si256()), unit);
    }
    [[nodiscard, gnu::always_inline]] __m256i counting() const noexcept {
      return _mm256_andnot_si256(_mm256_cmpeq_epi32(_mm256_and_si256(old, counter), counter), unit);
    }
    // The counters as numbers, the greatest in the words that are not used.
    [[nodiscard, gnu::always_inline]] __m256i values() const noexcept {
      const __m256i unused = _mm256_cmpeq_epi32(unit, _mm256_setzero_si256());
      return _mm256_or_si256(_mm256_srlv_epi32(_mm256_and_si256(old, counter), start),
                             _mm256_and_si256(unused, _mm256_set1_epi32(kFull)));
    }
  };
  [[gnu::always_inline]] static bool any_empty(const Half& first, const Half& second) noexcept {
    const __m256i empty = _mm256_or_si256(first.empty(), second.empty());
    return _mm256_testz_si256(empty, empty) == 0;
  }
  [[gnu::always_inline]] static void store(std::uint32_t* block, __m256i first,
                                           __m256i second) noexcept {
    auto* words = reinterpret_cast<Words*>(block);
    words[0] = reinterpret_cast<Words>(first);
    words[1] = reinterpret_cast<Words>(second);
  }
  [[gnu::always_inline]] static bool test(const std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    const std::uint32_t words = masks.of[low >> 58];
    return !any_empty(Half(block, 0, low, words), Half(block, 8, low, words));
  }
  [[gnu::always_inline]] static bool set(std::uint32_t* block, std::uint64_t low,
                                         const WordMasks& masks) noexcept {
    const std::uint32_t words = masks.of[low >> 58];
    const Half first(block, 0, low, words), second(block, 8, low, words);
    store(block, _mm256_add_epi32(first.old, first.counting()),
          _mm256_add_epi32(second.old, second.counting()));
    return any_empty(first, second);
  }
  [[gnu::always_inline]] static bool take(std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    const std::uint32_t words = masks.of[low >> 58];
    const Half first(block, 0, low, words), second(block, 8, low, words);
    const bool there = !any_empty(first, second);
    const __m256i all = _mm256_set1_epi32(there ? -1 : 0);
    store(block, _mm256_sub_epi32(first.old, _mm256_and_si256(all, first.counting())),
          _mm256_sub_epi32(second.old, _mm256_and_si256(all, second.counting())));
    return there;
  }
  [[gnu::always_inline]] static std::uint32_t least(const std::uint32_t* block, std::uint64_t low,
                                                    const WordMasks& masks) noexcept {
    const std::uint32_t words = masks.of[low >> 58];
    const __m256i both =
        _mm256_min_epu32(Half(block, 0, low, words).values(), Half(block, 8, low, words).values());
    const auto values = reinterpret_cast<Words>(both);
    std::uint32_t found = kFull;
    for (unsigned word = 0; word < 8; ++word) found = std::min(found, values[word]);
    return found;
  }
};
#endif

#if defined(__ARM_NEON) && defined(__aarch64__)
template <unsigned kCounterBits>
struct NeonCounters : CounterWidth<kCounterBits> {
  using CounterWidth<kCounterBits>::kFull;

  // As the halves of AVX2, four words each.
  struct Quarter {
    uint32x4_t old, unit, counter;
    int32x4_t start;

    [[gnu::always_inline]] Quarter(const std::uint32_t* block, int quarter, std::uint64_t low,
                                   std::uint16_t words) noexcept {
      old = vld1q_u32(block + 4 * quarter);
      const std::uint32_t lane_bits[4] = {1, 2, 4, 8};
      const uint32x4_t here = vshlq_u32(vld1q_u32(lane_bits), vdupq_n_s32(4 * quarter));
      const uint32x4_t one = vshrq_n_u32(vtstq_u32(vdupq_n_u32(words), here), 31);
      const uint32x4_t product = vmulq_u32(vreinterpretq_u32_u64(vdupq_n_u64(low)),
                                           vld1q_u32(kLaneMultipliers + 4 * quarter));
      start = vreinterpretq_s32_u32(
          vandq_u32(vshrq_n_u32(product, 27), vdupq_n_u32(CounterWidth<kCounterBits>::kStarts)));
      unit = vshlq_u32(one, start);
      counter = vsubq_u32(vshlq_n_u32(unit, kCounterBits), unit);
    }
    [[nodiscard, gnu::always_inline]] uint32x4_t empty() const noexcept {
      return vbicq_u32(unit, vtstq_u32(old, counter));
    }
    [[nodiscard, gnu::always_inline]] uint32x4_t counting() const noexcept {
      return vbicq_u32(unit, vceqq_u32(vandq_u32(old, counter), counter));
    }
    [[nodiscard, gnu::always_inline]] uint32x4_t values() const noexcept {
      const uint32x4_t unused = vandq_u32(vceqq_u32(unit, vdupq_n_u32(0)), vdupq_n_u32(kFull));
      return vorrq_u32(vshlq_u32(vandq_u32(old, counter), vnegq_s32(start)), unused);
    }
  };
  [[gnu::always_inline]] static bool test(const std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    uint32x4_t empty = vdupq_n_u32(0);
    for (int quarter = 0; quarter < 4; ++quarter)
      empty = vorrq_u32(empty, Quarter(block, quarter, low, masks.of[low >> 58]).empty());
    return vmaxvq_u32(empty) == 0;
  }
  [[gnu::always_inline]] static bool set(std::uint32_t* block, std::uint64_t low,
                                         const WordMasks& masks) noexcept {
    uint32x4_t empty = vdupq_n_u32(0);
    for (int quarter = 0; quarter < 4; ++quarter) {
      const Quarter part(block, quarter, low, masks.of[low >> 58]);
      empty = vorrq_u32(empty, part.empty());
      vst1q_u32(block + 4 * quarter, vaddq_u32(part.old, part.counting()));
    }
    return vmaxvq_u32(empty) != 0;
  }
  [[gnu::always_inline]] static bool take(std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    const std::uint16_t words = masks.of[low >> 58];
    const Quarter parts[4] = {Quarter(block, 0, low, words), Quarter(block, 1, low, words),
                              Quarter(block, 2, low, words), Quarter(block, 3, low, words)};
    uint32x4_t empty = vdupq_n_u32(0);
    for (const Quarter& part : parts) empty = vorrq_u32(empty, part.empty());
    const bool there = vmaxvq_u32(empty) == 0;
    const uint32x4_t all = vdupq_n_u32(there ? ~0U : 0U);
    for (int quarter = 0; quarter < 4; ++quarter)
      vst1q_u32(block + 4 * quarter,
                vsubq_u32(parts[quarter].old, vandq_u32(all, parts[quarter].counting())));
    return there;
  }
  [[gnu::always_inline]] static std::uint32_t least(const std::uint32_t* block, std::uint64_t low,
                                                    const WordMasks& masks) noexcept {
    uint32x4_t found = vdupq_n_u32(kFull);
    for (int quarter = 0; quarter < 4; ++quarter)
      found = vminq_u32(found, Quarter(block, quarter, low, masks.of[low >> 58]).values());
    return vminvq_u32(found);
  }
};
#endif

}  // namespace
}  // namespace bloomery::detail
