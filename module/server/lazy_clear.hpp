// The blocks of a big window that have not been cleared yet since some of its slices began again.
//
// When a slice begins, its part of every block must be zero. In a gigabyte that takes the server
// tens of milliseconds, so a block is cleared when it is needed, and each command clears some more.
// No caller sees the difference: a block is cleared before it is read or written.
//
// Keeps a bit per block until all blocks are cleared.
#pragma once

#include <bloomery/detail/kernel.hpp>

#include <cstdint>
#include <memory>

#include "server/memory.hpp"

namespace bloomery::server {

class LazyClear;
using OwnedLazyClear = std::unique_ptr<LazyClear, ReleaseMemory>;

class LazyClear {
 public:
  // Marks all blocks as not cleared, in `count` slices of the ring from `first` on. Null: there is no memory.
  [[nodiscard]] static OwnedLazyClear make(const detail::WindowBitArray& bit_array,
                                           std::uint32_t first, std::uint32_t count) noexcept;

  // Each of these clears what has not been cleared yet: of one block, of the blocks in [from, to),
  // or of the next `most` blocks.
  void clear(const detail::WindowBitArray& bit_array, std::uint64_t block) noexcept {
    if ((bits()[block / 64] >> block % 64 & 1) != 0) clear_now(bit_array, block);
  }
  void clear(const detail::WindowBitArray& bit_array, std::uint64_t from,
             std::uint64_t to) noexcept;
  // True: all blocks are cleared.
  [[nodiscard]] bool clear_some(const detail::WindowBitArray& bit_array,
                                std::uint64_t most) noexcept;

 private:
  LazyClear(std::uint32_t first, std::uint32_t count) noexcept : first_(first), count_(count) {}
  void clear_now(const detail::WindowBitArray& bit_array, std::uint64_t block) noexcept;
  // The bits are stored after the object.
  [[nodiscard]] std::uint64_t* bits() noexcept {
    return reinterpret_cast<std::uint64_t*>(this + 1);
  }

  std::uint32_t first_;
  std::uint32_t count_;
  std::uint64_t next_ = 0;  // all blocks before it are cleared
};

}  // namespace bloomery::server
