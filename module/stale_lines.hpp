// The lines of a big window that still hold what they held before their slices began.
//
// When a slice begins, its part of every line is to be zero. In a gigabyte that takes the server tens of
// milliseconds, so a line is cleared when it is needed, and some more with each command. Nobody can
// tell: whoever reads a line, or writes it, has it cleared before.
//
// A bit for each line, for as long as any is stale.
#pragma once

#include <bloomery/detail/window_kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "memory.hpp"

namespace bloomery::server {

class StaleLines;
using OwnedStaleLines = std::unique_ptr<StaleLines, ReleaseMemory>;

class StaleLines {
 public:
  // All lines, in so many slots of the ring from `first` on. Null: there is no memory.
  [[nodiscard]] static OwnedStaleLines of(const detail::WindowShape& shape, std::uint32_t first,
                                          std::uint32_t count) noexcept;

  // Clears a line, or all of [from, to), or up to `most` of those that are left, where they are stale.
  void settle(const detail::WindowShape& shape, std::uint64_t line) noexcept {
    if ((bits()[line / 64] >> line % 64 & 1) != 0) clear(shape, line);
  }
  void settle(const detail::WindowShape& shape, std::uint64_t from, std::uint64_t to) noexcept;
  // True: none is left.
  [[nodiscard]] bool go_on(const detail::WindowShape& shape, std::uint64_t most) noexcept;

 private:
  StaleLines(std::uint32_t first, std::uint32_t count) noexcept : first_(first), count_(count) {}
  void clear(const detail::WindowShape& shape, std::uint64_t line) noexcept;
  // They stand behind the object.
  [[nodiscard]] std::uint64_t* bits() noexcept {
    return reinterpret_cast<std::uint64_t*>(this + 1);
  }

  std::uint32_t first_;
  std::uint32_t count_;
  std::uint64_t next_ = 0;  // no line before it is stale
};

}  // namespace bloomery::server
