// What a kernel of window filters is: one question to the slots of a ring, over borrowed bits.
//
// The slots are plain filters of one shape, so that a key has the same line and the same bits in
// each. Line i of all slots lies side by side: line i of slot s is line i * slots + s of the
// array. A look-up then reads one stretch of memory, and its pattern is worked out once. Measured
// (docs/benchmarks.md): in memory a sixth to a half of the time of slots that lie apart.
//
// Law: for equal WindowShape, hashes and bits, every kernel gives the same bits and answers.
#pragma once

#include <bloomery/detail/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

// Invariant: words is 64-byte aligned, and lines * slots * 64 bytes long.
struct WindowShape {
  std::uint32_t* words = nullptr;
  std::uint64_t lines = 0;  // of a slot
  std::uint32_t slots = 0;
  const WordMasks* masks = nullptr;  // line: of k words; pair: of k/2
};

// `answers`, where not null, receives one bool a key. Inserts set bits in the slot `newest`, and
// answer whether no slot had the key. Keys of one call take effect in their order.
struct WindowKernel {
  const char* name;
  bool (*insert)(const WindowShape&, std::uint32_t newest, Hash128) noexcept;
  bool (*contains)(const WindowShape&, Hash128) noexcept;
  std::size_t (*insert_hashes)(const WindowShape&, std::uint32_t newest, const Hash128*,
                               std::size_t, bool*) noexcept;
  std::size_t (*contains_hashes)(const WindowShape&, const Hash128*, std::size_t, bool*) noexcept;
};

// As kernel_for and kernels_of, for the layouts line and pair.
const WindowKernel& window_kernel_for(Layout layout);
std::span<const WindowKernel* const> window_kernels_of(Layout layout) noexcept;

}  // namespace bloomery::detail
