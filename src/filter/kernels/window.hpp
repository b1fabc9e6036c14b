// Kernels of window filters: one key or many against all slices of the ring. The blocks of a key in all
// slices lie side by side, its pattern is computed once, and the blocks of later keys are on their way
// from memory while earlier keys are applied.
//
// With `blocked2` a slice has a key only if both of its blocks do. Almost no slice has the first block of
// an absent key, so the second blocks are fetched only for slices that have the first one; these look-ups
// wait in a short queue while their second block is on its way. A look-up then costs what `blocked` costs.
//
// Included by the file of each instruction set, as ring.hpp is.
#pragma once

#include <bloomery/detail/kernel.hpp>
#include <bloomery/window_plan.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace bloomery::detail {
namespace {

// ---- the slices ------------------------------------------------------------------------------------

constexpr std::size_t kBlockWords = kBlockBits / 32;

// The loops over the slices are compiled for the number that most windows have, and once more for all
// other numbers: with unrolled loops a bulk look-up in cache takes half of the time.
constexpr std::uint32_t kUsualSlices = kDefaultSlices + 1;
constexpr std::uint32_t kAnySlices = 0;

template <std::uint32_t kSlices>
struct Row {
  [[gnu::always_inline]] static std::uint32_t slices(const WindowBitArray& array) noexcept {
    return kSlices == kAnySlices ? array.ring_slices : kSlices;
  }
  // A block of slice 0; those of the other slices follow it.
  [[gnu::always_inline]] static std::uint32_t* of(const WindowBitArray& array,
                                                  const KeyBlock& at) noexcept {
    return array.words + at.block * slices(array) * kBlockWords;
  }
  [[gnu::always_inline]] static void prefetch(const WindowBitArray& array,
                                              const KeyBlock& at) noexcept {
    const std::uint32_t* row = of(array, at);
    for (std::uint32_t slice = 0; slice < slices(array); ++slice)
      __builtin_prefetch(row + slice * kBlockWords);
  }
};

// ---- blocked ---------------------------------------------------------------------------------------

template <class L, class Pattern, std::uint32_t kSlices>
struct WindowOf;

template <class Pattern, std::uint32_t kSlices>
struct WindowOf<LayoutOf<Layout::blocked>, Pattern, kSlices> {
  using Row = detail::Row<kSlices>;

  [[gnu::always_inline]] static KeyBlock block(const WindowBitArray& array, Hash128 hash) noexcept {
    return LayoutOf<Layout::blocked>::block<0>(array, hash);
  }
  // Whether any slice has the key. It tests all slices without a branch on each answer, because a key
  // is in at most a few random slices.
  [[gnu::always_inline]] static bool any(const WindowBitArray& array, const std::uint32_t* row,
                                         const Pattern& pattern) noexcept {
    bool found = false;
    for (std::uint32_t slice = 0; slice < Row::slices(array); ++slice)
      found |= pattern.in(row + slice * kBlockWords);
    return found;
  }
  static bool contains(const WindowBitArray& array, Hash128 hash) noexcept {
    const KeyBlock at = block(array, hash);
    return any(array, Row::of(array, at), Pattern(at.low, *array.masks));
  }
  static bool insert(const WindowBitArray& array, std::uint32_t newest, Hash128 hash) noexcept {
    const KeyBlock at = block(array, hash);
    std::uint32_t* row = Row::of(array, at);
    const Pattern pattern(at.low, *array.masks);
    const bool fresh = !any(array, row, pattern);
    pattern.add_to(row + newest * kBlockWords);
    return fresh;
  }

  // The work of a bulk call on each key. No look-up waits in a queue.
  struct Call {
    explicit Call(const WindowBitArray& of, std::uint32_t into) noexcept
        : array(of), newest(into) {}
    [[gnu::always_inline]] void prefetch(Hash128 hash) const noexcept {
      Row::prefetch(array, block(array, hash));
    }
    template <bool kInsert>
    [[gnu::always_inline]] void apply(Hash128 hash, bool* answer) const noexcept {
      if constexpr (kInsert)
        *answer = WindowOf::insert(array, newest, hash);
      else
        *answer = WindowOf::contains(array, hash);
    }
    template <bool kInsert>
    void answer_waiting() const noexcept {}
    const WindowBitArray array;  // a copy that no store through the bits can alias
    const std::uint32_t newest;
  };
};

// ---- blocked2 --------------------------------------------------------------------------------------

template <class Pattern, std::uint32_t kSlices>
struct WindowOf<LayoutOf<Layout::blocked2>, Pattern, kSlices> {
  using Row = detail::Row<kSlices>;

  template <unsigned kIndex>
  [[gnu::always_inline]] static KeyBlock block(const WindowBitArray& array, Hash128 hash) noexcept {
    return LayoutOf<Layout::blocked2>::block<kIndex>(array, hash);
  }
  // Calls visit(slice) for the slices that have the first block of a key. These are unpredictable, so
  // they are found without a branch for each slice, which halves the time of a hit in cache.
  template <class Visit>
  [[gnu::always_inline]] static void each_with_first(const WindowBitArray& array,
                                                     const std::uint32_t* first,
                                                     const Pattern& pattern, Visit visit) noexcept {
    const std::uint32_t slices = Row::slices(array);
    for (std::uint32_t base = 0; base < slices; base += 64) {
      std::uint64_t with = 0;
      for (std::uint32_t slice = base; slice < std::min(base + 64, slices); ++slice)
        with |= std::uint64_t{pattern.in(first + slice * kBlockWords)} << (slice - base);
      for (; with != 0; with &= with - 1)
        visit(base + static_cast<std::uint32_t>(std::countr_zero(with)));
    }
  }
  static bool contains(const WindowBitArray& array, Hash128 hash) noexcept {
    bool found = false;
    const KeyBlock at = block<0>(array, hash);
    each_with_first(
        array, Row::of(array, at), Pattern(at.low, *array.masks), [&](std::uint32_t slice) {
          const KeyBlock other = block<1>(array, hash);
          found |= Pattern(other.low, *array.masks).in(Row::of(array, other) + slice * kBlockWords);
        });
    return found;
  }
  static bool insert(const WindowBitArray& array, std::uint32_t newest, Hash128 hash) noexcept {
    const KeyBlock at = block<0>(array, hash), other = block<1>(array, hash);
    std::uint32_t* second = Row::of(array, other) + newest * kBlockWords;
    __builtin_prefetch(second);
    const bool fresh = !contains(array, hash);
    Pattern(at.low, *array.masks).add_to(Row::of(array, at) + newest * kBlockWords);
    Pattern(other.low, *array.masks).add_to(second);
    return fresh;
  }

  struct Call {
    explicit Call(const WindowBitArray& of, std::uint32_t into) noexcept
        : array(of), newest(into) {}
    [[gnu::always_inline]] void prefetch(Hash128 hash) const noexcept {
      Row::prefetch(array, block<0>(array, hash));
      __builtin_prefetch(Row::of(array, block<1>(array, hash)) + newest * kBlockWords);
    }
    template <bool kInsert>
    [[gnu::always_inline]] void apply(Hash128 hash, bool* answer) noexcept {
      const KeyBlock at = block<0>(array, hash);
      std::uint32_t* first = Row::of(array, at);
      const Pattern pattern(at.low, *array.masks);
      *answer = kInsert;
      // The newest slice is tested at once, because later keys of this call may set bits in it.
      bool here = false;
      each_with_first(array, first, pattern, [&](std::uint32_t slice) {
        if (slice == newest)
          here = true;
        else
          wait<kInsert>(hash, slice, answer);
      });
      if (!kInsert && !here) return;
      const KeyBlock other = block<1>(array, hash);
      const Pattern second(other.low, *array.masks);
      std::uint32_t* words = Row::of(array, other) + newest * kBlockWords;
      if (here && second.in(words)) *answer = !kInsert;
      if constexpr (kInsert) {
        pattern.add_to(first + newest * kBlockWords);
        second.add_to(words);
      }
    }
    // For a slice that has the first block: tests the second block when it has arrived. The slices
    // other than the newest do not change during a call.
    template <bool kInsert>
    void wait(Hash128 hash, std::uint32_t slice, bool* answer) noexcept {
      if (waiting == kWaiting) answer_waiting<kInsert>();
      const KeyBlock other = block<1>(array, hash);
      const std::uint32_t* words = Row::of(array, other) + slice * kBlockWords;
      __builtin_prefetch(words);
      queue[waiting++] = {words, other.low, answer};
    }
    template <bool kInsert>
    void answer_waiting() noexcept {
      for (std::size_t i = 0; i < waiting; ++i)
        if (Pattern(queue[i].low, *array.masks).in(queue[i].words)) *queue[i].answer = !kInsert;
      waiting = 0;
    }

    static constexpr std::size_t kWaiting = 64;
    struct Question {
      const std::uint32_t* words;
      std::uint64_t low;
      bool* answer;
    };
    const WindowBitArray array;
    const std::uint32_t newest;
    std::size_t waiting = 0;
    std::array<Question, kWaiting> queue;
  };
};

// ---- many keys -------------------------------------------------------------------------------------

// The number of blocks in flight. Measured with 9 slices on a quiet machine: 21.8 ns per key with 72
// blocks, 18.0 with 108, 17.3 with 144 and with 216. On a busy machine 216 blocks take 0.8 of the time of 144.
constexpr std::size_t kBlocksAhead = 216;
constexpr std::size_t kMostAhead = 128;  // keys
constexpr std::size_t kPart = 1024;

template <class Window, bool kInsert>
std::size_t run_window(const WindowBitArray& array, std::uint32_t newest, const Hash128* hashes,
                       std::size_t count, bool* answers) noexcept {
  typename Window::Call call(array, newest);
  const std::size_t ahead =
      std::min(count, std::clamp<std::size_t>(kBlocksAhead / array.ring_slices, 2, kMostAhead));
  for (std::size_t i = 0; i < ahead; ++i) call.prefetch(hashes[i]);
  std::array<bool, kPart> own;
  std::size_t yes = 0;
  for (std::size_t done = 0; done < count;) {
    const std::size_t part = std::min(kPart, count - done);
    bool* out = answers == nullptr ? own.data() : answers + done;
    const std::size_t asked = std::min(part, count - ahead - std::min(done, count - ahead));
    for (std::size_t i = 0; i < asked; ++i) {
      call.prefetch(hashes[done + i + ahead]);
      call.template apply<kInsert>(hashes[done + i], out + i);
    }
    for (std::size_t i = asked; i < part; ++i)
      call.template apply<kInsert>(hashes[done + i], out + i);
    call.template answer_waiting<kInsert>();
    for (std::size_t i = 0; i < part; ++i) yes += out[i];
    done += part;
  }
  return yes;
}

template <class L, class Pattern>
constexpr WindowKernel make_window_kernel(const char* name) {
  using Usual = WindowOf<L, Pattern, kUsualSlices>;
  using Any = WindowOf<L, Pattern, kAnySlices>;
  return {name,
          [](const WindowBitArray& array, std::uint32_t newest, Hash128 hash) noexcept {
            return array.ring_slices == kUsualSlices ? Usual::insert(array, newest, hash)
                                                     : Any::insert(array, newest, hash);
          },
          [](const WindowBitArray& array, Hash128 hash) noexcept {
            return array.ring_slices == kUsualSlices ? Usual::contains(array, hash)
                                                     : Any::contains(array, hash);
          },
          [](const WindowBitArray& array, std::uint32_t newest, const Hash128* hashes,
             std::size_t count, bool* answers) noexcept {
            return array.ring_slices == kUsualSlices
                       ? run_window<Usual, true>(array, newest, hashes, count, answers)
                       : run_window<Any, true>(array, newest, hashes, count, answers);
          },
          [](const WindowBitArray& array, const Hash128* hashes, std::size_t count,
             bool* answers) noexcept {
            return array.ring_slices == kUsualSlices
                       ? run_window<Usual, false>(array, 0, hashes, count, answers)
                       : run_window<Any, false>(array, 0, hashes, count, answers);
          }};
}

}  // namespace
}  // namespace bloomery::detail
