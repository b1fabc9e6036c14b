// A kernel: the operations of one kind of filter and one layout with one instruction set, over memory
// that it does not own.
//
// Law: for equal arrays, hashes and memory, every kernel gives the same memory and the same answers.
//
// If `answers` is not null it receives one bool per key; the result counts the true ones. True means: the
// key was certainly new (insert), it may be there (look-up), it was there and its counters were
// decremented (removal). The keys of one call take effect in their order.
#pragma once

#include <bloomery/detail/block.hpp>
#include <bloomery/detail/fuse.hpp>
#include <bloomery/detail/inline_block.hpp>
#include <bloomery/detail/layout.hpp>
#include <bloomery/detail/relaxed_block.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

using OfOne = bool (*)(const BitArray&, Hash128) noexcept;
using OfHashes = std::size_t (*)(const BitArray&, const Hash128*, std::size_t, bool*) noexcept;
// Integer keys, which the kernel hashes with hash_integer(key, seed_multiplier).
using OfIntegers = std::size_t (*)(const BitArray&, std::uint64_t seed_multiplier,
                                   const std::uint64_t*, std::size_t, bool*) noexcept;

constexpr std::size_t kSubFiltersAtOnce = 16;

// The operations on the bits of one plain filter.
struct BitKernel {
  const char* name;  // of the instruction set
  OfOne insert, contains;
  OfHashes insert_hashes, contains_hashes;
  OfIntegers insert_integers, contains_integers;
};

// The operations on plain filters.
struct Kernel : BitKernel {
  // Whether any of several filters of this layout, at most kSubFiltersAtOnce, contains a key.
  bool (*contains_in_any)(const BitArray* const*, std::size_t sub_filters, Hash128) noexcept;
  std::size_t (*contains_in_any_hashes)(const BitArray* const*, std::size_t sub_filters,
                                        const Hash128*, std::size_t, bool*) noexcept;
  std::size_t (*contains_in_any_integers)(const BitArray* const*, std::size_t sub_filters,
                                          std::uint64_t seed_multiplier, const std::uint64_t*,
                                          std::size_t, bool*) noexcept;
  std::uint64_t (*count_ones)(const std::uint32_t*, std::uint64_t bits) noexcept;
  // For use while other threads or processes set bits: uses locked instructions on words.
  const BitKernel* atomic;
  // For use while other threads of this process set bits, if all of them use this kernel: takes the locks
  // of stripes in layouts of whole blocks.
  const BitKernel* striped;
};

// The operations on counting filters. The `words` of their BitArray hold counters, and `bits` is the number
// of counters. A block has 64 bytes in sixteen words, as in layout `blocked`: 8 counters of 4 bits
// (blocked128, blocked2x128) or 4 of 8 bits (blocked64, blocked2x64) in a word.
struct CountingKernel {
  const char* name;
  OfOne insert, remove, contains;
  // The minimum of a key's counters.
  std::uint32_t (*minimum)(const BitArray&, Hash128) noexcept;
  OfHashes insert_hashes, remove_hashes, contains_hashes;
  OfIntegers insert_integers, remove_integers, contains_integers;
  // The number of counters that are not zero, and the number of saturated counters.
  std::uint64_t (*count_used)(const BitArray&) noexcept;
  std::uint64_t (*count_saturated)(const BitArray&) noexcept;
};

// The array of a window filter: a ring of plain filters of the same size, so that a key has the same block
// and the same bits in each. The blocks with number i are neighbours: block i of slice s is block
// i * ring_slices + s in memory. So a look-up reads neighbouring blocks and computes its pattern once.
// Measured in memory (docs/benchmarks.md), this takes a sixth to a half of the time of separate filters.
// Invariant: words is 64-byte aligned, and blocks * ring_slices * 64 bytes long; the other fields describe
// one slice.
struct WindowBitArray : BitArray {
  std::uint32_t ring_slices = 0;
};

// The operations on window filters, for the layouts blocked and blocked2. Inserts set bits in the slice
// `newest`, and answer whether no slice had the key.
struct WindowKernel {
  const char* name;
  bool (*insert)(const WindowBitArray&, std::uint32_t newest, Hash128) noexcept;
  bool (*contains)(const WindowBitArray&, Hash128) noexcept;
  std::size_t (*insert_hashes)(const WindowBitArray&, std::uint32_t newest, const Hash128*,
                               std::size_t, bool*) noexcept;
  std::size_t (*contains_hashes)(const WindowBitArray&, const Hash128*, std::size_t,
                                 bool*) noexcept;
};

// The operations on frozen filters, over their partitions; there is at least one.
struct FrozenKernel {
  const char* name;
  std::size_t (*contains_hashes)(const FusePartition*, std::size_t partitions, const Hash128*,
                                 std::size_t, bool*) noexcept;
  std::size_t (*contains_integers)(const FusePartition*, std::size_t partitions,
                                   std::uint64_t seed_multiplier, const std::uint64_t*, std::size_t,
                                   bool*) noexcept;
};

// K is Kernel, CountingKernel, WindowKernel or FrozenKernel; `layout` is one that filters of this kind can have;
// for frozen filters it is any layout.
//
// The best kernel of this CPU, or the one that BLOOMERY_KERNEL names ("scalar", "avx2", "avx512",
// "neon"). Error{invalid_argument}: a name that this CPU or build does not have.
template <class K = Kernel>
const K& kernel_for(Layout layout);
// Every kernel that this CPU can run, scalar first, the best last.
template <class K = Kernel>
std::span<const K* const> kernels_of(Layout layout) noexcept;

extern template const Kernel& kernel_for<Kernel>(Layout);
extern template const CountingKernel& kernel_for<CountingKernel>(Layout);
extern template const WindowKernel& kernel_for<WindowKernel>(Layout);
extern template const FrozenKernel& kernel_for<FrozenKernel>(Layout);
extern template std::span<const Kernel* const> kernels_of<Kernel>(Layout) noexcept;
extern template std::span<const CountingKernel* const> kernels_of<CountingKernel>(Layout) noexcept;
extern template std::span<const WindowKernel* const> kernels_of<WindowKernel>(Layout) noexcept;
extern template std::span<const FrozenKernel* const> kernels_of<FrozenKernel>(Layout) noexcept;

// The number of bits that are set; the best kernel counts them.
[[nodiscard]] std::uint64_t count_ones(const std::uint32_t* words, std::uint64_t bits) noexcept;

// ---- single calls that are inlined ---------------------------------------------------------------

// How a single call can be inlined instead of calling through the table of kernels.
enum class InlinePath : std::uint8_t {
  none,      // not at all: the layout is not `blocked`, or BLOOMERY_KERNEL is set
  compiled,  // with the instructions for which the program is compiled
  avx512,    // also with those of AVX-512, which this CPU has
};
InlinePath inline_path_of(Layout layout) noexcept;

// The instruction set that this translation unit is compiled for, if it has kernels.
#if defined(__AVX512F__) && defined(__AVX512BW__)
using NativeBlock = VectorBlock<Avx512>;
#define BLOOMERY_NATIVE_BLOCK "avx512"
#elif defined(__AVX2__)
using NativeBlock = VectorBlock<Avx2>;
#define BLOOMERY_NATIVE_BLOCK "avx2"
#elif defined(__ARM_NEON) && defined(__aarch64__)
using NativeBlock = VectorBlock<Neon>;
#define BLOOMERY_NATIVE_BLOCK "neon"
#endif

// The block that single calls inline, if any, and what it needs.
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

// The same for a block in which other threads set bits: assembly reads the block, so that no atomics are needed.
// Stores, under the block's lock, may be plain ones: a reader may see any mixture of old and new words.
#if defined(BLOOMERY_INLINE_BLOCK)
#define BLOOMERY_RELAXED_SINGLE_BLOCK
#if defined(__AVX512F__) && defined(__AVX512BW__)
struct RelaxedSingleBlock : Avx512SingleBlock {
  [[gnu::always_inline]] static bool set(std::uint32_t* block, std::uint64_t low,
                                         const WordMasks& masks) noexcept {
    return VectorBlock<Relaxed<Avx512>>::set(block, low, masks);
  }
};
#elif defined(__AVX2__)
using RelaxedSingleBlock = VectorBlock<Relaxed<Avx2>>;
#else
using RelaxedSingleBlock = InlineBlock;
#endif
#endif

}  // namespace bloomery::detail
