// An alternative to the window filter: the age-partitioned Bloom filter of Shtul, Baquero and
// Almeida (2020), in its standard form and with all slices of a key in one cache line.
//
// It has K + L slices. A key sets one bit in each of the K newest; after a generation of
// window / L keys the oldest slice is cleared and becomes the newest. A key of the last L
// generations has its bits in K consecutive slices; a look-up searches for a run of K.
#pragma once

#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/detail/kernel.hpp>
#include <bloomery/hash.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "keys.hpp"

namespace bloomery::bench {

// Whether there are K consecutive set bits.
template <unsigned K>
[[nodiscard]] constexpr bool has_run(std::uint32_t hits) noexcept {
  for (unsigned run = 1; run < K;) {
    const unsigned step = std::min(run, K - run);
    hits &= hits >> step;
    run += step;
  }
  return hits != 0;
}

// The probability of a run of K if slices, the newest first, are hit with these probabilities.
template <unsigned K>
[[nodiscard]] double run_probability(std::span<const double> hit) {
  std::array<double, K + 1> run{};  // by the length of the run that ends here; K is never left
  run[0] = 1;
  for (const double p : hit) {
    double broken = 0;
    run[K] += run[K - 1] * p;
    for (unsigned i = K - 1; i > 0; --i) {
      broken += run[i] * (1 - p);
      run[i] = run[i - 1] * p;
    }
    run[0] = broken + run[0] * (1 - p);
  }
  return run[K];
}

// ---- in one block --------------------------------------------------------------------------------

// A slice is one of the sixteen words of a block; the bit in it is that of layout blocked.
template <unsigned K, unsigned L>
class AgeBlocked {
 public:
  static_assert(K + L <= 16);
  static constexpr unsigned kSlices = K + L;

  AgeBlocked(std::uint64_t bits, std::uint64_t window)
      : memory_(bits / 512 * 64),
        words_(reinterpret_cast<std::uint32_t*>(memory_.bytes().data())),
        blocks_(bits / 512),
        generation_(window / L) {}
  [[nodiscard]] std::uint64_t bits() const { return blocks_ * 512; }

  void prefetch(Hash128 hash) const { __builtin_prefetch(block_of(hash)); }
  void insert(Hash128 hash) {
    if (taken_ == generation_) turn();
    ++taken_;
    std::uint32_t* block = block_of(hash);
#ifdef __AVX512F__
    const __m512i wanted =
        _mm512_maskz_sllv_epi32(static_cast<__mmask16>(current_), _mm512_set1_epi32(1),
                                reinterpret_cast<__m512i>(detail::Avx512::shifts(hash.low)));
    _mm512_store_si512(block, _mm512_or_si512(_mm512_load_si512(block), wanted));
#else
    for (std::uint32_t words = current_; words != 0; words &= words - 1) {
      const auto word = static_cast<unsigned>(std::countr_zero(words));
      block[word] |= bit_of(hash.low, word);
    }
#endif
  }
  [[nodiscard]] bool contains(Hash128 hash) const {
    const std::uint32_t* block = block_of(hash);
    std::uint32_t hits = 0;
#ifdef __AVX512F__
    const auto wanted = reinterpret_cast<__m512i>((detail::Avx512::Words{} + 1U)
                                                  << detail::Avx512::shifts(hash.low));
    hits = _mm512_test_epi32_mask(wanted, _mm512_load_si512(block));
#else
    for (unsigned word = 0; word < kSlices; ++word)
      hits |= std::uint32_t{(block[word] & bit_of(hash.low, word)) != 0} << word;
#endif
    hits &= kAll;
    return has_run<K>((hits >> newest_ | hits << (kSlices - newest_)) & kAll);
  }
  [[nodiscard]] double implied_fpr() const {
    double sum = 0;
    std::array<double, kSlices> fill;
    for (std::uint64_t block = 0; block < blocks_; ++block) {
      for (unsigned age = 0; age < kSlices; ++age)
        fill[age] = std::popcount(words_[block * 16 + (newest_ + age) % kSlices]) / 32.0;
      sum += run_probability<K>(fill);
    }
    return sum / static_cast<double>(blocks_);
  }

 private:
  static std::uint32_t bit_of(std::uint64_t low, unsigned word) {
    const auto half = static_cast<std::uint32_t>(low >> (word % 2 * 32));
    return detail::ScalarBlock::bit(half * detail::kLaneMultipliers[word]);
  }
  static constexpr std::uint32_t kAll = (1U << kSlices) - 1;
  [[nodiscard]] std::uint32_t* block_of(Hash128 hash) const {
    return words_ + detail::fast_range(hash.high, blocks_) * 16;
  }
  // Slices are in the words newest_, newest_ + 1, ... by age, modulo the block.
  void turn() {
    newest_ = (newest_ + kSlices - 1) % kSlices;
    for (std::uint64_t block = 0; block < blocks_; ++block) words_[block * 16 + newest_] = 0;
    current_ = ((1U << K) - 1) << newest_;
    current_ = (current_ | current_ >> kSlices) & kAll;
    taken_ = 0;
  }
  detail::BitMemory memory_;
  std::uint32_t* words_;
  std::uint64_t blocks_, generation_, taken_ = 0;
  std::uint32_t newest_ = 0, current_ = (1U << K) - 1;
};

// ---- standard ------------------------------------------------------------------------------------

// Each slice has an array of its own; a key's bit can be anywhere in it.
template <unsigned K, unsigned L>
class AgeStandard {
 public:
  static constexpr unsigned kSlices = K + L;

  AgeStandard(std::uint64_t bits, std::uint64_t window)
      : slice_bits_(bits / kSlices), generation_(window / L) {
    for (unsigned i = 0; i < kSlices; ++i) slices_.emplace_back((slice_bits_ + 63) / 64 * 8);
  }
  [[nodiscard]] std::uint64_t bits() const { return slice_bits_ * kSlices; }

  // Bulk inserts need the newest K slices; a look-up usually ends after the first slice that it
  // reads of each K.
  void prefetch_insert(Hash128 hash) const {
    for (unsigned age = 0; age < K; ++age) __builtin_prefetch(&word(age, position(age, hash)), 1);
  }
  void prefetch(Hash128 hash) const {
    for (int age = L; age >= 0; age -= K)
      __builtin_prefetch(
          &word(static_cast<unsigned>(age), position(static_cast<unsigned>(age), hash)));
  }
  void insert(Hash128 hash) {
    if (taken_ == generation_) turn();
    ++taken_;
    for (unsigned age = 0; age < K; ++age) {
      const std::uint64_t at = position(age, hash);
      word(age, at) |= std::uint64_t{1} << (at % 64);
    }
  }
  // As in the paper: a slice without the bit excludes all runs across it, so the next slice to read is
  // K slices newer.
  [[nodiscard]] bool contains(Hash128 hash) const {
    unsigned run = 0, before = 0;
    for (int age = L; age >= 0;) {
      const std::uint64_t at = position(static_cast<unsigned>(age), hash);
      if ((word(static_cast<unsigned>(age), at) >> (at % 64) & 1) != 0) {
        if (++run + before == K) return true;
        ++age;
      } else {
        age -= static_cast<int>(K);
        before = run;
        run = 0;
      }
    }
    return false;
  }
  [[nodiscard]] double implied_fpr() const {
    std::array<double, kSlices> fill;
    for (unsigned age = 0; age < kSlices; ++age) {
      std::uint64_t ones = 0;
      for (std::uint64_t i = 0; i < slice_bits_; i += 64)
        ones += static_cast<unsigned>(std::popcount(word(age, i)));
      fill[age] = static_cast<double>(ones) / static_cast<double>(slice_bits_);
    }
    return run_probability<K>(fill);
  }

 private:
  [[nodiscard]] unsigned slice_of(unsigned age) const { return (newest_ + age) % kSlices; }
  [[nodiscard]] std::uint64_t position(unsigned age, Hash128 hash) const {
    return detail::fast_range(hash.high + random_key(slice_of(age)) * hash.low, slice_bits_);
  }
  [[nodiscard]] std::uint64_t& word(unsigned age, std::uint64_t position) const {
    return reinterpret_cast<std::uint64_t*>(slices_[slice_of(age)].bytes().data())[position / 64];
  }
  void turn() {
    newest_ = (newest_ + kSlices - 1) % kSlices;
    const auto bytes = slices_[newest_].bytes();
    std::memset(bytes.data(), 0, bytes.size());
    taken_ = 0;
  }
  std::uint64_t slice_bits_, generation_, taken_ = 0;
  unsigned newest_ = 0;
  std::vector<detail::BitMemory> slices_;
};

}  // namespace bloomery::bench
