// Kernels of counting filters: the counters that a key has in a block, and the operations on them.
//
// A block is like one of layout `blocked` (layout.hpp): sixteen 32-bit words, little-endian; a key uses k
// of them. Each word is 8 counters of 4 bits or 4 counters of 8 bits, the lowest bits first. The top 3 or
// 2 bits of a product select the key's counter in a word; the top 5 bits of the same product select the
// bit in `blocked`.
//
// A counter that reaches its largest value is saturated: it has lost count, so nothing changes it any
// more. There are four operations:
//
//   increment  increments the key's counters that are not saturated; true if any was zero
//   decrement  if none is zero, decrements those that are not saturated; otherwise changes nothing
//   test       true if all of them are above zero
//   minimum    the minimum of them
//
// If a key has counters in two blocks, a removal decrements the counters in the first block, then those
// in the second. If the second block refuses, the counters in the first are incremented again, which
// restores them, because saturated counters did not change. Both blocks may be the same block, and a
// counter may be in both halves: it then counts twice for each insert. The second half sees the value
// that the first half left, so that a counter of one is refused.
//
// Included by the file of each instruction set, as ring.hpp is.
#pragma once

#include "filter/kernels/ring.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace bloomery::detail {
namespace {

template <unsigned kCounterBits>
struct CounterWidth {
  static_assert(kCounterBits == 4 || kCounterBits == 8);
  static constexpr std::uint32_t kFull = (1U << kCounterBits) - 1;
  // A mask for the top 5 bits of a product. The masked bits are a multiple of the counter's width: the
  // position at which the counter starts.
  static constexpr std::uint32_t kStarts = 32 - kCounterBits;
};

// The reference implementation.
template <unsigned kCounterBits>
struct ScalarCounters {
  static constexpr std::uint32_t kFull = CounterWidth<kCounterBits>::kFull;

  // Calls visit(word, start) for each of a key's counters until it returns false.
  template <class Visit>
  static bool each(std::uint64_t low, const WordMasks& masks, Visit visit) noexcept {
    return each_word(low, masks, [&](unsigned word, std::uint32_t product) BLOOMERY_INLINE {
      return visit(word, (product >> 27) & CounterWidth<kCounterBits>::kStarts);
    });
  }
  static std::uint32_t counter(const std::uint32_t* block, unsigned word,
                               std::uint32_t start) noexcept {
    return load_word(block + word) >> start & kFull;
  }
  static bool test(const std::uint32_t* block, std::uint64_t low, const WordMasks& masks) noexcept {
    return each(low, masks, [&](unsigned word, std::uint32_t start) BLOOMERY_INLINE {
      return counter(block, word, start) != 0;
    });
  }
  static bool increment(std::uint32_t* block, std::uint64_t low, const WordMasks& masks) noexcept {
    bool fresh = false;
    each(low, masks, [&](unsigned word, std::uint32_t start) BLOOMERY_INLINE {
      const std::uint32_t old = counter(block, word, start);
      fresh |= old == 0;
      const std::uint32_t one = old != kFull;
      store_word(block + word, load_word(block + word) + (one << start));
      return true;
    });
    return fresh;
  }
  static bool decrement(std::uint32_t* block, std::uint64_t low, const WordMasks& masks) noexcept {
    if (!test(block, low, masks)) return false;
    return each(low, masks, [&](unsigned word, std::uint32_t start) BLOOMERY_INLINE {
      const std::uint32_t one = counter(block, word, start) != kFull;
      store_word(block + word, load_word(block + word) - (one << start));
      return true;
    });
  }
  static std::uint32_t minimum(const std::uint32_t* block, std::uint64_t low,
                               const WordMasks& masks) noexcept {
    std::uint32_t found = kFull;
    each(low, masks, [&](unsigned word, std::uint32_t start) BLOOMERY_INLINE {
      found = std::min(found, counter(block, word, start));
      return true;
    });
    return found;
  }
};

// The same operations on the vectors of an instruction set.
template <class Isa, unsigned kCounterBits>
struct VectorCounters {
  static constexpr std::uint32_t kFull = CounterWidth<kCounterBits>::kFull;

  // The block, and the key's counters in it.
  struct Counters {
    [[gnu::always_inline]] Counters(const std::uint32_t* block, std::uint64_t low,
                                    const WordMasks& masks) noexcept
        : words(Isa::chosen(low, masks)),
          old(Isa::load(block)),
          start(Isa::mask(Isa::shifts(low), CounterWidth<kCounterBits>::kStarts)),
          unit(Isa::at(words, 1, start)),
          counter(Isa::at(words, kFull, start)) {}
    [[nodiscard, gnu::always_inline]] bool any_zero() const noexcept {
      return Isa::any(Isa::zero(words, counter, old));
    }
    typename Isa::Chosen words;
    typename Isa::Words old, start, unit, counter;
  };
  [[gnu::always_inline]] static bool test(const std::uint32_t* block, std::uint64_t low,
                                          const WordMasks& masks) noexcept {
    return !Counters(block, low, masks).any_zero();
  }
  [[gnu::always_inline]] static bool increment(std::uint32_t* block, std::uint64_t low,
                                               const WordMasks& masks) noexcept {
    const Counters of(block, low, masks);
    Isa::store(block, Isa::up(of.old, of.unit, of.counter));
    return of.any_zero();
  }
  // If it refuses, it stores the values that it loaded, because a branch would be mispredicted if some
  // of the keys are absent.
  [[gnu::always_inline]] static bool decrement(std::uint32_t* block, std::uint64_t low,
                                               const WordMasks& masks) noexcept {
    const Counters of(block, low, masks);
    const bool there = !of.any_zero();
    Isa::store(block, Isa::down_if(there, of.old, of.unit, of.counter));
    return there;
  }
  [[gnu::always_inline]] static std::uint32_t minimum(const std::uint32_t* block, std::uint64_t low,
                                                      const WordMasks& masks) noexcept {
    const Counters of(block, low, masks);
    return Isa::minimum(of.words, of.old, of.start, kFull);
  }
};

// ---- many keys -------------------------------------------------------------------------------------

// A counting filter has a block of 64 bytes for each narrow block of the plain filter with the same plan,
// so the blocks of a key are found as in the narrow layouts.
template <unsigned kBlocks>
using CounterBlocks = WordsOfBlocks<kBlockBits, kBlocks>;

template <class Set, class Counters, unsigned kBlocks>
struct CountedKeys : LocatedBlocks<CounterBlocks<kBlocks>, Set> {
  using Batch = typename LocatedBlocks<CounterBlocks<kBlocks>, Set>::Batch;

  // `at(j)` is block j of a key and what chooses its counters.
  struct Place {
    std::uint32_t* block;
    std::uint64_t low;
  };
  template <class At>
  [[gnu::always_inline]] static bool increment(const WordMasks& masks, At at) noexcept {
    bool fresh = false;
    for (unsigned j = 0; j < kBlocks; ++j)
      fresh |= Counters::increment(at(j).block, at(j).low, masks);
    return fresh;
  }
  template <class At>
  [[gnu::always_inline]] static bool decrement(const WordMasks& masks, At at) noexcept {
    static_assert(kBlocks <= 2);
    if constexpr (kBlocks == 1) return Counters::decrement(at(0).block, at(0).low, masks);
    if (!Counters::decrement(at(0).block, at(0).low, masks)) return false;
    if (Counters::decrement(at(1).block, at(1).low, masks)) return true;
    (void)Counters::increment(at(0).block, at(0).low, masks);
    return false;
  }
  template <class At>
  [[gnu::always_inline]] static bool test(const WordMasks& masks, At at) noexcept {
    bool found = true;
    for (unsigned j = 0; j < kBlocks; ++j) found &= Counters::test(at(j).block, at(j).low, masks);
    return found;
  }
  template <class At>
  [[gnu::always_inline]] static std::uint32_t minimum(const WordMasks& masks, At at) noexcept {
    std::uint32_t found = Counters::kFull;
    for (unsigned j = 0; j < kBlocks; ++j)
      found = std::min(found, Counters::minimum(at(j).block, at(j).low, masks));
    return found;
  }

  // The blocks of a key in a batch, or of the key of a single call.
  [[gnu::always_inline]] static auto in(const Batch& batch, std::size_t i) noexcept {
    return [&batch, i](unsigned j) BLOOMERY_INLINE {
      return Place{batch.block[j][i], batch.low[j][i]};
    };
  }
  [[gnu::always_inline]] static auto in(const BitArray& array, Hash128 hash) noexcept {
    const auto blocks = CounterBlocks<kBlocks>::blocks(array, hash);
    return [&array, blocks](unsigned j) BLOOMERY_INLINE {
      return Place{words_of(array, blocks[j]), blocks[j].low};
    };
  }

  [[gnu::always_inline]] static bool insert(const BitArray& array, const Batch& batch,
                                            std::size_t i) noexcept {
    return increment(*array.masks, in(batch, i));
  }
  [[gnu::always_inline]] static bool remove(const BitArray& array, const Batch& batch,
                                            std::size_t i) noexcept {
    return decrement(*array.masks, in(batch, i));
  }
  [[gnu::always_inline]] static bool contains(const BitArray& array, const Batch& batch,
                                              std::size_t i) noexcept {
    return test(*array.masks, in(batch, i));
  }
};

// ---- all counters ----------------------------------------------------------------------------------

// The lowest bit of each counter.
template <unsigned kCounterBits>
constexpr std::uint64_t kUnits = kCounterBits == 4 ? 0x1111111111111111 : 0x0101010101010101;

template <unsigned kCounterBits>
std::uint64_t used_counters(std::uint64_t word) noexcept {
  if constexpr (kCounterBits == 8) word |= word >> 4;
  word |= word >> 2;
  word |= word >> 1;
  return word & kUnits<kCounterBits>;
}
template <unsigned kCounterBits>
std::uint64_t full_counters(std::uint64_t word) noexcept {
  if constexpr (kCounterBits == 8) word &= word >> 4;
  word &= word >> 2;
  word &= word >> 1;
  return word & kUnits<kCounterBits>;
}

// The number of bits of mark(word), summed over all words of 64 bits; mark gives one bit for each
// counter of the word that is to be counted. Equal bytes give equal sums on any byte order.
template <std::uint64_t (*mark)(std::uint64_t) noexcept>
std::uint64_t count_counters(const BitArray& array) noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < array.blocks * (kBlockBits / 32); i += 2) {
    std::uint64_t two;
    std::memcpy(&two, array.words + i, sizeof two);
    count += static_cast<std::uint64_t>(std::popcount(mark(two)));
  }
  return count;
}

// ---- the kernel ------------------------------------------------------------------------------------

// L is the layout of the plan; a counter has as many bits as there are blocks of L in a block of 512.
template <class Set, class L>
constexpr CountingKernel make_counting_kernel(const char* name) {
  constexpr unsigned kCounterBits = kBlockBits / L::kBlockBits;
  using Keys = CountedKeys<Set, typename Set::template Counters<kCounterBits>, L::kKeyBlocks>;
  return {
      name,
      [](const BitArray& array, Hash128 hash) noexcept {
        return Keys::increment(*array.masks, Keys::in(array, hash));
      },
      [](const BitArray& array, Hash128 hash) noexcept {
        return Keys::decrement(*array.masks, Keys::in(array, hash));
      },
      [](const BitArray& array, Hash128 hash) noexcept {
        return Keys::test(*array.masks, Keys::in(array, hash));
      },
      [](const BitArray& array, Hash128 hash) noexcept {
        return Keys::minimum(*array.masks, Keys::in(array, hash));
      },
      kOfHashes<Keys, Insert>,
      kOfHashes<Keys, Remove>,
      kOfHashes<Keys, Contains>,
      kOfIntegers<Keys, Insert>,
      kOfIntegers<Keys, Remove>,
      kOfIntegers<Keys, Contains>,
      count_counters<used_counters<kCounterBits>>,
      count_counters<full_counters<kCounterBits>>,
  };
}

}  // namespace
}  // namespace bloomery::detail
