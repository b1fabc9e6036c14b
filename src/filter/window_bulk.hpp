// One key or many against all ring_slices of a window: the blocks of a key in all ring_slices lie side by
// side, its pattern is worked out once, and the stretches of later keys are on their way from
// memory while earlier keys are applied.
//
// With `blocked2` a slice has a key only if both of its blocks do. Nearly no slice has the first of a key
// that is absent, so the second blocks are fetched only for ring_slices that have: such questions wait in
// a short queue while their block is on its way. A look-up then costs what `blocked` costs.
//
// Included by each window_*.cpp, which compiles it for its instruction set, as bulk.hpp is.
#pragma once

#include <bloomery/detail/window_kernel.hpp>
#include <bloomery/window_plan.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace bloomery::detail {
namespace {

// ---- a key's bits, worked out once and asked of many blocks --------------------------------------

struct ScalarPattern {
  explicit ScalarPattern(std::uint64_t low, const WordMasks& masks) noexcept {
    for (std::uint32_t words = masks.of[low >> 58]; words != 0; words &= words - 1) {
      const auto word = static_cast<unsigned>(std::countr_zero(words));
      word_of[count] = word;
      bit_of[count++] = ScalarBlock::bit(low, word);
    }
  }
  [[nodiscard]] bool in(const std::uint32_t* block) const noexcept {
    for (unsigned i = 0; i < count; ++i)
      if ((ScalarBlock::load(block + word_of[i]) & bit_of[i]) == 0) return false;
    return true;
  }
  bool set(std::uint32_t* block) const noexcept {
    std::uint32_t missing = 0;
    for (unsigned i = 0; i < count; ++i) {
      const std::uint32_t old = ScalarBlock::load(block + word_of[i]);
      missing |= bit_of[i] & ~old;
      ScalarBlock::store(block + word_of[i], old | bit_of[i]);
    }
    return missing != 0;
  }
  unsigned count = 0;
  std::array<unsigned, 16> word_of;
  std::array<std::uint32_t, 16> bit_of;
};

#if defined(__AVX512F__) && defined(__AVX512BW__)
struct Avx512Pattern {
  [[gnu::always_inline]] Avx512Pattern(std::uint64_t low, const WordMasks& masks) noexcept
      : words(masks.of[low >> 58]),
        wanted(_mm512_maskz_sllv_epi32(words, _mm512_set1_epi32(1),
                                       reinterpret_cast<__m512i>(Avx512Block::shifts(low)))) {}
  [[gnu::always_inline]] [[nodiscard]] bool in(const std::uint32_t* block) const noexcept {
    return _mm512_mask_testn_epi32_mask(words, wanted, _mm512_load_si512(block)) == 0;
  }
  [[gnu::always_inline]] bool set(std::uint32_t* block) const noexcept {
    const __m512i old = _mm512_load_si512(block);
    _mm512_store_si512(block, _mm512_or_si512(old, wanted));
    return _mm512_mask_testn_epi32_mask(words, wanted, old) != 0;
  }
  __mmask16 words;
  __m512i wanted;
};
#endif

#if defined(__AVX2__)
struct Avx2Pattern {
  [[gnu::always_inline]] Avx2Pattern(std::uint64_t low, const WordMasks& masks) noexcept
      : wanted(Avx2Block::bits(low, masks.of[low >> 58])) {}
  [[gnu::always_inline]] [[nodiscard]] bool in(const std::uint32_t* block) const noexcept {
    const auto* halves = reinterpret_cast<const __m256i*>(block);
    const __m256i missing =
        _mm256_or_si256(_mm256_andnot_si256(_mm256_load_si256(halves), wanted.first),
                        _mm256_andnot_si256(_mm256_load_si256(halves + 1), wanted.second));
    return _mm256_testz_si256(missing, missing) != 0;
  }
  [[gnu::always_inline]] bool set(std::uint32_t* block) const noexcept {
    const bool missing = !in(block);
    auto* halves = reinterpret_cast<__m256i*>(block);
    _mm256_store_si256(halves, _mm256_or_si256(_mm256_load_si256(halves), wanted.first));
    _mm256_store_si256(halves + 1, _mm256_or_si256(_mm256_load_si256(halves + 1), wanted.second));
    return missing;
  }
  Avx2Block::Halves wanted;
};
#endif

#if defined(__ARM_NEON) && defined(__aarch64__)
struct NeonPattern {
  NeonPattern(std::uint64_t low, const WordMasks& masks) noexcept
      : wanted(NeonBlock::bits(low, masks.of[low >> 58])) {}
  [[nodiscard]] bool in(const std::uint32_t* block) const noexcept {
    uint32x4_t missing = vdupq_n_u32(0);
    for (int quarter = 0; quarter < 4; ++quarter)
      missing = vorrq_u32(missing, vbicq_u32(wanted.of[quarter], vld1q_u32(block + 4 * quarter)));
    return vmaxvq_u32(missing) == 0;
  }
  bool set(std::uint32_t* block) const noexcept {
    const bool missing = !in(block);
    for (int quarter = 0; quarter < 4; ++quarter)
      vst1q_u32(block + 4 * quarter, vorrq_u32(vld1q_u32(block + 4 * quarter), wanted.of[quarter]));
    return missing;
  }
  NeonBlock::Quarters wanted;
};
#endif

// ---- how many ring_slices ------------------------------------------------------------------------------

// The loops over the ring_slices are compiled for the number that most windows have, and once more for
// all others: unrolled, a bulk look-up in cache takes half of the time.
constexpr std::uint32_t kUsualRingSlices = kDefaultSlices + 1;
constexpr std::uint32_t kAnyRingSlices = 0;

template <std::uint32_t kRingSlices>
[[gnu::always_inline]] constexpr std::uint32_t ring_slices_of(
    const WindowBitArray& bit_array) noexcept {
  return kRingSlices == kAnyRingSlices ? bit_array.ring_slices : kRingSlices;
}

// ---- where a key's blocks are --------------------------------------------------------------------

constexpr std::size_t kBlockWords = kBlockBits / 32;

// The block of slice 0; those of the other ring_slices follow it.
template <std::uint32_t kRingSlices>
[[gnu::always_inline]] inline std::uint32_t* row_of(const WindowBitArray& bit_array,
                                                    std::uint64_t high) noexcept {
  return bit_array.words +
         fast_range(high, bit_array.blocks) * ring_slices_of<kRingSlices>(bit_array) * kBlockWords;
}

template <std::uint32_t kRingSlices>
[[gnu::always_inline]] inline void prefetch_row(const WindowBitArray& bit_array,
                                                std::uint64_t high) noexcept {
  const std::uint32_t* row = row_of<kRingSlices>(bit_array, high);
  for (std::uint32_t slice = 0; slice < ring_slices_of<kRingSlices>(bit_array); ++slice)
    __builtin_prefetch(row + slice * kBlockWords);
}

// ---- block -----------------------------------------------------------------------------------------

template <class Pattern, std::uint32_t kRingSlices>
struct WindowBlocked {
  // All ring_slices, without a branch on what one says: a key is in at most a few of them, at random.
  [[gnu::always_inline]] static bool any(const WindowBitArray& bit_array, const std::uint32_t* row,
                                         const Pattern& pattern) noexcept {
    bool found = false;
    for (std::uint32_t slice = 0; slice < ring_slices_of<kRingSlices>(bit_array); ++slice)
      found |= pattern.in(row + slice * kBlockWords);
    return found;
  }
  static bool contains(const WindowBitArray& bit_array, Hash128 hash) noexcept {
    return any(bit_array, row_of<kRingSlices>(bit_array, hash.high),
               Pattern(hash.low, *bit_array.masks));
  }
  static bool insert(const WindowBitArray& bit_array, std::uint32_t newest, Hash128 hash) noexcept {
    std::uint32_t* row = row_of<kRingSlices>(bit_array, hash.high);
    const Pattern pattern(hash.low, *bit_array.masks);
    const bool fresh = !any(bit_array, row, pattern);
    pattern.set(row + newest * kBlockWords);
    return fresh;
  }

  // What a bulk call does with each key; nothing waits.
  struct Session {
    explicit Session(const WindowBitArray& of, std::uint32_t into) noexcept
        : bit_array(of), newest(into) {}
    [[gnu::always_inline]] void prefetch(Hash128 hash) const noexcept {
      prefetch_row<kRingSlices>(bit_array, hash.high);
    }
    template <bool kInsert>
    [[gnu::always_inline]] void apply(Hash128 hash, bool* answer) const noexcept {
      if constexpr (kInsert)
        *answer = WindowBlocked::insert(bit_array, newest, hash);
      else
        *answer = WindowBlocked::contains(bit_array, hash);
    }
    template <bool kInsert>
    void settle() const noexcept {}
    const WindowBitArray bit_array;  // a copy that no store through the bits can alias
    const std::uint32_t newest;
  };
};

// ---- pair -----------------------------------------------------------------------------------------

template <class Pattern, std::uint32_t kRingSlices>
struct WindowBlocked2 {
  // Calls visit(slice) for the ring_slices that have the first block of a key. Which those are cannot be
  // guessed, so they are found without a branch a slice: half of the time of a hit in cache.
  template <class Visit>
  [[gnu::always_inline]] static void each_with_first(const WindowBitArray& bit_array,
                                                     const std::uint32_t* first,
                                                     const Pattern& pattern, Visit visit) noexcept {
    const std::uint32_t ring_slices = ring_slices_of<kRingSlices>(bit_array);
    for (std::uint32_t base = 0; base < ring_slices; base += 64) {
      std::uint64_t with = 0;
      for (std::uint32_t slice = base; slice < std::min(base + 64, ring_slices); ++slice)
        with |= std::uint64_t{pattern.in(first + slice * kBlockWords)} << (slice - base);
      for (; with != 0; with &= with - 1)
        visit(base + static_cast<std::uint32_t>(std::countr_zero(with)));
    }
  }
  static bool contains(const WindowBitArray& bit_array, Hash128 hash) noexcept {
    bool found = false;
    each_with_first(bit_array, row_of<kRingSlices>(bit_array, hash.high),
                    Pattern(hash.low, *bit_array.masks), [&](std::uint32_t slice) {
                      const Hash128 other = second_hash(hash);
                      found |=
                          Pattern(other.low, *bit_array.masks)
                              .in(row_of<kRingSlices>(bit_array, other.high) + slice * kBlockWords);
                    });
    return found;
  }
  static bool insert(const WindowBitArray& bit_array, std::uint32_t newest, Hash128 hash) noexcept {
    const Hash128 other = second_hash(hash);
    std::uint32_t* second = row_of<kRingSlices>(bit_array, other.high) + newest * kBlockWords;
    __builtin_prefetch(second);
    const bool fresh = !contains(bit_array, hash);
    Pattern(hash.low, *bit_array.masks)
        .set(row_of<kRingSlices>(bit_array, hash.high) + newest * kBlockWords);
    Pattern(other.low, *bit_array.masks).set(second);
    return fresh;
  }

  struct Session {
    explicit Session(const WindowBitArray& of, std::uint32_t into) noexcept
        : bit_array(of), newest(into) {}
    [[gnu::always_inline]] void prefetch(Hash128 hash) const noexcept {
      prefetch_row<kRingSlices>(bit_array, hash.high);
      __builtin_prefetch(row_of<kRingSlices>(bit_array, second_hash(hash).high) +
                         newest * kBlockWords);
    }
    template <bool kInsert>
    [[gnu::always_inline]] void apply(Hash128 hash, bool* answer) noexcept {
      std::uint32_t* first = row_of<kRingSlices>(bit_array, hash.high);
      const Pattern pattern(hash.low, *bit_array.masks);
      *answer = kInsert;
      // The newest slice does not wait, since later keys of this call may be set in it.
      bool here = false;
      each_with_first(bit_array, first, pattern, [&](std::uint32_t slice) {
        if (slice == newest)
          here = true;
        else
          wait<kInsert>(hash, slice, answer);
      });
      if (!kInsert && !here) return;
      const Hash128 other = second_hash(hash);
      const Pattern second(other.low, *bit_array.masks);
      std::uint32_t* block = row_of<kRingSlices>(bit_array, other.high) + newest * kBlockWords;
      if (here && second.in(block)) *answer = !kInsert;
      if constexpr (kInsert) {
        pattern.set(first + newest * kBlockWords);
        second.set(block);
      }
    }
    // A slice that has the first block: whether it has the second is asked when that has come. The
    // other ring_slices do not change during a call.
    template <bool kInsert>
    void wait(Hash128 hash, std::uint32_t slice, bool* answer) noexcept {
      if (waiting == kWaiting) settle<kInsert>();
      const Hash128 other = second_hash(hash);
      const std::uint32_t* block = row_of<kRingSlices>(bit_array, other.high) + slice * kBlockWords;
      __builtin_prefetch(block);
      queue[waiting++] = {block, other.low, answer};
    }
    template <bool kInsert>
    void settle() noexcept {
      for (std::size_t i = 0; i < waiting; ++i)
        if (Pattern(queue[i].low, *bit_array.masks).in(queue[i].block)) *queue[i].answer = !kInsert;
      waiting = 0;
    }

    static constexpr std::size_t kWaiting = 64;
    struct Question {
      const std::uint32_t* block;
      std::uint64_t low;
      bool* answer;
    };
    const WindowBitArray bit_array;
    const std::uint32_t newest;
    std::size_t waiting = 0;
    std::array<Question, kWaiting> queue;
  };
};

// ---- many keys ------------------------------------------------------------------------------------

// How many blocks are on their way at a time. Measured at 9 ring_slices on a quiet machine: 72 blocks
// 21.8 ns a key, 108 18.0, 144 and 216 17.3; on a busy one 216 take 0.8 of the time of 144.
constexpr std::size_t kBlocksAhead = 216;
constexpr std::size_t kMostAhead = 128;  // keys
constexpr std::size_t kPart = 1024;

template <class Window, bool kInsert>
std::size_t run_window(const WindowBitArray& bit_array, std::uint32_t newest, const Hash128* hashes,
                       std::size_t count, bool* answers) noexcept {
  typename Window::Session session(bit_array, newest);
  const std::size_t ahead =
      std::min(count, std::clamp<std::size_t>(kBlocksAhead / bit_array.ring_slices, 2, kMostAhead));
  for (std::size_t i = 0; i < ahead; ++i) session.prefetch(hashes[i]);
  std::array<bool, kPart> own;
  std::size_t yes = 0;
  for (std::size_t done = 0; done < count;) {
    const std::size_t part = std::min(kPart, count - done);
    bool* out = answers == nullptr ? own.data() : answers + done;
    const std::size_t asked = std::min(part, count - ahead - std::min(done, count - ahead));
    for (std::size_t i = 0; i < asked; ++i) {
      session.prefetch(hashes[done + i + ahead]);
      session.template apply<kInsert>(hashes[done + i], out + i);
    }
    for (std::size_t i = asked; i < part; ++i)
      session.template apply<kInsert>(hashes[done + i], out + i);
    session.template settle<kInsert>();
    for (std::size_t i = 0; i < part; ++i) yes += out[i];
    done += part;
  }
  return yes;
}

template <template <class, std::uint32_t> class Window, class Pattern>
constexpr WindowKernel make_window_kernel(const char* name) {
  using Usual = Window<Pattern, kUsualRingSlices>;
  using Any = Window<Pattern, kAnyRingSlices>;
  return {name,
          [](const WindowBitArray& bit_array, std::uint32_t newest, Hash128 hash) noexcept {
            return bit_array.ring_slices == kUsualRingSlices
                       ? Usual::insert(bit_array, newest, hash)
                       : Any::insert(bit_array, newest, hash);
          },
          [](const WindowBitArray& bit_array, Hash128 hash) noexcept {
            return bit_array.ring_slices == kUsualRingSlices ? Usual::contains(bit_array, hash)
                                                             : Any::contains(bit_array, hash);
          },
          [](const WindowBitArray& bit_array, std::uint32_t newest, const Hash128* hashes,
             std::size_t count, bool* answers) noexcept {
            return bit_array.ring_slices == kUsualRingSlices
                       ? run_window<Usual, true>(bit_array, newest, hashes, count, answers)
                       : run_window<Any, true>(bit_array, newest, hashes, count, answers);
          },
          [](const WindowBitArray& bit_array, const Hash128* hashes, std::size_t count,
             bool* answers) noexcept {
            return bit_array.ring_slices == kUsualRingSlices
                       ? run_window<Usual, false>(bit_array, 0, hashes, count, answers)
                       : run_window<Any, false>(bit_array, 0, hashes, count, answers);
          }};
}

}  // namespace
}  // namespace bloomery::detail
