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

// A line of a slot.
[[nodiscard]] inline std::uint32_t* line_at(const WindowShape& shape, std::uint64_t line,
                                            std::uint32_t slot) noexcept {
  return shape.words + (line * shape.slots + slot) * (kLineBits / 32);
}

// How many slices begin after `now`, 0 where there was no time yet, until `time`.
[[nodiscard]] inline std::uint64_t slices_between(std::uint64_t now, std::uint64_t time,
                                                  std::uint64_t slice_length) noexcept {
  return now == 0 || time <= now ? 0 : time / slice_length - now / slice_length;
}

// Zeros the lines of one slot.
void clear_slot(const WindowShape& shape, std::uint32_t slot) noexcept;

// `Slots` are the slots' bits and counts:
//   std::uint64_t taken(std::uint32_t slot) const   insert calls since the slot began
//   void take(std::uint32_t slot, std::uint64_t calls)
//   void begin(std::uint32_t first, std::uint32_t count)   slots of the ring, from `first` on: no bit, no call
//   void begin_all()
//   void expect(std::span<const Hash128> hashes)   they go into the newest slot next
// `Slot` is an integer that holds any slot.
template <class Slots, class Slot>
struct WindowRing {
  const WindowShape shape;
  const WindowKernel& kernel;
  const WindowUnit unit;
  const std::uint64_t slice_length;
  std::uint64_t& now;
  std::uint64_t& inserted;
  Slot& newest;
  Slots slots;

  // As WindowFilter::advance.
  void advance(std::uint64_t time) noexcept {
    if (time <= now) return;
    const std::uint64_t before = now;
    now = time;
    if (unit == WindowUnit::seconds) turn(slices_between(before, time, slice_length));
  }

  bool insert(Hash128 hash) noexcept {
    if (slice_is_over()) turn(1);
    ++inserted;
    slots.take(newest, 1);
    slots.expect(std::span(&hash, 1));
    return kernel.insert(shape, newest, hash);
  }

  // Returns how many were new; `fresh`, where not null, has room for one answer a hash.
  std::size_t insert(std::span<const Hash128> hashes, bool* fresh) noexcept {
    std::size_t count = 0;
    for (std::size_t done = 0; done < hashes.size();) {
      if (slice_is_over()) turn(1);
      std::uint64_t part = hashes.size() - done;
      if (unit == WindowUnit::insertions) part = std::min(part, slice_length - slots.taken(newest));
      slots.expect(hashes.subspan(done, part));
      count += kernel.insert_hashes(shape, newest, hashes.data() + done, part,
                                    fresh == nullptr ? nullptr : fresh + done);
      slots.take(newest, part);
      inserted += part;
      done += part;
    }
    return count;
  }

 private:
  [[nodiscard]] bool slice_is_over() const noexcept {
    return unit == WindowUnit::insertions && slots.taken(newest) >= slice_length;
  }

  // The slots that come next in the ring, the oldest ones, begin anew; the last of them is the newest.
  void turn(std::uint64_t slices) noexcept {
    if (slices >= shape.slots) return slots.begin_all();
    if (slices == 0) return;
    slots.begin((newest + 1U) % shape.slots, static_cast<std::uint32_t>(slices));
    newest = static_cast<Slot>((newest + slices) % shape.slots);
  }
};

}  // namespace bloomery::detail
