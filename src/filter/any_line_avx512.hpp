// A key in several filters of layout `line`, sixteen keys at a time.
//
// What the filters share is worked out once: a key's bits in all sixteen words of a line are the
// same in each of them. Which of the words count differs with the number of hashes, and is looked
// up for sixteen keys in one instruction.
//
// Per key and filter that leaves a load, one test and a store: which words of its line miss the
// key's bit. Whether one of those counts is asked of sixteen keys at once, a block later, so that
// the stores have arrived.
//
// Measured (docs/benchmarks.md): half of the time of the general ring in cache.
#pragma once

#include "filter/bulk.hpp"
#include "filter/places_avx512.hpp"

namespace bloomery::detail {
namespace {

template <>
struct AnyOf<LineLayout<Avx512Block<Avx512Line>>> {
  using Layout = LineLayout<Avx512Block<Avx512Line>>;
  static constexpr std::uint64_t kCachedLines = 1 << 9;  // of a filter that needs no prefetch

  static bool one(const Shape* const* layers, std::size_t count, Hash128 hash) noexcept {
    bool found = false;
    for (std::size_t i = 0; i < count; ++i) found |= Layout::contains_one(*layers[i], hash);
    return found;
  }

  template <bool kAnswers, class Source>
  static std::size_t many(const Shape* const* layers, std::size_t layer_count, const Source& source,
                          std::size_t count, bool* answers) noexcept {
    AnyOf state;
    state.layer_count = layer_count;
    for (std::size_t j = 0; j < layer_count; ++j) state.shapes[j] = *layers[j];
    const std::size_t blocks = count / kBlock;
    const std::size_t ahead = std::min(window_of(layer_count, Layout::kWindow), blocks);
    for (std::size_t block = 0; block < ahead; ++block) {
      state.locate(block, source, block * kBlock);
      for (std::size_t j = 0; j < layer_count; ++j) state.prefetch(block, j);
    }
    std::size_t yes = 0;
    const auto finish = [&](std::size_t block) {
      const __mmask16 found = state.found(block % 2);
      if constexpr (kAnswers)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(answers + block * kBlock),
                         _mm_maskz_set1_epi8(found, 1));
      yes += static_cast<std::size_t>(std::popcount(static_cast<unsigned>(found)));
    };
    std::size_t oldest = 0;
    std::size_t spare = ahead;
    for (std::size_t block = 0; block < blocks; ++block) {
      const bool more = block + ahead < blocks;
      if (more) state.locate(spare, source, (block + ahead) * kBlock);
      state.test(oldest, block % 2, more ? spare : kNoSlot);
      if (block > 0) finish(block - 1);
      spare = oldest;
      oldest = oldest == ahead ? 0 : oldest + 1;
    }
    if (blocks > 0) finish(blocks - 1);
    for (std::size_t i = blocks * kBlock; i < count; ++i) {
      const bool found = one(layers, layer_count, source(i));
      if constexpr (kAnswers) answers[i] = found;
      yes += found;
    }
    return yes;
  }

 private:
  static constexpr std::size_t kSlots = Layout::kWindow + 1;
  static constexpr std::size_t kNoSlot = kSlots;

  Shape shapes[kLayersAtOnce];
  std::size_t layer_count;
  std::uint32_t* line[kLayerBlocks][kBlock];  // by slot, then layer
  std::uint64_t low[kSlots][kBlock];
  // By parity of the block and layer: a bit a word.
  alignas(64) std::uint16_t missing[2][kLayersAtOnce][kBlock];
  alignas(64) std::uint16_t chosen[2][kLayersAtOnce][kBlock];

  template <class Source>
  [[gnu::always_inline]] void locate(std::size_t slot, const Source& source,
                                     std::size_t first) noexcept {
    for (std::size_t i = 0; i < kBlock; i += 8) {
      const Hashes8 hashes = take(source, first + i);
      _mm512_storeu_si512(low[slot] + i, hashes.low);
      for (std::size_t j = 0; j < layer_count; ++j)
        _mm512_storeu_si512(line[slot * layer_count + j] + i, lines_of(shapes[j], hashes));
    }
  }
  [[gnu::always_inline]] void prefetch(std::size_t slot, std::size_t layer) const noexcept {
    if (shapes[layer].lines <= kCachedLines) return;
    const auto& at = line[slot * layer_count + layer];
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kBlock; ++i) __builtin_prefetch(at[i]);
  }
  // Tests the keys of one slot and asks for the lines of another, a layer at a time.
  [[gnu::always_inline]] void test(std::size_t slot, std::size_t parity,
                                   std::size_t spare) noexcept {
    using Words = Avx512Line::Words;
    __m512i wanted[kBlock];  // in registers
#pragma GCC unroll 16
    for (std::size_t i = 0; i < kBlock; ++i)
      wanted[i] = reinterpret_cast<__m512i>((Words{} + 1U) << Avx512Line::shifts(low[slot][i]));
    const __m128i first =
        _mm512_cvtepi64_epi16(_mm512_srli_epi64(_mm512_loadu_si512(low[slot]), 58));
    const __m128i second =
        _mm512_cvtepi64_epi16(_mm512_srli_epi64(_mm512_loadu_si512(low[slot] + 8), 58));
    const __m512i choices = _mm512_castsi256_si512(_mm256_set_m128i(second, first));
    for (std::size_t j = 0; j < layer_count; ++j) {
      const std::uint16_t* masks = shapes[j].masks->of;
      const __m512i words = _mm512_permutex2var_epi16(_mm512_loadu_si512(masks), choices,
                                                      _mm512_loadu_si512(masks + 32));
      _mm256_store_si256(reinterpret_cast<__m256i*>(chosen[parity][j]),
                         _mm512_castsi512_si256(words));
      const auto& at = line[slot * layer_count + j];
      std::uint16_t* out = missing[parity][j];
#pragma GCC unroll 16
      for (std::size_t i = 0; i < kBlock; ++i)
        out[i] = _mm512_testn_epi32_mask(wanted[i], _mm512_load_si512(at[i]));
      if (spare != kNoSlot) prefetch(spare, j);
    }
  }
  // Which keys of the block of this parity miss none of their words in some layer.
  [[nodiscard, gnu::always_inline]] __mmask16 found(std::size_t parity) const noexcept {
    __mmask16 keys = 0;
    for (std::size_t j = 0; j < layer_count; ++j)
      keys |= _mm256_testn_epi16_mask(
          _mm256_load_si256(reinterpret_cast<const __m256i*>(missing[parity][j])),
          _mm256_load_si256(reinterpret_cast<const __m256i*>(chosen[parity][j])));
    return keys;
  }
};

}  // namespace
}  // namespace bloomery::detail
