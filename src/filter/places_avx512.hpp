// Eight keys at a time: their hashes, and where in a filter their blocks are.
#pragma once

#include "filter/bulk.hpp"

namespace bloomery::detail {
namespace {

// Eight Hash128, and what hash_integer, second_hash and block_of do with them, lane by lane.
// In cache working out places is half of the time of a key, and this halves it.
struct Hashes8 {
  __m512i high, low;
};

// floor(a * b / 2^64) and a * b mod 2^64 of 64-bit lanes, from four 32-bit products.
[[gnu::always_inline]] inline Hashes8 multiply(__m512i a, __m512i b_low, __m512i b_high) noexcept {
  const __m512i a_high = _mm512_srli_epi64(a, 32);
  const __m512i low_half = _mm512_set1_epi64(0xFFFFFFFF);
  const __m512i ll = _mm512_mul_epu32(a, b_low);
  const __m512i lh = _mm512_mul_epu32(a, b_high);
  const __m512i hl = _mm512_mul_epu32(a_high, b_low);
  const __m512i hh = _mm512_mul_epu32(a_high, b_high);
  // None of these sums can overflow: (2^32 - 1)^2 + 2 * (2^32 - 1) = 2^64 - 1.
  const __m512i middle = _mm512_add_epi64(hl, _mm512_srli_epi64(ll, 32));
  const __m512i carry = _mm512_add_epi64(lh, _mm512_and_si512(middle, low_half));
  const __m512i high = _mm512_add_epi64(_mm512_add_epi64(hh, _mm512_srli_epi64(middle, 32)),
                                        _mm512_srli_epi64(carry, 32));
  const __m512i low = _mm512_mask_blend_epi32(0xAAAA, ll, _mm512_slli_epi64(carry, 32));
  return {high, low};
}

[[gnu::always_inline]] inline Hashes8 take(const FromIntegers& source, std::size_t first) noexcept {
  const __m512i multiplier_low = _mm512_set1_epi64(kIntegerMultiplier & 0xFFFFFFFF);
  const __m512i multiplier_high = _mm512_set1_epi64(kIntegerMultiplier >> 32);
  const __m512i spread = _mm512_set1_epi64(static_cast<long long>(source.seed_multiplier));
  const __m512i key = _mm512_loadu_si512(source.keys + first);
  const Hashes8 product = multiply(key, multiplier_low, multiplier_high);
  const __m512i low = _mm512_xor_si512(product.high, product.low);
  return {_mm512_mullo_epi64(low, spread), low};
}

[[gnu::always_inline]] inline Hashes8 take(const FromHashes& source, std::size_t first) noexcept {
  const __m512i one = _mm512_loadu_si512(source.hashes + first);
  const __m512i two = _mm512_loadu_si512(source.hashes + first + 4);
  const __m512i even = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
  const __m512i odd = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
  return {_mm512_permutex2var_epi64(one, even, two), _mm512_permutex2var_epi64(one, odd, two)};
}

[[gnu::always_inline]] inline Hashes8 second(const Hashes8& hashes) noexcept {
  const __m512i mixed =
      _mm512_mullo_epi64(_mm512_xor_si512(hashes.high, _mm512_rol_epi64(hashes.low, 32)),
                         _mm512_set1_epi64(static_cast<long long>(kSecondMultiplier)));
  const __m512i low = _mm512_xor_si512(mixed, _mm512_srli_epi64(mixed, 32));
  return {_mm512_mullo_epi64(low, _mm512_set1_epi64(static_cast<long long>(kSpreadMultiplier))),
          low};
}

[[gnu::always_inline]] inline __m512i blocks_of(const BitArray& bit_array,
                                                const Hashes8& hashes) noexcept {
  // floor(high * blocks / 2^64), of blocks < 2^32.
  const __m512i blocks = _mm512_set1_epi64(static_cast<long long>(bit_array.blocks));
  const __m512i upper = _mm512_mul_epu32(_mm512_srli_epi64(hashes.high, 32), blocks);
  const __m512i lower = _mm512_srli_epi64(_mm512_mul_epu32(hashes.high, blocks), 32);
  const __m512i index = _mm512_srli_epi64(_mm512_add_epi64(upper, lower), 32);
  const __m512i base = _mm512_set1_epi64(reinterpret_cast<long long>(bit_array.words));
  return _mm512_add_epi64(base, _mm512_slli_epi64(index, 6));
}

[[gnu::always_inline]] inline void place(const BitArray& bit_array, const Hashes8& hashes,
                                         std::uint32_t** block, std::uint64_t* low) noexcept {
  _mm512_storeu_si512(block, blocks_of(bit_array, hashes));
  _mm512_storeu_si512(low, hashes.low);
}

template <class Block>
struct Avx512Batch : Block {
  template <class Source>
  [[gnu::always_inline]] static void locate(const BitArray& bit_array, const Source& source,
                                            std::size_t first, BlockedBatch& batch) noexcept {
    for (std::size_t i = 0; i < kBatch; i += 8)
      place(bit_array, take(source, first + i), batch.block + i, batch.low + i);
  }
  template <class Source>
  [[gnu::always_inline]] static void locate(const BitArray& bit_array, const Source& source,
                                            std::size_t first, Blocked2Batch& batch) noexcept {
    for (std::size_t i = 0; i < kBatch; i += 8) {
      const Hashes8 hashes = take(source, first + i);
      place(bit_array, hashes, batch.block[0] + i, batch.low[0] + i);
      place(bit_array, second(hashes), batch.block[1] + i, batch.low[1] + i);
    }
  }
};

}  // namespace
}  // namespace bloomery::detail
