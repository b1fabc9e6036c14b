// A block of sixteen 32-bit words and one key in the registers of each instruction set with vectors.
//
// The operations on a block are written once over these primitives (block.hpp, src/filter/kernels). An
// instruction set is a struct with
//
//   Words                                  a block in registers
//   Chosen, Found                          the words of a key; the words that passed a test
//   load(block), store(block, words)
//   chosen(low, masks)                     the words that a key uses (each_word in layout.hpp)
//   shifts(low)                            the top five bits of the product of every word
//   at(chosen, value, shift)               value << shift in the chosen words, zero in the others
//   unite(a, b), mask(a, value)            a | b; a & value in every word
//   missing(chosen, bits, old)             the chosen words that lack a bit of `bits`
//   zero(chosen, counter, old)             the chosen words whose counter is zero
//   any(found)
//   up(old, unit, counter)                 increments every counter that is not full
//   down_if(wanted, old, unit, counter)    decrements them, or returns `old`
//   minimum(chosen, old, start, full)      the minimum of the chosen words' counters
//
// where `start` is the position of each word's counter, `unit` is at(chosen, 1, start) and `counter` is
// at(chosen, full, start).
//
// These are public headers for one reason: an inlined single look-up keeps more cache misses in flight.
// Measured (docs/benchmarks.md, "Kernels"): through the dispatch table it takes 1.6 times as long in
// memory, and 1.8 times in cache. Programs that are not compiled for their CPU use inline_block.hpp.
//
// Loads and stores use vectors of 32-bit words and not intrinsics, whose vectors may alias anything: a
// loop of inlined inserts would then reload the filter's own fields.
#pragma once

#include <bloomery/detail/layout.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace bloomery::detail {

// ---- several registers, whose comparisons give vectors ------------------------------------------
// Written with the vector operators of GCC and clang, not with intrinsics.

template <std::size_t kBytes>
struct BlockInRegisters {
  static constexpr std::size_t kRegisters = 64 / kBytes;
  using Register [[gnu::vector_size(kBytes)]] = std::uint32_t;
  struct Words {
    Register of[kRegisters];
  };
  using Chosen = Words;  // all ones in each of these words, zero in the others
  using Found = Words;   // not zero in each of these words

  [[gnu::always_inline]] static Words load(const std::uint32_t* block) noexcept {
    const Register* registers = reinterpret_cast<const Register*>(block);
    Words out;
    for (std::size_t i = 0; i < kRegisters; ++i) out.of[i] = registers[i];
    return out;
  }
  [[gnu::always_inline]] static void store(std::uint32_t* block, const Words& words) noexcept {
    Register* registers = reinterpret_cast<Register*>(block);
    for (std::size_t i = 0; i < kRegisters; ++i) registers[i] = words.of[i];
  }
  [[gnu::always_inline]] static Chosen chosen(std::uint64_t low, const WordMasks& masks) noexcept {
    const Words bits = load(kLaneBits);
    const Register words = Register{} + std::uint32_t{masks.of[low >> 58]};
    Chosen out;
    for (std::size_t i = 0; i < kRegisters; ++i)
      out.of[i] = reinterpret_cast<Register>((words & bits.of[i]) == bits.of[i]);
    return out;
  }
  [[gnu::always_inline]] static Words shifts(std::uint64_t low) noexcept {
    using Keys [[gnu::vector_size(kBytes)]] = std::uint64_t;
    const Register halves = reinterpret_cast<Register>(Keys{} + low);
    Words out = load(kLaneMultipliers);
    for (std::size_t i = 0; i < kRegisters; ++i) out.of[i] = (halves * out.of[i]) >> 27;
    return out;
  }
  [[gnu::always_inline]] static Words at(const Chosen& words, std::uint32_t value,
                                         const Words& shift) noexcept {
    Words out;
    for (std::size_t i = 0; i < kRegisters; ++i) out.of[i] = (words.of[i] & value) << shift.of[i];
    return out;
  }
  [[gnu::always_inline]] static Words unite(const Words& a, const Words& b) noexcept {
    Words out;
    for (std::size_t i = 0; i < kRegisters; ++i) out.of[i] = a.of[i] | b.of[i];
    return out;
  }
  [[gnu::always_inline]] static Words mask(const Words& a, std::uint32_t value) noexcept {
    Words out;
    for (std::size_t i = 0; i < kRegisters; ++i) out.of[i] = a.of[i] & value;
    return out;
  }
  [[gnu::always_inline]] static Found missing(const Chosen&, const Words& bits,
                                              const Words& old) noexcept {
    Found out;
    for (std::size_t i = 0; i < kRegisters; ++i) out.of[i] = bits.of[i] & ~old.of[i];
    return out;
  }
  [[gnu::always_inline]] static Found zero(const Chosen& words, const Words& counter,
                                           const Words& old) noexcept {
    Found out;
    for (std::size_t i = 0; i < kRegisters; ++i)
      out.of[i] = reinterpret_cast<Register>((old.of[i] & counter.of[i]) == 0) & words.of[i];
    return out;
  }
  [[gnu::always_inline]] static Words up(const Words& old, const Words& unit,
                                         const Words& counter) noexcept {
    Words out;
    for (std::size_t i = 0; i < kRegisters; ++i)
      out.of[i] = old.of[i] + step(old.of[i], unit.of[i], counter.of[i]);
    return out;
  }
  [[gnu::always_inline]] static Words down_if(bool wanted, const Words& old, const Words& unit,
                                              const Words& counter) noexcept {
    const Register all = Register{} - std::uint32_t{wanted};
    Words out;
    for (std::size_t i = 0; i < kRegisters; ++i)
      out.of[i] = old.of[i] - (step(old.of[i], unit.of[i], counter.of[i]) & all);
    return out;
  }
  [[gnu::always_inline]] static std::uint32_t minimum(const Chosen& words, const Words& old,
                                                      const Words& start,
                                                      std::uint32_t full) noexcept {
    Words counters;
    for (std::size_t i = 0; i < kRegisters; ++i)
      counters.of[i] = ((old.of[i] >> start.of[i]) | ~words.of[i]) & full;
    std::uint32_t values[16];
    std::memcpy(values, &counters, sizeof values);
    return *std::min_element(values, values + 16);
  }

 private:
  alignas(64) static constexpr std::uint32_t kLaneBits[16] = {
      1 << 0, 1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
      1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
  // The unit in the words whose counter is not full, zero in the others.
  [[gnu::always_inline]] static Register step(Register old, Register unit,
                                              Register counter) noexcept {
    return unit & ~reinterpret_cast<Register>((old & counter) == counter);
  }
};

#if defined(__AVX2__)
struct Avx2 : BlockInRegisters<32> {
  [[gnu::always_inline]] static bool any(const Found& found) noexcept {
    const auto both = reinterpret_cast<__m256i>(found.of[0] | found.of[1]);
    return _mm256_testz_si256(both, both) == 0;
  }
};
#endif

#if defined(__ARM_NEON) && defined(__aarch64__)
struct Neon : BlockInRegisters<16> {
  [[gnu::always_inline]] static bool any(const Found& found) noexcept {
    return vmaxvq_u32(reinterpret_cast<uint32x4_t>((found.of[0] | found.of[1]) |
                                                   (found.of[2] | found.of[3]))) != 0;
  }
};
#endif

// ---- one register, whose comparisons give masks --------------------------------------------------
// GCC 12 warns of uninitialized values inside the shift intrinsics of its own header, unless they have
// a mask.

#if defined(__AVX512F__) && defined(__AVX512BW__)
struct Avx512 {
  using Words [[gnu::vector_size(64)]] = std::uint32_t;
  using Chosen = __mmask16;
  using Found = __mmask16;

  [[gnu::always_inline]] static Words load(const std::uint32_t* block) noexcept {
    return *reinterpret_cast<const Words*>(block);
  }
  [[gnu::always_inline]] static void store(std::uint32_t* block, Words words) noexcept {
    *reinterpret_cast<Words*>(block) = words;
  }
  [[gnu::always_inline]] static Chosen chosen(std::uint64_t low, const WordMasks& masks) noexcept {
    return masks.of[low >> 58];
  }
  [[gnu::always_inline]] static Words shifts(std::uint64_t low) noexcept {
    const auto halves = reinterpret_cast<Words>(_mm512_set1_epi64(static_cast<long long>(low)));
    return (halves * load(kLaneMultipliers)) >> 27;
  }
  [[gnu::always_inline]] static Words at(Chosen words, std::uint32_t value, Words shift) noexcept {
    return reinterpret_cast<Words>(
        _mm512_maskz_sllv_epi32(words, _mm512_set1_epi32(static_cast<int>(value)), in(shift)));
  }
  [[gnu::always_inline]] static Words unite(Words a, Words b) noexcept { return a | b; }
  [[gnu::always_inline]] static Words mask(Words a, std::uint32_t value) noexcept {
    return a & value;
  }
  [[gnu::always_inline]] static Found missing(Chosen words, Words bits, Words old) noexcept {
    return _mm512_mask_testn_epi32_mask(words, in(bits), in(old));
  }
  [[gnu::always_inline]] static Found zero(Chosen words, Words counter, Words old) noexcept {
    return _mm512_mask_testn_epi32_mask(words, in(counter), in(old));
  }
  [[gnu::always_inline]] static bool any(Found found) noexcept { return found != 0; }
  [[gnu::always_inline]] static Words up(Words old, Words unit, Words counter) noexcept {
    return reinterpret_cast<Words>(
        _mm512_mask_add_epi32(in(old), not_full(old, counter), in(old), in(unit)));
  }
  [[gnu::always_inline]] static Words down_if(bool wanted, Words old, Words unit,
                                              Words counter) noexcept {
    const auto words = static_cast<__mmask16>(wanted ? not_full(old, counter) : 0);
    return reinterpret_cast<Words>(_mm512_mask_sub_epi32(in(old), words, in(old), in(unit)));
  }
  [[gnu::always_inline]] static std::uint32_t minimum(Chosen words, Words old, Words start,
                                                      std::uint32_t full) noexcept {
    return _mm512_mask_reduce_min_epu32(words, in((old >> start) & full));
  }

 private:
  [[gnu::always_inline]] static __m512i in(Words words) noexcept {
    return reinterpret_cast<__m512i>(words);
  }
  // The chosen words whose counter is not full. In the other words `counter` is zero.
  [[gnu::always_inline]] static __mmask16 not_full(Words old, Words counter) noexcept {
    return _mm512_cmpneq_epi32_mask(in(old & counter), in(counter));
  }
};
#endif

}  // namespace bloomery::detail
