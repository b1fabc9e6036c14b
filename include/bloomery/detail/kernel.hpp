// What a kernel is: the operations of one layout on one instruction set, over borrowed bits.
//
// Law: for equal Shape, hashes and bits, every kernel gives the same bits and answers.
#pragma once

#include <bloomery/detail/inline_line.hpp>
#include <bloomery/detail/line.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

// Where the bits are and how a key's bits are found in them. Nobody owns anything here.
// Invariant: words is 64-byte aligned and bits / 8 bytes long.
struct Shape {
  std::uint32_t* words = nullptr;
  std::uint64_t lines = 0;  // line, pair: bits / 512; line128: bits / 128; line64: bits / 64
  std::uint64_t bits = 0;
  std::uint32_t hashes = 0;
  std::uint32_t line_bits = kLineBits;  // line128: 128; line64: 64
  const WordMasks* masks = nullptr;     // line, line128, line64: of k words; pair: of k/2
};

// The place of a hash: floor(high * n / 2^64), unbiased to n / 2^64.
[[nodiscard]] inline std::uint64_t scale(std::uint64_t high, std::uint64_t n) noexcept {
  return static_cast<std::uint64_t>((static_cast<uint128>(high) * n) >> 64);
}

[[nodiscard]] inline std::uint32_t* line_of(const Shape& shape, std::uint64_t high) noexcept {
  return shape.words + scale(high, shape.lines) * (kLineBits / 32);
}

constexpr std::uint64_t kSecondMultiplier = 0x9E6C63D0676A9A99;

// A second hash from a first, for the second line of `pair` and the step of `classic`.
// It mixes all 128 bits, so that equal lines or equal patterns do not repeat in it.
[[nodiscard]] inline Hash128 second_hash(Hash128 hash) noexcept {
  const std::uint64_t mixed = (hash.high ^ (hash.low >> 32 | hash.low << 32)) * kSecondMultiplier;
  const std::uint64_t low = mixed ^ (mixed >> 32);
  return {low * kSpreadMultiplier, low};
}

// The positions of `classic`: the top bits of a linear congruential sequence that starts at
// the hash and whose increment is the second hash. Unlike double hashing (start + i * step),
// it has no step that degenerates, and no floor on the rate of small filters with many hashes.
constexpr std::uint64_t kSequenceMultiplier = 0xD1342543DE82EF95;

struct PositionSequence {
  std::uint64_t state;
  std::uint64_t increment;
  explicit PositionSequence(Hash128 hash) noexcept
      : state(hash.high), increment(second_hash(hash).high | 1) {}
  [[nodiscard]] std::uint64_t position(std::uint64_t bits) const noexcept {
    return scale(state, bits);
  }
  void advance() noexcept { state = state * kSequenceMultiplier + increment; }
};

// The place of a hash's narrow line (line128, line64), as the position of its first bit.
[[nodiscard]] inline std::uint64_t first_narrow_bit(const Shape& shape,
                                                    std::uint64_t high) noexcept {
  return scale(high, shape.lines) * shape.line_bits;
}

// Calls visit(position) for each bit of a hash in its narrow line until it returns false, and
// returns the last answer. The words are those of `line`, of 8 bits in line128 and 4 in line64;
// the bit in a word is the top 3 or 2 bits of the same product.
template <class Visit>
inline bool visit_narrow_bits(const Shape& shape, Hash128 hash, Visit visit) noexcept {
  const unsigned word_bits = shape.line_bits / 16;
  const unsigned shift = word_bits == 8 ? 29 : 30;
  const std::uint64_t first = first_narrow_bit(shape, hash.high);
  for (std::uint32_t words = shape.masks->of[hash.low >> 58]; words != 0; words &= words - 1) {
    const auto word = static_cast<unsigned>(std::countr_zero(words));
    const auto half = static_cast<std::uint32_t>(hash.low >> (word % 2 * 32));
    const std::uint32_t bit = (half * kLaneMultipliers[word]) >> shift;
    if (!visit(first + std::uint64_t{word} * word_bits + bit)) return false;
  }
  return true;
}

constexpr std::size_t kLayersAtOnce = 16;

// `answers`, where not null, receives one bool a key. For insert: was it certainly new;
// for contains: may it be there. The result counts the true ones. Keys of one call take
// effect in their order.
struct Kernel {
  const char* name;
  bool (*insert)(const Shape&, Hash128) noexcept;
  bool (*contains)(const Shape&, Hash128) noexcept;
  std::size_t (*insert_hashes)(const Shape&, const Hash128*, std::size_t, bool*) noexcept;
  std::size_t (*contains_hashes)(const Shape&, const Hash128*, std::size_t, bool*) noexcept;
  // Keys hashed on the way, with hash_integer(key, seed_multiplier).
  std::size_t (*insert_integers)(const Shape&, std::uint64_t seed_multiplier, const std::uint64_t*,
                                 std::size_t, bool*) noexcept;
  std::size_t (*contains_integers)(const Shape&, std::uint64_t seed_multiplier,
                                   const std::uint64_t*, std::size_t, bool*) noexcept;
  // Whether any of several filters of this layout, at most kLayersAtOnce, contains a key.
  bool (*any_contains)(const Shape* const*, std::size_t layers, Hash128) noexcept;
  std::size_t (*any_contains_hashes)(const Shape* const*, std::size_t layers, const Hash128*,
                                     std::size_t, bool*) noexcept;
  std::size_t (*any_contains_integers)(const Shape* const*, std::size_t layers,
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
enum class Bypass : std::uint8_t {
  none,      // another layout than line, or BLOOMERY_KERNEL is set
  compiled,  // use the instructions that its program is compiled for
  avx512,    // use those of AVX-512 as well, which this CPU has
};
Bypass bypass_of(Layout layout) noexcept;

// The line primitives that this translation unit is compiled for, if any.
#if defined(__AVX512F__) && defined(__AVX512BW__)
using NativeLine = Avx512Line;
#define BLOOMERY_NATIVE_LINE "avx512"
#elif defined(__AVX2__)
using NativeLine = Avx2Line;
#define BLOOMERY_NATIVE_LINE "avx2"
#elif defined(__ARM_NEON) && defined(__aarch64__)
using NativeLine = NeonLine;
#define BLOOMERY_NATIVE_LINE "neon"
#endif

// Those that single calls inline, if any, and what they need.
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(BLOOMERY_INLINE_LINE)
using SingleLine = Avx512SingleLine;
#elif defined(BLOOMERY_NATIVE_LINE)
using SingleLine = NativeLine;
#elif defined(BLOOMERY_INLINE_LINE)
using SingleLine = InlineLine;
#endif
#if defined(BLOOMERY_NATIVE_LINE)
#define BLOOMERY_SINGLE_LINE
inline constexpr Bypass kSingleNeeds = Bypass::compiled;
#elif defined(BLOOMERY_INLINE_LINE)
#define BLOOMERY_SINGLE_LINE
inline constexpr Bypass kSingleNeeds = Bypass::avx512;
#endif

}  // namespace bloomery::detail
