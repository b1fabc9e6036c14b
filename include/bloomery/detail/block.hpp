// One cache line and one key: the bits that a key has in a 64-byte block.
//
// A block is sixteen 32-bit words, little-endian. A key sets one bit in each of k of them:
//
//   words   r, r + s, r + 2s, ... mod 16     r = bits 58..61 of low, s = 1, 3, 5, 7 by bits 62..63
//   bit     the top 5 bits of half * kLaneMultipliers[word] mod 2^32; half is the lower half
//           of low for even words and the upper one for odd words
//
// With one half for all words a pattern had 38 bits, at k = 16 but 32: a floor under the rate
// that was measured at 1e-8 (1.23 times the stated one; with both halves 0.89 of it).
//
// The algorithm is written once, over two primitives for each instruction set:
// `test` (are all the bits there?) and `set` (turn them on; were any off?). The scalar one
// below is the truth; tests/filter/kernels_test.cpp holds all others against it.
//
// These live in a public header for one reason: a single look-up that is inlined keeps
// more cache misses in flight. Measured (docs/benchmarks.md): a call through the dispatch
// table costs 40 to 60 % of a look-up in memory, and 50 % of one in cache. Programs that are not
// compiled for the CPU that they run on have inline_block.hpp.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace bloomery::detail {

// Without structure but odd: the high halves of SplitMix64 from seed 0, the lowest bit set.
alignas(64) inline constexpr std::uint32_t kLaneMultipliers[16] = {
    0xE220A839, 0x6E789E6B, 0x06C45D19, 0xF88BB8A9, 0x1B39896B, 0x53CB9F0D, 0x2C829ABF, 0xC584133B,
    0x3EE57891, 0xF3B8488D, 0x657EECDD, 0xC2D326E1, 0x8621A03F, 0x8E1F7555, 0xB54E0F17, 0x84BB3F97};

// For each of the 64 choices of (r, s): which of the sixteen words a key of k bits uses.
struct WordMasks {
  std::uint8_t ones[64][16];  // 1 for each such word
  std::uint16_t of[64];       // a bit for each such word
};
const WordMasks& word_masks(std::uint32_t k) noexcept;  // 1 <= k <= 16

// ---- scalar: the truth, on any byte order --------------------------------------------

struct ScalarBlock {
  static std::uint32_t load(const std::uint32_t* word) noexcept {
    std::uint32_t value;
    std::memcpy(&value, word, sizeof value);
    if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap32(value);
    return value;
  }
  static void store(std::uint32_t* word, std::uint32_t value) noexcept {
    if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap32(value);
    std::memcpy(word, &value, sizeof value);
  }
  static std::uint32_t bit(std::uint64_t low, unsigned word) noexcept {
    const auto half = static_cast<std::uint32_t>(low >> (word % 2 * 32));
    return std::uint32_t{1} << ((half * kLaneMultipliers[word]) >> 27);
  }
  static bool test(const std::uint32_t* block, std::uint64_t low, const WordMasks& masks) noexcept {
    std::uint32_t words = masks.of[low >> 58];
    for (; words != 0; words &= words - 1) {
      const auto word = static_cast<unsigned>(std::countr_zero(words));
      if ((load(block + word) & bit(low, word)) == 0) return false;
    }
    return true;
  }
  static bool set(std::uint32_t* block, std::uint64_t low, const WordMasks& masks) noexcept {
    std::uint32_t words = masks.of[low >> 58];
    std::uint32_t missing = 0;
    for (; words != 0; words &= words - 1) {
      const auto word = static_cast<unsigned>(std::countr_zero(words));
      const std::uint32_t wanted = bit(low, word);
      const std::uint32_t old = load(block + word);
      missing |= wanted & ~old;
      store(block + word, old | wanted);
    }
    return missing != 0;
  }
};

// ---- the same, sixteen lanes at once ---------------------------------------------------

// Stores go through vectors of 32-bit words and not through the intrinsics, whose vectors may
// alias anything: after those a loop of inlined inserts would reload the filter's own fields.

#if defined(__AVX512F__) && defined(__AVX512BW__)
struct Avx512Block {
  using Words [[gnu::vector_size(64)]] = std::uint32_t;

  // For every one of the sixteen words, where the key's bit is. Plain vector operators: GCC 12
  // warns of uninitialized values inside the shift intrinsics of its own header.
  [[gnu::always_inline]] static Words shifts(std::uint64_t low) noexcept {
    const Words& multipliers = *reinterpret_cast<const Words*>(kLaneMultipliers);
    const auto halves = reinterpret_cast<Words>(_mm512_set1_epi64(static_cast<long long>(low)));
    return (multipliers * halves) >> 27;
  }
  [[gnu::always_inline]] static bool test(const std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    // Bits in all sixteen words, and the mask on the test: one instruction less.
    const auto wanted = reinterpret_cast<__m512i>((Words{} + 1U) << shifts(low));
    return _mm512_mask_testn_epi32_mask(masks.of[low >> 58], wanted, _mm512_load_si512(block)) == 0;
  }
  [[gnu::always_inline]] static bool set(std::uint32_t* block, std::uint64_t low,
                                         const WordMasks& masks) noexcept {
    const __mmask16 words = masks.of[low >> 58];
    const __m512i wanted = _mm512_maskz_sllv_epi32(words, _mm512_set1_epi32(1),
                                                   reinterpret_cast<__m512i>(shifts(low)));
    const __m512i old = _mm512_load_si512(block);
    *reinterpret_cast<Words*>(block) = reinterpret_cast<Words>(_mm512_or_si512(old, wanted));
    return _mm512_mask_testn_epi32_mask(words, wanted, old) != 0;
  }
};
#endif

#if defined(__AVX2__)
struct Avx2Block {
  using Words [[gnu::vector_size(32)]] = std::uint32_t;
  struct Halves {
    __m256i first, second;
  };
  [[gnu::always_inline]] static Halves bits(std::uint64_t low, std::uint32_t words) noexcept {
    const __m256i key = _mm256_set1_epi64x(static_cast<long long>(low));
    const auto* multipliers = reinterpret_cast<const __m256i*>(kLaneMultipliers);
    const __m256i lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const __m256i chosen = _mm256_set1_epi32(static_cast<int>(words));
    // 1 in each chosen word, shifted to the key's bit in that word.
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i first =
        _mm256_and_si256(_mm256_cmpeq_epi32(_mm256_and_si256(chosen, lane), lane), one);
    const __m256i high_lane = _mm256_slli_epi32(lane, 8);
    const __m256i second =
        _mm256_and_si256(_mm256_cmpeq_epi32(_mm256_and_si256(chosen, high_lane), high_lane), one);
    return {
        _mm256_sllv_epi32(first, _mm256_srli_epi32(_mm256_mullo_epi32(key, multipliers[0]), 27)),
        _mm256_sllv_epi32(second, _mm256_srli_epi32(_mm256_mullo_epi32(key, multipliers[1]), 27))};
  }
  [[gnu::always_inline]] static bool test(const std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    const auto* words = reinterpret_cast<const __m256i*>(block);
    const Halves wanted = bits(low, masks.of[low >> 58]);
    const __m256i missing =
        _mm256_or_si256(_mm256_andnot_si256(_mm256_load_si256(words), wanted.first),
                        _mm256_andnot_si256(_mm256_load_si256(words + 1), wanted.second));
    return _mm256_testz_si256(missing, missing) != 0;
  }
  [[gnu::always_inline]] static bool set(std::uint32_t* block, std::uint64_t low,
                                         const WordMasks& masks) noexcept {
    auto* words = reinterpret_cast<Words*>(block);
    const Halves wanted = bits(low, masks.of[low >> 58]);
    const auto first = reinterpret_cast<__m256i>(words[0]);
    const auto second = reinterpret_cast<__m256i>(words[1]);
    const __m256i missing = _mm256_or_si256(_mm256_andnot_si256(first, wanted.first),
                                            _mm256_andnot_si256(second, wanted.second));
    words[0] = reinterpret_cast<Words>(_mm256_or_si256(first, wanted.first));
    words[1] = reinterpret_cast<Words>(_mm256_or_si256(second, wanted.second));
    return _mm256_testz_si256(missing, missing) == 0;
  }
};
#endif

#if defined(__ARM_NEON) && defined(__aarch64__)
struct NeonBlock {
  struct Quarters {
    uint32x4_t of[4];
  };
  [[gnu::always_inline]] static Quarters bits(std::uint64_t low, std::uint16_t words) noexcept {
    const uint32x4_t key = vreinterpretq_u32_u64(vdupq_n_u64(low));
    const uint32x4_t chosen = vdupq_n_u32(words);
    const std::uint32_t lane_bits[4] = {1, 2, 4, 8};
    const uint32x4_t lane = vld1q_u32(lane_bits);
    Quarters out;
    for (int quarter = 0; quarter < 4; ++quarter) {
      const uint32x4_t here = vshlq_u32(lane, vdupq_n_s32(4 * quarter));
      const uint32x4_t one = vshrq_n_u32(vtstq_u32(chosen, here), 31);
      const uint32x4_t product = vmulq_u32(key, vld1q_u32(kLaneMultipliers + 4 * quarter));
      out.of[quarter] = vshlq_u32(one, vreinterpretq_s32_u32(vshrq_n_u32(product, 27)));
    }
    return out;
  }
  [[gnu::always_inline]] static bool test(const std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    const Quarters wanted = bits(low, masks.of[low >> 58]);
    uint32x4_t missing = vdupq_n_u32(0);
    for (int quarter = 0; quarter < 4; ++quarter)
      missing = vorrq_u32(missing, vbicq_u32(wanted.of[quarter], vld1q_u32(block + 4 * quarter)));
    return vmaxvq_u32(missing) == 0;
  }
  [[gnu::always_inline]] static bool set(std::uint32_t* block, std::uint64_t low,
                                         const WordMasks& masks) noexcept {
    const Quarters wanted = bits(low, masks.of[low >> 58]);
    uint32x4_t missing = vdupq_n_u32(0);
    for (int quarter = 0; quarter < 4; ++quarter) {
      const uint32x4_t old = vld1q_u32(block + 4 * quarter);
      missing = vorrq_u32(missing, vbicq_u32(wanted.of[quarter], old));
      vst1q_u32(block + 4 * quarter, vorrq_u32(old, wanted.of[quarter]));
    }
    return vmaxvq_u32(missing) != 0;
  }
};
#endif

}  // namespace bloomery::detail
