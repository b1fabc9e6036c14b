// Computes the positions of the cells of eight keys with AVX-512. Apart from its loads, a key takes a third of the
// scalar work.
#pragma once

#include <cstddef>
#include <cstring>

#include "filter/kernels/avx512_locate.hpp"
#include "filter/kernels/frozen.hpp"

namespace bloomery::detail {
namespace {

[[gnu::always_inline]] inline __m512i of_all(std::uint64_t value) noexcept {
  return _mm512_set1_epi64(static_cast<long long>(value));
}

struct Avx512Partitions : PartitionList {
  // The four words of up to 16 partitions are in registers, or close to them. If there are more partitions,
  // the words of each key's partition are read.
  static constexpr std::size_t kInRegisters = 16;
  static constexpr std::size_t kWords = sizeof(FusePartition) / 8;
  static_assert(sizeof(FusePartition) == 32 && offsetof(FusePartition, seed) == 8 &&
                offsetof(FusePartition, first_cells) == 16 && offsetof(FusePartition, mask) == 20 &&
                offsetof(FusePartition, segment_mask) == 24 && offsetof(FusePartition, bits) == 28);
  struct Words {
    __m512i cells, seed, sizes, bits;  // first_cells and mask; segment_mask and bits
  };

  alignas(64) std::uint64_t words[kWords][kInRegisters];

  Avx512Partitions(const FusePartition* of, std::size_t number) noexcept
      : PartitionList{of, number} {
    if (number > kInRegisters) return;
    std::memset(words, 0, sizeof words);
    for (std::size_t i = 0; i < number; ++i)
      for (std::size_t j = 0; j < kWords; ++j)
        std::memcpy(&words[j][i], reinterpret_cast<const std::byte*>(of + i) + 8 * j, 8);
  }

  template <class Source>
  [[gnu::always_inline]] void locate(const Source& source, std::size_t first, std::size_t keys,
                                     CellsOfBatch& batch) const noexcept {
    if (keys != kBatch) return PartitionList::locate(source, first, keys, batch);
    for (std::size_t i = 0; i < kBatch; i += 8) locate8(load_eight(source, first + i), i, batch);
  }

 private:
  [[gnu::always_inline]] Words of_keys(__m512i partition) const noexcept {
    if (count <= kInRegisters) {
      const auto pick = [&](std::size_t word) BLOOMERY_INLINE {
        return _mm512_permutex2var_epi64(_mm512_load_si512(words[word]), partition,
                                         _mm512_load_si512(words[word] + 8));
      };
      return {pick(0), pick(1), pick(2), pick(3)};
    }
    // Reads eight partitions of four words each, and puts the words of each kind together.
    alignas(64) std::uint64_t which[8];
    _mm512_store_si512(which, partition);
    const auto two = [&](std::size_t i) BLOOMERY_INLINE {
      const auto load = [&](std::size_t key) BLOOMERY_INLINE {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(partitions + which[key]));
      };
      return _mm512_inserti64x4(_mm512_castsi256_si512(load(i)), load(i + 4), 1);
    };
    const __m512i a = two(0), b = two(1), c = two(2), d = two(3);
    const __m512i even_ab = _mm512_unpacklo_epi64(a, b), odd_ab = _mm512_unpackhi_epi64(a, b);
    const __m512i even_cd = _mm512_unpacklo_epi64(c, d), odd_cd = _mm512_unpackhi_epi64(c, d);
    const __m512i lower = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i upper = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    return {_mm512_permutex2var_epi64(even_ab, lower, even_cd),
            _mm512_permutex2var_epi64(odd_ab, lower, odd_cd),
            _mm512_permutex2var_epi64(even_ab, upper, even_cd),
            _mm512_permutex2var_epi64(odd_ab, upper, odd_cd)};
  }

  // Computes the same as mix_key() and FusePartition::cells_of().
  [[gnu::always_inline]] void locate8(const Hashes8& hashes, std::size_t i,
                                      CellsOfBatch& batch) const noexcept {
    const Words words_of = of_keys(
        _mm512_srli_epi64(_mm512_mul_epu32(_mm512_srli_epi64(hashes.high, 52), of_all(count)), 12));
    const __m512i in_segment = _mm512_and_si512(words_of.bits, of_all(0xFFFFFFFF));
    const __m512i bits = _mm512_srli_epi64(words_of.bits, 32);

    __m512i mixed = _mm512_xor_si512(hashes.low, words_of.seed);
    for (const std::uint64_t multiplier : {kMixFirst, kMixSecond})
      mixed = _mm512_mullo_epi64(_mm512_xor_si512(mixed, _mm512_srli_epi64(mixed, 33)),
                                 of_all(multiplier));
    mixed = _mm512_xor_si512(mixed, _mm512_srli_epi64(mixed, 33));

    const __m512i first = range_of(mixed, words_of.sizes);
    const __m512i segment = _mm512_add_epi64(in_segment, of_all(1));
    const __m512i second = _mm512_add_epi64(first, segment);
    const __m512i cells[3] = {
        first, _mm512_xor_si512(second, _mm512_and_si512(mixed, in_segment)),
        _mm512_xor_si512(_mm512_add_epi64(second, segment),
                         _mm512_and_si512(_mm512_srli_epi64(mixed, 16), in_segment))};
    for (std::size_t j = 0; j < 3; ++j) {
      const __m512i bit = _mm512_mul_epu32(cells[j], bits);
      _mm512_storeu_si512(batch.from[j] + i,
                          _mm512_add_epi64(words_of.cells, _mm512_srli_epi64(bit, 3)));
      _mm512_storeu_si512(batch.shift[j] + i, _mm512_and_si512(bit, of_all(7)));
    }
    _mm512_storeu_si512(
        batch.fingerprint + i,
        _mm512_srli_epi64(_mm512_mullo_epi64(mixed, of_all(kFingerprintMultiplier)), 32));
    _mm512_storeu_si512(batch.mask + i, _mm512_srli_epi64(words_of.sizes, 32));
  }
};

}  // namespace
}  // namespace bloomery::detail
