// What a kernel is: the operations of one layout on one instruction set, over borrowed bits.
//
// Law: for equal BitArray, hashes and bits, every kernel gives the same bits and answers.
#pragma once

#include <bloomery/detail/block.hpp>
#include <bloomery/detail/inline_block.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

// Where the bits are and how a key's bits are found in them. Nobody owns anything here.
// Invariant: words is 64-byte aligned and bits / 8 bytes long.
struct BitArray {
  std::uint32_t* words = nullptr;
  std::uint64_t blocks =
      0;  // blocked, blocked2: bits / 512; blocked128: bits / 128; blocked64: bits / 64
  std::uint64_t bits = 0;
  std::uint32_t hashes = 0;
  std::uint32_t block_bits = kBlockBits;  // blocked128: 128; blocked64: 64
  const WordMasks* masks = nullptr;       // block, blocked128, blocked64: of k words; pair: of k/2
};

// The place of a hash: floor(high * n / 2^64), unbiased to n / 2^64.
[[nodiscard]] inline std::uint64_t fast_range(std::uint64_t high, std::uint64_t n) noexcept {
  return static_cast<std::uint64_t>((static_cast<uint128>(high) * n) >> 64);
}

[[nodiscard]] inline std::uint32_t* block_of(const BitArray& bit_array,
                                             std::uint64_t high) noexcept {
  return bit_array.words + fast_range(high, bit_array.blocks) * (kBlockBits / 32);
}

constexpr std::uint64_t kSecondMultiplier = 0x9E6C63D0676A9A99;

// A second hash from a first, for the second block of `blocked2` and the step of `standard`.
// It mixes all 128 bits, so that equal blocks or equal patterns do not repeat in it.
[[nodiscard]] inline Hash128 second_hash(Hash128 hash) noexcept {
  const std::uint64_t mixed = (hash.high ^ (hash.low >> 32 | hash.low << 32)) * kSecondMultiplier;
  const std::uint64_t low = mixed ^ (mixed >> 32);
  return {low * kSpreadMultiplier, low};
}

// The positions of `standard`: the top bits of a linear congruential sequence that starts at
// the hash and whose increment is the second hash. Unlike double hashing (start + i * step),
// it has no step that degenerates, and no floor on the rate of small filters with many hashes.
constexpr std::uint64_t kSequenceMultiplier = 0xD1342543DE82EF95;

struct PositionSequence {
  std::uint64_t state;
  std::uint64_t increment;
  explicit PositionSequence(Hash128 hash) noexcept
      : state(hash.high), increment(second_hash(hash).high | 1) {}
  [[nodiscard]] std::uint64_t position(std::uint64_t bits) const noexcept {
    return fast_range(state, bits);
  }
  void advance() noexcept { state = state * kSequenceMultiplier + increment; }
};

// The place of a hash's narrow block (blocked128, blocked64), as the position of its first bit.
[[nodiscard]] inline std::uint64_t first_narrow_bit(const BitArray& bit_array,
                                                    std::uint64_t high) noexcept {
  return fast_range(high, bit_array.blocks) * bit_array.block_bits;
}

// Calls visit(position) for each bit of a hash in its narrow block until it returns false, and
// returns the last answer. The words are those of `blocked`, of 8 bits in blocked128 and 4 in blocked64;
// the bit in a word is the top 3 or 2 bits of the same product.
template <class Visit>
inline bool visit_narrow_bits(const BitArray& bit_array, Hash128 hash, Visit visit) noexcept {
  const unsigned word_bits = bit_array.block_bits / 16;
  const unsigned shift = word_bits == 8 ? 29 : 30;
  const std::uint64_t first = first_narrow_bit(bit_array, hash.high);
  for (std::uint32_t words = bit_array.masks->of[hash.low >> 58]; words != 0; words &= words - 1) {
    const auto word = static_cast<unsigned>(std::countr_zero(words));
    const auto half = static_cast<std::uint32_t>(hash.low >> (word % 2 * 32));
    const std::uint32_t bit = (half * kLaneMultipliers[word]) >> shift;
    if (!visit(first + std::uint64_t{word} * word_bits + bit)) return false;
  }
  return true;
}

constexpr std::size_t kSubFiltersAtOnce = 16;

// `answers`, where not null, receives one bool a key. For insert: was it certainly new;
// for contains: may it be there. The result counts the true ones. Keys of one call take
// effect in their order.
struct Kernel {
  const char* name;
  bool (*insert)(const BitArray&, Hash128) noexcept;
  bool (*contains)(const BitArray&, Hash128) noexcept;
  std::size_t (*insert_hashes)(const BitArray&, const Hash128*, std::size_t, bool*) noexcept;
  std::size_t (*contains_hashes)(const BitArray&, const Hash128*, std::size_t, bool*) noexcept;
  // Keys hashed on the way, with hash_integer(key, seed_multiplier).
  std::size_t (*insert_integers)(const BitArray&, std::uint64_t seed_multiplier,
                                 const std::uint64_t*, std::size_t, bool*) noexcept;
  std::size_t (*contains_integers)(const BitArray&, std::uint64_t seed_multiplier,
                                   const std::uint64_t*, std::size_t, bool*) noexcept;
  // Whether any of several filters of this layout, at most kSubFiltersAtOnce, contains a key.
  bool (*contains_in_any)(const BitArray* const*, std::size_t sub_filters, Hash128) noexcept;
  std::size_t (*contains_in_any_hashes)(const BitArray* const*, std::size_t sub_filters,
                                        const Hash128*, std::size_t, bool*) noexcept;
  std::size_t (*contains_in_any_integers)(const BitArray* const*, std::size_t sub_filters,
                                          std::uint64_t seed_multiplier, const std::uint64_t*,
                                          std::size_t, bool*) noexcept;
  std::uint64_t (*count_ones)(const std::uint32_t*, std::uint64_t bits) noexcept;
  // The same by atomic words, for bits that other threads turn on meanwhile; null in that itself.
  const Kernel* shared;
};

// The best kernel of this CPU, or the one that BLOOMERY_KERNEL names ("scalar", "avx2",
// "avx512", "neon"). Error{invalid_argument}: a name that this CPU or build does not have.
const Kernel& kernel_for(Layout layout);
// Every kernel of a layout that this CPU can run, scalar first, the best last.
std::span<const Kernel* const> kernels_of(Layout layout) noexcept;

// What a single call may do instead of calling through the table of kernels.
enum class InlinePath : std::uint8_t {
  none,      // another layout than block, or BLOOMERY_KERNEL is set
  compiled,  // use the instructions that its program is compiled for
  avx512,    // use those of AVX-512 as well, which this CPU has
};
InlinePath inline_path_of(Layout layout) noexcept;

// The block primitives that this translation unit is compiled for, if any.
#if defined(__AVX512F__) && defined(__AVX512BW__)
using NativeBlock = Avx512Block;
#define BLOOMERY_NATIVE_BLOCK "avx512"
#elif defined(__AVX2__)
using NativeBlock = Avx2Block;
#define BLOOMERY_NATIVE_BLOCK "avx2"
#elif defined(__ARM_NEON) && defined(__aarch64__)
using NativeBlock = NeonBlock;
#define BLOOMERY_NATIVE_BLOCK "neon"
#endif

// Those that single calls inline, if any, and what they need.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(BLOOMERY_INLINE_BLOCK)
using SingleBlock = Avx512SingleBlock;
#elif defined(BLOOMERY_NATIVE_BLOCK)
using SingleBlock = NativeBlock;
#elif defined(BLOOMERY_INLINE_BLOCK)
using SingleBlock = InlineBlock;
#endif
#if defined(BLOOMERY_NATIVE_BLOCK)
#define BLOOMERY_SINGLE_BLOCK
inline constexpr InlinePath kSingleNeeds = InlinePath::compiled;
#elif defined(BLOOMERY_INLINE_BLOCK)
#define BLOOMERY_SINGLE_BLOCK
inline constexpr InlinePath kSingleNeeds = InlinePath::avx512;
#endif

}  // namespace bloomery::detail
