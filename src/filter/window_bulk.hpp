// One key or many against all slots of a window: the lines of a key in all slots lie side by
// side, its pattern is worked out once, and the stretches of later keys are on their way from
// memory while earlier keys are applied.
//
// With `pair` a slot has a key only if both of its lines do. Nearly no slot has the first of a key
// that is absent, so the second lines are fetched only for slots that have: such questions wait in
// a short queue while their line is on its way. A look-up then costs what `line` costs.
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

// ---- a key's bits, worked out once and asked of many lines --------------------------------------

struct ScalarPattern {
  explicit ScalarPattern(std::uint64_t low, const WordMasks& masks) noexcept {
    for (std::uint32_t words = masks.of[low >> 58]; words != 0; words &= words - 1) {
      const auto word = static_cast<unsigned>(std::countr_zero(words));
      word_of[count] = word;
      bit_of[count++] = ScalarLine::bit(low, word);
    }
  }
  [[nodiscard]] bool in(const std::uint32_t* line) const noexcept {
    for (unsigned i = 0; i < count; ++i)
      if ((ScalarLine::load(line + word_of[i]) & bit_of[i]) == 0) return false;
    return true;
  }
  bool set(std::uint32_t* line) const noexcept {
    std::uint32_t missing = 0;
    for (unsigned i = 0; i < count; ++i) {
      const std::uint32_t old = ScalarLine::load(line + word_of[i]);
      missing |= bit_of[i] & ~old;
      ScalarLine::store(line + word_of[i], old | bit_of[i]);
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
                                       reinterpret_cast<__m512i>(Avx512Line::shifts(low)))) {}
  [[gnu::always_inline]] [[nodiscard]] bool in(const std::uint32_t* line) const noexcept {
    return _mm512_mask_testn_epi32_mask(words, wanted, _mm512_load_si512(line)) == 0;
  }
  [[gnu::always_inline]] bool set(std::uint32_t* line) const noexcept {
    const __m512i old = _mm512_load_si512(line);
    _mm512_store_si512(line, _mm512_or_si512(old, wanted));
    return _mm512_mask_testn_epi32_mask(words, wanted, old) != 0;
  }
  __mmask16 words;
  __m512i wanted;
};
#endif

#if defined(__AVX2__)
struct Avx2Pattern {
  [[gnu::always_inline]] Avx2Pattern(std::uint64_t low, const WordMasks& masks) noexcept
      : wanted(Avx2Line::bits(low, masks.of[low >> 58])) {}
  [[gnu::always_inline]] [[nodiscard]] bool in(const std::uint32_t* line) const noexcept {
    const auto* halves = reinterpret_cast<const __m256i*>(line);
    const __m256i missing =
        _mm256_or_si256(_mm256_andnot_si256(_mm256_load_si256(halves), wanted.first),
                        _mm256_andnot_si256(_mm256_load_si256(halves + 1), wanted.second));
    return _mm256_testz_si256(missing, missing) != 0;
  }
  [[gnu::always_inline]] bool set(std::uint32_t* line) const noexcept {
    const bool missing = !in(line);
    auto* halves = reinterpret_cast<__m256i*>(line);
    _mm256_store_si256(halves, _mm256_or_si256(_mm256_load_si256(halves), wanted.first));
    _mm256_store_si256(halves + 1, _mm256_or_si256(_mm256_load_si256(halves + 1), wanted.second));
    return missing;
  }
  Avx2Line::Halves wanted;
};
#endif

#if defined(__ARM_NEON) && defined(__aarch64__)
struct NeonPattern {
  NeonPattern(std::uint64_t low, const WordMasks& masks) noexcept
      : wanted(NeonLine::bits(low, masks.of[low >> 58])) {}
  [[nodiscard]] bool in(const std::uint32_t* line) const noexcept {
    uint32x4_t missing = vdupq_n_u32(0);
    for (int quarter = 0; quarter < 4; ++quarter)
      missing = vorrq_u32(missing, vbicq_u32(wanted.of[quarter], vld1q_u32(line + 4 * quarter)));
    return vmaxvq_u32(missing) == 0;
  }
  bool set(std::uint32_t* line) const noexcept {
    const bool missing = !in(line);
    for (int quarter = 0; quarter < 4; ++quarter)
      vst1q_u32(line + 4 * quarter, vorrq_u32(vld1q_u32(line + 4 * quarter), wanted.of[quarter]));
    return missing;
  }
  NeonLine::Quarters wanted;
};
#endif

// ---- how many slots ------------------------------------------------------------------------------

// The loops over the slots are compiled for the number that most windows have, and once more for
// all others: unrolled, a bulk look-up in cache takes half of the time.
constexpr std::uint32_t kUsualSlots = kDefaultSlices + 1;
constexpr std::uint32_t kAnySlots = 0;

template <std::uint32_t kSlots>
[[gnu::always_inline]] constexpr std::uint32_t slots_of(const WindowShape& shape) noexcept {
  return kSlots == kAnySlots ? shape.slots : kSlots;
}

// ---- where a key's lines are --------------------------------------------------------------------

constexpr std::size_t kLineWords = kLineBits / 32;

// The line of slot 0; those of the other slots follow it.
template <std::uint32_t kSlots>
[[gnu::always_inline]] inline std::uint32_t* stretch_of(const WindowShape& shape,
                                                        std::uint64_t high) noexcept {
  return shape.words + scale(high, shape.lines) * slots_of<kSlots>(shape) * kLineWords;
}

template <std::uint32_t kSlots>
[[gnu::always_inline]] inline void prefetch_stretch(const WindowShape& shape,
                                                    std::uint64_t high) noexcept {
  const std::uint32_t* stretch = stretch_of<kSlots>(shape, high);
  for (std::uint32_t slot = 0; slot < slots_of<kSlots>(shape); ++slot)
    __builtin_prefetch(stretch + slot * kLineWords);
}

// ---- line -----------------------------------------------------------------------------------------

template <class Pattern, std::uint32_t kSlots>
struct WindowLine {
  // All slots, without a branch on what one says: a key is in at most a few of them, at random.
  [[gnu::always_inline]] static bool any(const WindowShape& shape, const std::uint32_t* stretch,
                                         const Pattern& pattern) noexcept {
    bool found = false;
    for (std::uint32_t slot = 0; slot < slots_of<kSlots>(shape); ++slot)
      found |= pattern.in(stretch + slot * kLineWords);
    return found;
  }
  static bool contains(const WindowShape& shape, Hash128 hash) noexcept {
    return any(shape, stretch_of<kSlots>(shape, hash.high), Pattern(hash.low, *shape.masks));
  }
  static bool insert(const WindowShape& shape, std::uint32_t newest, Hash128 hash) noexcept {
    std::uint32_t* stretch = stretch_of<kSlots>(shape, hash.high);
    const Pattern pattern(hash.low, *shape.masks);
    const bool fresh = !any(shape, stretch, pattern);
    pattern.set(stretch + newest * kLineWords);
    return fresh;
  }

  // What a bulk call does with each key; nothing waits.
  struct Session {
    explicit Session(const WindowShape& of, std::uint32_t into) noexcept
        : shape(of), newest(into) {}
    [[gnu::always_inline]] void prefetch(Hash128 hash) const noexcept {
      prefetch_stretch<kSlots>(shape, hash.high);
    }
    template <bool kInsert>
    [[gnu::always_inline]] void apply(Hash128 hash, bool* answer) const noexcept {
      if constexpr (kInsert)
        *answer = WindowLine::insert(shape, newest, hash);
      else
        *answer = WindowLine::contains(shape, hash);
    }
    template <bool kInsert>
    void settle() const noexcept {}
    const WindowShape shape;  // a copy that no store through the bits can alias
    const std::uint32_t newest;
  };
};

// ---- pair -----------------------------------------------------------------------------------------

template <class Pattern, std::uint32_t kSlots>
struct WindowPair {
  // Calls visit(slot) for the slots that have the first line of a key. Which those are cannot be
  // guessed, so they are found without a branch a slot: half of the time of a hit in cache.
  template <class Visit>
  [[gnu::always_inline]] static void each_with_first(const WindowShape& shape,
                                                     const std::uint32_t* first,
                                                     const Pattern& pattern, Visit visit) noexcept {
    const std::uint32_t slots = slots_of<kSlots>(shape);
    for (std::uint32_t base = 0; base < slots; base += 64) {
      std::uint64_t with = 0;
      for (std::uint32_t slot = base; slot < std::min(base + 64, slots); ++slot)
        with |= std::uint64_t{pattern.in(first + slot * kLineWords)} << (slot - base);
      for (; with != 0; with &= with - 1)
        visit(base + static_cast<std::uint32_t>(std::countr_zero(with)));
    }
  }
  static bool contains(const WindowShape& shape, Hash128 hash) noexcept {
    bool found = false;
    each_with_first(shape, stretch_of<kSlots>(shape, hash.high), Pattern(hash.low, *shape.masks),
                    [&](std::uint32_t slot) {
                      const Hash128 other = second_hash(hash);
                      found |= Pattern(other.low, *shape.masks)
                                   .in(stretch_of<kSlots>(shape, other.high) + slot * kLineWords);
                    });
    return found;
  }
  static bool insert(const WindowShape& shape, std::uint32_t newest, Hash128 hash) noexcept {
    const Hash128 other = second_hash(hash);
    std::uint32_t* second = stretch_of<kSlots>(shape, other.high) + newest * kLineWords;
    __builtin_prefetch(second);
    const bool fresh = !contains(shape, hash);
    Pattern(hash.low, *shape.masks).set(stretch_of<kSlots>(shape, hash.high) + newest * kLineWords);
    Pattern(other.low, *shape.masks).set(second);
    return fresh;
  }

  struct Session {
    explicit Session(const WindowShape& of, std::uint32_t into) noexcept
        : shape(of), newest(into) {}
    [[gnu::always_inline]] void prefetch(Hash128 hash) const noexcept {
      prefetch_stretch<kSlots>(shape, hash.high);
      __builtin_prefetch(stretch_of<kSlots>(shape, second_hash(hash).high) + newest * kLineWords);
    }
    template <bool kInsert>
    [[gnu::always_inline]] void apply(Hash128 hash, bool* answer) noexcept {
      std::uint32_t* first = stretch_of<kSlots>(shape, hash.high);
      const Pattern pattern(hash.low, *shape.masks);
      *answer = kInsert;
      // The newest slot does not wait, since later keys of this call may be set in it.
      bool here = false;
      each_with_first(shape, first, pattern, [&](std::uint32_t slot) {
        if (slot == newest)
          here = true;
        else
          wait<kInsert>(hash, slot, answer);
      });
      if (!kInsert && !here) return;
      const Hash128 other = second_hash(hash);
      const Pattern second(other.low, *shape.masks);
      std::uint32_t* line = stretch_of<kSlots>(shape, other.high) + newest * kLineWords;
      if (here && second.in(line)) *answer = !kInsert;
      if constexpr (kInsert) {
        pattern.set(first + newest * kLineWords);
        second.set(line);
      }
    }
    // A slot that has the first line: whether it has the second is asked when that has come. The
    // other slots do not change during a call.
    template <bool kInsert>
    void wait(Hash128 hash, std::uint32_t slot, bool* answer) noexcept {
      if (waiting == kWaiting) settle<kInsert>();
      const Hash128 other = second_hash(hash);
      const std::uint32_t* line = stretch_of<kSlots>(shape, other.high) + slot * kLineWords;
      __builtin_prefetch(line);
      queue[waiting++] = {line, other.low, answer};
    }
    template <bool kInsert>
    void settle() noexcept {
      for (std::size_t i = 0; i < waiting; ++i)
        if (Pattern(queue[i].low, *shape.masks).in(queue[i].line)) *queue[i].answer = !kInsert;
      waiting = 0;
    }

    static constexpr std::size_t kWaiting = 64;
    struct Question {
      const std::uint32_t* line;
      std::uint64_t low;
      bool* answer;
    };
    const WindowShape shape;
    const std::uint32_t newest;
    std::size_t waiting = 0;
    std::array<Question, kWaiting> queue;
  };
};

// ---- many keys ------------------------------------------------------------------------------------

// How many lines are on their way at a time. Measured at 9 slots on a quiet machine: 72 lines
// 21.8 ns a key, 108 18.0, 144 and 216 17.3; on a busy one 216 take 0.8 of the time of 144.
constexpr std::size_t kLinesAhead = 216;
constexpr std::size_t kMostAhead = 128;  // keys
constexpr std::size_t kPart = 1024;

template <class Window, bool kInsert>
std::size_t run_window(const WindowShape& shape, std::uint32_t newest, const Hash128* hashes,
                       std::size_t count, bool* answers) noexcept {
  typename Window::Session session(shape, newest);
  const std::size_t ahead =
      std::min(count, std::clamp<std::size_t>(kLinesAhead / shape.slots, 2, kMostAhead));
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
  using Usual = Window<Pattern, kUsualSlots>;
  using Any = Window<Pattern, kAnySlots>;
  return {name,
          [](const WindowShape& shape, std::uint32_t newest, Hash128 hash) noexcept {
            return shape.slots == kUsualSlots ? Usual::insert(shape, newest, hash)
                                              : Any::insert(shape, newest, hash);
          },
          [](const WindowShape& shape, Hash128 hash) noexcept {
            return shape.slots == kUsualSlots ? Usual::contains(shape, hash)
                                              : Any::contains(shape, hash);
          },
          [](const WindowShape& shape, std::uint32_t newest, const Hash128* hashes,
             std::size_t count, bool* answers) noexcept {
            return shape.slots == kUsualSlots
                       ? run_window<Usual, true>(shape, newest, hashes, count, answers)
                       : run_window<Any, true>(shape, newest, hashes, count, answers);
          },
          [](const WindowShape& shape, const Hash128* hashes, std::size_t count,
             bool* answers) noexcept {
            return shape.slots == kUsualSlots
                       ? run_window<Usual, false>(shape, 0, hashes, count, answers)
                       : run_window<Any, false>(shape, 0, hashes, count, answers);
          }};
}

}  // namespace
}  // namespace bloomery::detail
