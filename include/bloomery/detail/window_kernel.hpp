// What a kernel of window filters is: one question to the ring_slices of a ring, over borrowed bits.
//
// The ring_slices are plain filters of one shape, so that a key has the same block and the same bits in
// each. Block i of all ring_slices lies side by side: block i of slice s is block i * ring_slices + s of the
// array. A look-up then reads one stretch of memory, and its pattern is worked out once. Measured
// (docs/benchmarks.md): in memory a sixth to a half of the time of ring_slices that lie apart.
//
// Law: for equal WindowBitArray, hashes and bits, every kernel gives the same bits and answers.
#pragma once

#include <bloomery/detail/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

// Invariant: words is 64-byte aligned, and blocks * ring_slices * 64 bytes long.
struct WindowBitArray {
  std::uint32_t* words = nullptr;
  std::uint64_t blocks = 0;  // of a slice
  std::uint32_t ring_slices = 0;
  const WordMasks* masks = nullptr;  // block: of k words; pair: of k/2
};

// `answers`, where not null, receives one bool a key. Inserts set bits in the slice `newest`, and
// answer whether no slice had the key. Keys of one call take effect in their order.
struct WindowKernel {
  const char* name;
  bool (*insert)(const WindowBitArray&, std::uint32_t newest, Hash128) noexcept;
  bool (*contains)(const WindowBitArray&, Hash128) noexcept;
  std::size_t (*insert_hashes)(const WindowBitArray&, std::uint32_t newest, const Hash128*,
                               std::size_t, bool*) noexcept;
  std::size_t (*contains_hashes)(const WindowBitArray&, const Hash128*, std::size_t,
                                 bool*) noexcept;
};

// As kernel_for and kernels_of, for the layouts blocked and blocked2.
const WindowKernel& window_kernel_for(Layout layout);
std::span<const WindowKernel* const> window_kernels_of(Layout layout) noexcept;

}  // namespace bloomery::detail
