// Eight keys at a time with AVX-512: their hashes, and the positions of their blocks in a filter.
#pragma once

#include "filter/kernels/counting.hpp"
#include "filter/kernels/ring.hpp"

namespace bloomery::detail {
namespace {

// Eight Hash128, with hash_integer, second_hash and fast_range lane by lane. In cache half of a key's
// time goes into finding its blocks, and this halves that part.
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

[[gnu::always_inline]] inline Hashes8 load_eight(const FromIntegers& source,
                                                 std::size_t first) noexcept {
  const __m512i multiplier_low = _mm512_set1_epi64(kIntegerMultiplier & 0xFFFFFFFF);
  const __m512i multiplier_high = _mm512_set1_epi64(kIntegerMultiplier >> 32);
  const __m512i spread = _mm512_set1_epi64(static_cast<long long>(source.seed_multiplier));
  const __m512i key = _mm512_loadu_si512(source.keys + first);
  const Hashes8 product = multiply(key, multiplier_low, multiplier_high);
  const __m512i low = _mm512_xor_si512(product.high, product.low);
  return {_mm512_mullo_epi64(low, spread), low};
}

[[gnu::always_inline]] inline Hashes8 load_eight(const FromHashes& source,
                                                 std::size_t first) noexcept {
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

// fast_range(high, n) of the lower halves of n.
[[gnu::always_inline]] inline __m512i range_of(__m512i high, __m512i n) noexcept {
  const __m512i upper = _mm512_mul_epu32(_mm512_srli_epi64(high, 32), n);
  const __m512i lower = _mm512_srli_epi64(_mm512_mul_epu32(high, n), 32);
  return _mm512_srli_epi64(_mm512_add_epi64(upper, lower), 32);
}

[[gnu::always_inline]] inline __m512i blocks_of(const BitArray& array,
                                                const Hashes8& hashes) noexcept {
  const __m512i index =
      range_of(hashes.high, _mm512_set1_epi64(static_cast<long long>(array.blocks)));
  const __m512i base = _mm512_set1_epi64(reinterpret_cast<long long>(array.words));
  return _mm512_add_epi64(base, _mm512_slli_epi64(index, 6));
}

struct Avx512Partitions;  // avx512_frozen.hpp

// The struct from which the AVX-512 kernels are made (kernel_set.hpp).
struct Avx512Set {
  static constexpr const char* kName = "avx512";
  static constexpr bool kSingleBits = false;
  static constexpr bool kOneRing = false;
  using Block = VectorBlock<Avx512>;
  using Partitions = Avx512Partitions;
  template <unsigned kCounterBits>
  using Counters = VectorCounters<Avx512, kCounterBits>;

  template <class Source, unsigned kBlocks>
  [[gnu::always_inline]] static void locate(const BitArray& array, const Source& source,
                                            std::size_t first,
                                            BlocksOfBatch<kBlocks>& batch) noexcept {
    for (std::size_t i = 0; i < kBatch; i += 8) {
      Hashes8 hashes = load_eight(source, first + i);
      for (unsigned j = 0; j < kBlocks; ++j) {
        if (j == 1) hashes = second(hashes);
        _mm512_storeu_si512(batch.block[j] + i, blocks_of(array, hashes));
        _mm512_storeu_si512(batch.low[j] + i, hashes.low);
      }
    }
  }
};

}  // namespace
}  // namespace bloomery::detail
