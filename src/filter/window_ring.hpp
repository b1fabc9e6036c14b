// When the ring of a window filter turns, and which slot takes the next keys: over bits and counts that
// somebody else keeps. WindowFilter has room for the counts of any plan; a server with a filter for
// every user keeps them in a few bytes.
#pragma once

#include <bloomery/detail/window_kernel.hpp>
#include <bloomery/window_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

// Zeros the lines of one slot. What is zero already is only read, so that memory which nobody has used
// stays the system's.
void clear_slot(const WindowShape& shape, std::uint32_t slot) noexcept;

// `Counts`, how many insert calls each slot has taken since it was cleared:
//   std::uint64_t of(std::uint32_t slot) const
//   void add(std::uint32_t slot, std::uint64_t calls), void forget(std::uint32_t slot)
// `Slot` is an integer that holds any slot.
template <class Counts, class Slot>
struct WindowRing {
  const WindowShape shape;
  const WindowKernel& kernel;
  const WindowUnit unit;
  const std::uint64_t slice_length;
  std::uint64_t& now;
  std::uint64_t& inserted;
  Slot& newest;
  Counts counts;
  // Zeros all of the bits at once.
  void (*const zero)(std::byte*, std::size_t) noexcept;

  // As WindowFilter::advance.
  void advance(std::uint64_t time) noexcept {
    if (time <= now) return;
    const std::uint64_t before = now;
    now = time;
    if (unit == WindowUnit::seconds && before != 0)
      turn(time / slice_length - before / slice_length);
  }

  bool insert(Hash128 hash) noexcept {
    if (slice_is_over()) turn(1);
    ++inserted;
    counts.add(newest, 1);
    return kernel.insert(shape, newest, hash);
  }

  // Returns how many were new; `fresh`, where not null, has room for one answer a hash.
  std::size_t insert(std::span<const Hash128> hashes, bool* fresh) noexcept {
    std::size_t count = 0;
    for (std::size_t done = 0; done < hashes.size();) {
      if (slice_is_over()) turn(1);
      std::uint64_t part = hashes.size() - done;
      if (unit == WindowUnit::insertions) part = std::min(part, slice_length - counts.of(newest));
      count += kernel.insert_hashes(shape, newest, hashes.data() + done, part,
                                    fresh == nullptr ? nullptr : fresh + done);
      counts.add(newest, part);
      inserted += part;
      done += part;
    }
    return count;
  }

  void clear() noexcept {
    zero(reinterpret_cast<std::byte*>(shape.words), shape.lines * shape.slots * (kLineBits / 8));
    for (std::uint32_t slot = 0; slot < shape.slots; ++slot) counts.forget(slot);
  }

 private:
  [[nodiscard]] bool slice_is_over() const noexcept {
    return unit == WindowUnit::insertions && counts.of(newest) >= slice_length;
  }

  // Clears the slots that come next in the ring, the oldest ones, and makes the last of them the
  // newest.
  void turn(std::uint64_t slices) noexcept {
    if (slices >= shape.slots) return clear();
    for (; slices > 0; --slices) {
      newest = static_cast<Slot>((newest + 1U) % shape.slots);
      counts.forget(newest);
      clear_slot(shape, newest);
    }
  }
};

}  // namespace bloomery::detail
