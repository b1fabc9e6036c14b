// Where a key's bits are, for each layout. No other file decides this.
//
// Bits are in blocks of 512 (64 bytes, a cache line). A key has bits in one block or in several. Each
// layout is a struct that says which blocks and which bits:
//
//   blocks_per_key(k)               in how many blocks a key with k hashes has bits
//   each_block(array, hash, visit)  visit(KeyBlock) for each of them, until it returns false; a block
//                                   may come twice
//   each_bit(array, block, visit)   visit(bit) for each of the key's bits in that block, from 0 to 511,
//                                   until it returns false
//   each_position(array, hash, visit)  visit(bit) for each of the key's bits in the whole array, until it
//                                   returns false
//   masks(k)                        the table that each_bit looks words up in, if any
//   kBlockBits                      the size of the block, chosen by a hash, that has the bits; 0: the array
//   kBatchesAhead                   how many batches of keys a kernel keeps in flight (ring.hpp)
//
// visit_layout() finds the struct of a Layout. The kernels, the writers of files, the Redis client and
// the module all use it. Invariant: the bits of a key never change (tests/filter/golden_bits_test.cpp),
// and the kernels agree with them (kernels_test.cpp).
//
// Sources: Bloom 1970 (standard); Putze, Sanders and Singler 2007 (blocked; blocked2 is their
// multi-blocking); Lemire 2019 (fast_range); Kirsch and Mitzenmacher 2006 (a second hash from the
// first, for standard).
#pragma once

#include <bloomery/detail/bit_array.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

// For lambdas in hot loops: GCC does not inline some of them, and the loop then takes up to a fifth more time.
#define BLOOMERY_INLINE __attribute__((always_inline))

namespace bloomery::detail {

// ---- little-endian words, on any CPU ----------------------------------------------------------

[[nodiscard]] inline std::uint32_t load_word(const std::uint32_t* word) noexcept {
  std::uint32_t value;
  std::memcpy(&value, word, sizeof value);
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap32(value);
  return value;
}
inline void store_word(std::uint32_t* word, std::uint32_t value) noexcept {
  if constexpr (std::endian::native == std::endian::big) value = __builtin_bswap32(value);
  std::memcpy(word, &value, sizeof value);
}

// ---- from a hash to a block -------------------------------------------------------------------

// floor(high * n / 2^64): a number below n, unbiased to n / 2^64.
[[nodiscard]] inline std::uint64_t fast_range(std::uint64_t high, std::uint64_t n) noexcept {
  return static_cast<std::uint64_t>((static_cast<uint128>(high) * n) >> 64);
}

constexpr std::uint64_t kSecondMultiplier = 0x9E6C63D0676A9A99;

// A second hash from a first, for the second block of `blocked2` and the step of `standard`.
// It mixes all 128 bits, so that equal blocks or equal patterns do not repeat in it.
[[nodiscard]] inline Hash128 second_hash(Hash128 hash) noexcept {
  const std::uint64_t mixed = (hash.high ^ (hash.low >> 32 | hash.low << 32)) * kSecondMultiplier;
  const std::uint64_t low = mixed ^ (mixed >> 32);
  return {low * kSpreadMultiplier, low};
}

// One block in which a key has bits.
struct KeyBlock {
  std::uint64_t block;  // of 512 bits, counted from 0
  std::uint64_t low;    // chooses the bits; unused by `standard`
  std::uint32_t
      first;  // the bit of the block at which the layout's own block, or the one bit, begins
};

[[nodiscard]] inline std::uint32_t* words_of(const BitArray& array, const KeyBlock& at) noexcept {
  return array.words + at.block * (kBlockBits / 32);
}

// ---- one bit in each of k words of a block ----------------------------------------------------

// Unstructured odd numbers: the high halves of SplitMix64 from seed 0, with the lowest bit set.
alignas(64) inline constexpr std::uint32_t kLaneMultipliers[16] = {
    0xE220A839, 0x6E789E6B, 0x06C45D19, 0xF88BB8A9, 0x1B39896B, 0x53CB9F0D, 0x2C829ABF, 0xC584133B,
    0x3EE57891, 0xF3B8488D, 0x657EECDD, 0xC2D326E1, 0x8621A03F, 0x8E1F7555, 0xB54E0F17, 0x84BB3F97};

// Calls visit(word, product) for each word of a block in which a key has a bit, until it returns
// false, and returns its last answer. The word's top bits of `product` say which bit:
//
//   words    start, start + stride, ... mod 16: bits 58..61 of low, and 2 * bits 62..63 + 1
//   product  half * kLaneMultipliers[word] mod 2^32; half is the lower half of low for even words and
//            the upper one for odd words
//
// If all words used the same half, a pattern would have 38 bits (32 at k = 16). This limits the
// false-positive rate: at a stated 1e-8 it was 1.23 times the stated one; with both halves it is 0.89 times.
template <class Visit>
[[gnu::always_inline]] inline bool each_word(std::uint64_t low, const WordMasks& masks,
                                             Visit visit) {
  for (std::uint32_t words = masks.of[low >> 58]; words != 0; words &= words - 1) {
    const auto word = static_cast<unsigned>(std::countr_zero(words));
    const auto half = static_cast<std::uint32_t>(low >> (word % 2 * 32));
    if (!visit(word, half * kLaneMultipliers[word])) return false;
  }
  return true;
}

// A layout in which a key has a bit in k / kBlocks words of each of kBlocks blocks of kBits bits. A block
// has sixteen words of kBits / 16 bits; the top bits of each_word's product, as many as the word needs,
// choose the bit in it.
template <unsigned kBits, unsigned kBlocks>
struct WordsOfBlocks {
  static constexpr unsigned kBlockBits = kBits;
  static constexpr unsigned kKeyBlocks = kBlocks;
  static constexpr unsigned kBatchesAhead = kBlocks == 1 ? 8 : 5;
  static constexpr unsigned kWordBits = kBits / 16;
  static constexpr unsigned kShift = 32 - std::countr_zero(kWordBits);  // leaves the bit in a word

  static constexpr std::uint32_t blocks_per_key(std::uint32_t) noexcept { return kBlocks; }
  static const WordMasks* masks(std::uint32_t hashes) noexcept {
    return &word_masks(hashes / kBlocks);
  }
  // Block kIndex of a key.
  template <unsigned kIndex>
  [[gnu::always_inline]] static KeyBlock block(const BitArray& array, Hash128 hash) noexcept {
    static_assert(kIndex < 2 && kIndex < kBlocks);
    if constexpr (kIndex == 1) hash = second_hash(hash);
    const std::uint64_t block = fast_range(hash.high, array.blocks);
    constexpr std::uint64_t kParts = bloomery::kBlockBits / kBits;  // blocks of kBits in one of 512
    return {block / kParts, hash.low, static_cast<std::uint32_t>(block % kParts) * kBits};
  }
  [[gnu::always_inline]] static std::array<KeyBlock, kBlocks> blocks(const BitArray& array,
                                                                     Hash128 hash) noexcept {
    if constexpr (kBlocks == 1)
      return {block<0>(array, hash)};
    else
      return {block<0>(array, hash), block<1>(array, hash)};
  }
  template <class Visit>
  [[gnu::always_inline]] static bool each_block(const BitArray& array, Hash128 hash, Visit visit) {
    for (const KeyBlock& at : blocks(array, hash))
      if (!visit(at)) return false;
    return true;
  }
  template <class Visit>
  [[gnu::always_inline]] static bool each_bit(const BitArray& array, const KeyBlock& block,
                                              Visit visit) {
    const auto visit_word = [&](unsigned word, std::uint32_t product) BLOOMERY_INLINE {
      return visit(block.first + word * kWordBits + (product >> kShift));
    };
    return each_word(block.low, *array.masks, visit_word);
  }
  template <class Visit>
  [[gnu::always_inline]] static bool each_position(const BitArray& array, Hash128 hash,
                                                   Visit visit) {
    for (const KeyBlock& at : blocks(array, hash)) {
      const auto visit_bit = [&](std::uint32_t bit) BLOOMERY_INLINE {
        return visit(at.block * bloomery::kBlockBits + bit);
      };
      if (!each_bit(array, at, visit_bit)) return false;
    }
    return true;
  }
};

// ---- k bits anywhere --------------------------------------------------------------------------

// Positions are the top bits of a linear congruential sequence that starts at the hash and whose
// increment is the second hash. Unlike double hashing (start + i * step), it has no degenerate step, and
// does not limit the rate of small filters with many hashes.
struct BitsAnywhere {
  static constexpr unsigned kBlockBits = 0;
  static constexpr unsigned kBatchesAhead = 2;  // times 16 keys, times k blocks each
  static constexpr std::uint64_t kMultiplier = 0xD1342543DE82EF95;

  static constexpr std::uint32_t blocks_per_key(std::uint32_t hashes) noexcept { return hashes; }
  static const WordMasks* masks(std::uint32_t) noexcept { return nullptr; }
  template <class Visit>
  [[gnu::always_inline]] static bool each_position(const BitArray& array, Hash128 hash,
                                                   Visit visit) {
    std::uint64_t state = hash.high;
    const std::uint64_t increment = second_hash(hash).high | 1;
    for (std::uint32_t i = 0; i < array.hashes; ++i, state = state * kMultiplier + increment)
      if (!visit(fast_range(state, array.bits))) return false;
    return true;
  }
  template <class Visit>
  [[gnu::always_inline]] static bool each_block(const BitArray& array, Hash128 hash, Visit visit) {
    return each_position(array, hash, [&](std::uint64_t position) BLOOMERY_INLINE {
      return visit(KeyBlock{position / bloomery::kBlockBits, 0,
                            static_cast<std::uint32_t>(position % bloomery::kBlockBits)});
    });
  }
  template <class Visit>
  [[gnu::always_inline]] static bool each_bit(const BitArray&, const KeyBlock& block, Visit visit) {
    return visit(block.first);
  }
};

// ---- the layouts --------------------------------------------------------------------------------

template <Layout kLayout>
struct LayoutOf;
template <>
struct LayoutOf<Layout::blocked> : WordsOfBlocks<512, 1> {};
template <>
struct LayoutOf<Layout::blocked2> : WordsOfBlocks<512, 2> {};
template <>
struct LayoutOf<Layout::standard> : BitsAnywhere {};
template <>
struct LayoutOf<Layout::blocked128> : WordsOfBlocks<128, 1> {};
template <>
struct LayoutOf<Layout::blocked64> : WordsOfBlocks<64, 1> {};
template <>
struct LayoutOf<Layout::blocked2x128> : WordsOfBlocks<128, 2> {};
template <>
struct LayoutOf<Layout::blocked2x64> : WordsOfBlocks<64, 2> {};

// The numbers of the layouts are 1, 2, ... in this order, so that a table indexed by layout has an
// entry for each (tests/filter/layout_test.cpp).
inline constexpr std::array kAllLayouts = {
    Layout::blocked,   Layout::blocked2,     Layout::standard,   Layout::blocked128,
    Layout::blocked64, Layout::blocked2x128, Layout::blocked2x64};

// Calls visit with the LayoutOf of a valid plan's layout.
template <class Visit>
[[gnu::always_inline]] inline decltype(auto) visit_layout(Layout layout, Visit visit) {
  switch (layout) {
    case Layout::blocked:
      return visit(LayoutOf<Layout::blocked>{});
    case Layout::blocked2:
      return visit(LayoutOf<Layout::blocked2>{});
    case Layout::standard:
      return visit(LayoutOf<Layout::standard>{});
    case Layout::blocked128:
      return visit(LayoutOf<Layout::blocked128>{});
    case Layout::blocked64:
      return visit(LayoutOf<Layout::blocked64>{});
    case Layout::blocked2x128:
      return visit(LayoutOf<Layout::blocked2x128>{});
    case Layout::blocked2x64:
      return visit(LayoutOf<Layout::blocked2x64>{});
  }
  std::abort();
}

// Whether a hash selects the blocks that have the bits of its key; otherwise they can be anywhere in the array.
[[nodiscard]] inline bool has_blocks(Layout layout) noexcept {
  return visit_layout(layout, [](auto of) { return of.kBlockBits != 0; });
}

// ---- without a kernel -------------------------------------------------------------------------

// The bit array of a valid plan.
[[nodiscard]] inline BitArray bit_array_of(const Plan& plan, std::uint32_t* words) noexcept {
  return visit_layout(plan.layout, [&](auto layout) -> BitArray {
    const std::uint64_t block_bits = layout.kBlockBits == 0 ? kBlockBits : layout.kBlockBits;
    return {words, plan.bits / block_bits, plan.bits, plan.hashes, layout.masks(plan.hashes)};
  });
}

[[nodiscard]] inline std::uint32_t blocks_per_key(const Plan& plan) noexcept {
  return visit_layout(plan.layout, [&](auto layout) { return layout.blocks_per_key(plan.hashes); });
}

// Calls visit(block) for each block of 512 bits in which a key has bits. A block may come twice.
template <class Visit>
void for_each_block(Layout layout, const BitArray& array, Hash128 hash, Visit visit) {
  visit_layout(layout, [&](auto of) {
    of.each_block(array, hash, [&](const KeyBlock& at) {
      visit(at.block);
      return true;
    });
  });
}

// Gives an array the state of a filter that was moved from: every key finds all of its bits in one block
// of ones, which all moved-from filters share. Inserts and removals store the values that the block
// already has (its counters are saturated).
void detach(BitArray& array) noexcept;

// The layout of whole blocks that selects the 64-byte blocks of a key in a counting filter.
[[nodiscard]] inline Layout counter_blocks(Layout counting) noexcept {
  return visit_layout(counting, [](auto of) {
    return of.blocks_per_key(2) == 1 ? Layout::blocked : Layout::blocked2;
  });
}

// Prefetches the block of a key, or the first two if it has several.
[[gnu::always_inline]] inline void prefetch_key(Layout layout, const BitArray& array,
                                                Hash128 hash) noexcept {
  visit_layout(layout, [&](auto of) {
    unsigned asked = 0;
    of.each_block(array, hash, [&](const KeyBlock& block) {
      prefetch(words_of(array, block));
      return ++asked < 2;
    });
  });
}

// test_block: whether all of a key's bits in a block are set. set_block: sets them; true if any was clear.
template <class L>
[[nodiscard]] bool test_block(L, const BitArray& array, const KeyBlock& at,
                              const std::uint32_t* words) noexcept {
  return L::each_bit(array, at, [&](std::uint32_t bit) {
    return (load_word(words + bit / 32) >> (bit % 32) & 1) != 0;
  });
}
template <class L>
bool set_block(L, const BitArray& array, const KeyBlock& at, std::uint32_t* words) noexcept {
  std::uint32_t missing = 0;
  L::each_bit(array, at, [&](std::uint32_t bit) {
    const std::uint32_t old = load_word(words + bit / 32);
    const std::uint32_t wanted = std::uint32_t{1} << (bit % 32);
    missing |= wanted & ~old;
    store_word(words + bit / 32, old | wanted);
    return true;
  });
  return missing != 0;
}

// The bits of a key as numbers, for arrays outside this process's memory: bit p is bit p % 8, counted
// from the least significant, of byte p / 8 of a filter's bytes.
class Positions {
 public:
  explicit Positions(const Plan& plan) noexcept
      : layout_(plan.layout), array_(bit_array_of(plan, nullptr)) {}

  // Writes as many positions as the plan has hashes. Some may be equal in `standard` and `blocked2`.
  void operator()(Hash128 hash, std::span<std::uint64_t> out) const noexcept {
    visit_layout(layout_, [&](auto of) {
      std::size_t written = 0;
      of.each_position(array_, hash, [&](std::uint64_t position) {
        out[written++] = position;
        return true;
      });
    });
  }

 private:
  Layout layout_;
  BitArray array_;
};

}  // namespace bloomery::detail
