// The AVX-512 kernels: a line in one register, and eight integer keys hashed at a time.
#include "filter/bulk.hpp"
#include "filter/kernels.hpp"

namespace bloomery::detail {

namespace {

// Avx512Line, and the places of a block of integers: hash_integer and line_of, lane by lane.
// In cache hashing is half of the time of a key, and this halves it.
struct Avx512Block : Avx512Line {
  // floor(a * b / 2^64) and a * b mod 2^64, of 64-bit lanes, from four 32-bit products.
  struct Product {
    __m512i high, low;
  };
  [[gnu::always_inline]] static Product multiply(__m512i a, __m512i b_low,
                                                 __m512i b_high) noexcept {
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

  [[gnu::always_inline]] static void locate(const Shape& shape, const FromIntegers& source,
                                            std::size_t first,
                                            LineLayout<Avx512Block>::Block& block) noexcept {
    const __m512i multiplier_low = _mm512_set1_epi64(kIntegerMultiplier & 0xFFFFFFFF);
    const __m512i multiplier_high = _mm512_set1_epi64(kIntegerMultiplier >> 32);
    const __m512i spread = _mm512_set1_epi64(static_cast<long long>(source.seed_multiplier));
    const __m512i lines = _mm512_set1_epi64(static_cast<long long>(shape.lines));  // < 2^32
    const __m512i base = _mm512_set1_epi64(reinterpret_cast<long long>(shape.words));
    for (std::size_t i = 0; i < kBlock; i += 8) {
      const __m512i key = _mm512_loadu_si512(source.keys + first + i);
      const Product product = multiply(key, multiplier_low, multiplier_high);
      const __m512i low = _mm512_xor_si512(product.high, product.low);
      const __m512i high = _mm512_mullo_epi64(low, spread);
      // floor(high * lines / 2^64) of lines < 2^32.
      const __m512i upper = _mm512_mul_epu32(_mm512_srli_epi64(high, 32), lines);
      const __m512i lower = _mm512_srli_epi64(_mm512_mul_epu32(high, lines), 32);
      const __m512i line = _mm512_srli_epi64(_mm512_add_epi64(upper, lower), 32);
      _mm512_storeu_si512(block.line + i, _mm512_add_epi64(base, _mm512_slli_epi64(line, 6)));
      _mm512_storeu_si512(block.low + i, low);
    }
  }
};

}  // namespace

constexpr Kernel kAvx512Line = make_kernel<LineLayout<Avx512Block>>("avx512");
constexpr Kernel kAvx512Pair = make_kernel<PairLayout<Avx512Line>>("avx512");

}  // namespace bloomery::detail
