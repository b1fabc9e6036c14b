// The blocks of a big window that still hold what they held before their slices began.
//
// When a slice begins, its part of every block is to be zero. In a gigabyte that takes the server tens of
// milliseconds, so a block is cleared when it is needed, and some more with each command. Nobody can
// tell: whoever reads a block, or writes it, has it cleared before.
//
// A bit for each block, for as long as any is stale.
#pragma once

#include <bloomery/detail/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "memory.hpp"

namespace bloomery::server {

class StaleBlocks;
using OwnedStaleBlocks = std::unique_ptr<StaleBlocks, ReleaseMemory>;

class StaleBlocks {
 public:
  // All blocks, in so many ring_slices of the ring from `first` on. Null: there is no memory.
  [[nodiscard]] static OwnedStaleBlocks of(const detail::WindowBitArray& bit_array,
                                           std::uint32_t first, std::uint32_t count) noexcept;

  // Clears a block, or all of [from, to), or up to `most` of those that are left, where they are stale.
  void settle(const detail::WindowBitArray& bit_array, std::uint64_t block) noexcept {
    if ((bits()[block / 64] >> block % 64 & 1) != 0) clear(bit_array, block);
  }
  void settle(const detail::WindowBitArray& bit_array, std::uint64_t from,
              std::uint64_t to) noexcept;
  // True: none is left.
  [[nodiscard]] bool go_on(const detail::WindowBitArray& bit_array, std::uint64_t most) noexcept;

 private:
  StaleBlocks(std::uint32_t first, std::uint32_t count) noexcept : first_(first), count_(count) {}
  void clear(const detail::WindowBitArray& bit_array, std::uint64_t block) noexcept;
  // They stand behind the object.
  [[nodiscard]] std::uint64_t* bits() noexcept {
    return reinterpret_cast<std::uint64_t*>(this + 1);
  }

  std::uint32_t first_;
  std::uint32_t count_;
  std::uint64_t next_ = 0;  // no block before it is stale
};

}  // namespace bloomery::server
