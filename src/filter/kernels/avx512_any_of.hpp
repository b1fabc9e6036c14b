// A key in several filters of layout `blocked`, sixteen keys at a time.
//
// What the filters share is computed once: in all filters a key has the same bits in the sixteen words
// of a block. Which of these words count depends on the hash count; one instruction looks this up for sixteen keys.
//
// Per key and filter there remain a load, one test and a store of the words in the block that lack the
// key's bit. A batch later, when the stores have arrived, one test for sixteen keys shows whether one
// of these words counts.
//
// Measured in cache (docs/benchmarks.md), this takes half of the time of the general ring.
#pragma once

#include "filter/kernels/avx512_locate.hpp"
#include "filter/kernels/plain.hpp"

namespace bloomery::detail {
namespace {

template <>
struct AnyOf<WholeBlocks<LayoutOf<Layout::blocked>, Avx512Set, Avx512Set::Block>> {
  using Keys = WholeBlocks<LayoutOf<Layout::blocked>, Avx512Set, Avx512Set::Block>;
  static constexpr std::uint64_t kCachedBlocks = 1 << 9;  // up to which a filter needs no prefetch

  static bool one(const BitArray* const* sub_filters, std::size_t count, Hash128 hash) noexcept {
    bool found = false;
    for (std::size_t i = 0; i < count; ++i) found |= Keys::contains_one(*sub_filters[i], hash);
    return found;
  }

  template <Answers kAnswers, class Source>
  static std::size_t many(const BitArray* const* sub_filters, std::size_t sub_filter_count,
                          const Source& source, std::size_t count, bool* answers) noexcept {
    AnyOf state;
    state.sub_filter_count = sub_filter_count;
    for (std::size_t j = 0; j < sub_filter_count; ++j) state.arrays[j] = *sub_filters[j];
    const std::size_t batches = count / kBatch;
    const std::size_t ahead =
        std::min(batches_ahead(sub_filter_count, Keys::kBatchesAhead), batches);
    for (std::size_t batch = 0; batch < ahead; ++batch) {
      state.locate(batch, source, batch * kBatch);
      for (std::size_t j = 0; j < sub_filter_count; ++j) state.prefetch(batch, j);
    }
    std::size_t yes = 0;
    const auto finish = [&](std::size_t batch) {
      const __mmask16 found = state.found(batch % 2);
      if constexpr (kAnswers == Answers::all)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(answers + batch * kBatch),
                         _mm_maskz_set1_epi8(found, 1));
      yes += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(found)));
    };
    std::size_t oldest = 0;
    std::size_t spare = ahead;
    for (std::size_t batch = 0; batch < batches; ++batch) {
      const bool more = batch + ahead < batches;
      if (more) state.locate(spare, source, (batch + ahead) * kBatch);
      state.test(oldest, batch % 2, more ? spare : kNoPlace);
      if (batch > 0) finish(batch - 1);
      spare = oldest;
      oldest = oldest == ahead ? 0 : oldest + 1;
    }
    if (batches > 0) finish(batches - 1);
    for (std::size_t i = batches * kBatch; i < count; ++i) {
      const bool found = one(sub_filters, sub_filter_count, source(i));
      give<kAnswers>(answers, i, found);
      yes += found;
    }
    return yes;
  }

 private:
  static constexpr std::size_t kRing = Keys::kBatchesAhead + 1;
  static constexpr std::size_t kNoPlace = kRing;

  BitArray arrays[kSubFiltersAtOnce];
  std::size_t sub_filter_count;
  std::uint32_t* block[kSubFilterBatches][kBatch];  // by place in the ring, then by sub-filter
  std::uint64_t low[kRing][kBatch];
  // By parity of the batch and by sub-filter: one bit per word.
  alignas(64) std::uint16_t missing[2][kSubFiltersAtOnce][kBatch];
  alignas(64) std::uint16_t chosen[2][kSubFiltersAtOnce][kBatch];

  template <class Source>
  [[gnu::always_inline]] void locate(std::size_t place, const Source& source,
                                     std::size_t first) noexcept {
    for (std::size_t i = 0; i < kBatch; i += 8) {
      const Hashes8 hashes = load_eight(source, first + i);
      _mm512_storeu_si512(low[place] + i, hashes.low);
      for (std::size_t j = 0; j < sub_filter_count; ++j)
        _mm512_storeu_si512(block[place * sub_filter_count + j] + i, blocks_of(arrays[j], hashes));
    }
  }
  [[gnu::always_inline]] void prefetch(std::size_t place, std::size_t sub_filter) const noexcept {
    if (arrays[sub_filter].blocks <= kCachedBlocks) return;
    const auto& at = block[place * sub_filter_count + sub_filter];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kBatch; ++i) __builtin_prefetch(at[i]);
  }
  // Tests the keys of one place and prefetches the blocks of another, one sub-filter at a time.
  [[gnu::always_inline]] void test(std::size_t place, std::size_t parity,
                                   std::size_t spare) noexcept {
    using Words = Avx512::Words;
    __m512i wanted[kBatch];  // in registers
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kBatch; ++i)
      wanted[i] = reinterpret_cast<__m512i>((Words{} + 1U) << Avx512::shifts(low[place][i]));
    const __m128i first =
        _mm512_cvtepi64_epi16(_mm512_srli_epi64(_mm512_loadu_si512(low[place]), 58));
    const __m128i second =
        _mm512_cvtepi64_epi16(_mm512_srli_epi64(_mm512_loadu_si512(low[place] + 8), 58));
    const __m512i choices = _mm512_castsi256_si512(_mm256_set_m128i(second, first));
    for (std::size_t j = 0; j < sub_filter_count; ++j) {
      const std::uint16_t* masks = arrays[j].masks->of;
      const __m512i words = _mm512_permutex2var_epi16(_mm512_loadu_si512(masks), choices,
                                                      _mm512_loadu_si512(masks + 32));
      _mm256_store_si256(reinterpret_cast<__m256i*>(chosen[parity][j]),
                         _mm512_castsi512_si256(words));
      const auto& at = block[place * sub_filter_count + j];
      std::uint16_t* out = missing[parity][j];
#pragma GCC unroll 16
      for (std::size_t i = 0; i < kBatch; ++i)
        out[i] = _mm512_testn_epi32_mask(wanted[i], _mm512_load_si512(at[i]));
      if (spare != kNoPlace) prefetch(spare, j);
    }
  }
  // The keys, in the batch of this parity, that have all of their words in some sub-filter.
  [[nodiscard, gnu::always_inline]] __mmask16 found(std::size_t parity) const noexcept {
    __mmask16 keys = 0;
    for (std::size_t j = 0; j < sub_filter_count; ++j)
      keys |= _mm256_testn_epi16_mask(
          _mm256_load_si256(reinterpret_cast<const __m256i*>(missing[parity][j])),
          _mm256_load_si256(reinterpret_cast<const __m256i*>(chosen[parity][j])));
    return keys;
  }
};

}  // namespace
}  // namespace bloomery::detail
