// The ring of a window filter: when it turns, and which slice takes the next keys. Its owner keeps the
// bits and counts. WindowFilter has room for the counts of any plan; a server with a filter for every
// user keeps them in a few bytes.
#pragma once

#include <bloomery/detail/kernel.hpp>
#include <bloomery/window_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/counts.hpp"

namespace bloomery::detail {

// A block of a slice.
[[nodiscard]] inline std::uint32_t* block_at(const WindowBitArray& bit_array, std::uint64_t block,
                                             std::uint32_t slice) noexcept {
  return bit_array.words + (block * bit_array.ring_slices + slice) * (kBlockBits / 32);
}

// The number of slices that begin after `now`, up to `time`; 0 if there was no time yet (`now` is 0).
[[nodiscard]] inline std::uint64_t slices_between(std::uint64_t now, std::uint64_t time,
                                                  std::uint64_t slice_length) noexcept {
  return now == 0 || time <= now ? 0 : time / slice_length - now / slice_length;
}

// Clears the blocks of one slice.
void clear_slice(const WindowBitArray& bit_array, std::uint32_t slice) noexcept;

// `RingSlices` has the bits and counts of all slices in the ring:
//   std::uint64_t inserted_in(std::uint32_t slice) const   insert calls since the slice began
//   void add_inserts(std::uint32_t slice, std::uint64_t calls)
//   void begin(std::uint32_t first, std::uint32_t count)   clears `count` slices, from `first` on: no bit, no call
//   void begin_all()
//   void expect(std::span<const Hash128> hashes)           the hashes that go into the newest slice next
// `SliceIndex` is an integer that holds any slice.
template <class RingSlices, class SliceIndex>
struct WindowRing {
  const WindowBitArray bit_array;
  const WindowKernel& kernel;
  const WindowUnit unit;
  const std::uint64_t slice_length;
  std::uint64_t& now;
  std::uint64_t& inserted;
  SliceIndex& newest;
  RingSlices ring_slices;

  // As WindowFilter::advance.
  void advance(std::uint64_t time) noexcept {
    if (time <= now) return;
    const std::uint64_t before = now;
    now = time;
    if (unit == WindowUnit::seconds) turn(slices_between(before, time, slice_length));
  }

  bool insert(Hash128 hash) noexcept {
    if (slice_is_over()) turn(1);
    inserted = sum_of_counts(inserted, 1);
    ring_slices.add_inserts(newest, 1);
    ring_slices.expect(std::span(&hash, 1));
    return kernel.insert(bit_array, newest, hash);
  }

  // Returns how many keys were new; `fresh` is null or has room for one answer per hash.
  std::size_t insert(std::span<const Hash128> hashes, bool* fresh) noexcept {
    std::size_t count = 0;
    for (std::size_t done = 0; done < hashes.size();) {
      if (slice_is_over()) turn(1);
      std::uint64_t part = hashes.size() - done;
      if (unit == WindowUnit::insertions)
        part = std::min(part, slice_length - ring_slices.inserted_in(newest));
      ring_slices.expect(hashes.subspan(done, part));
      count += kernel.insert_hashes(bit_array, newest, hashes.data() + done, part,
                                    fresh == nullptr ? nullptr : fresh + done);
      ring_slices.add_inserts(newest, part);
      inserted = sum_of_counts(inserted, part);
      done += part;
    }
    return count;
  }

 private:
  [[nodiscard]] bool slice_is_over() const noexcept {
    return unit == WindowUnit::insertions && ring_slices.inserted_in(newest) >= slice_length;
  }

  // Clears the next `slices` slices of the ring, which are the oldest; the last of them becomes the newest.
  void turn(std::uint64_t slices) noexcept {
    if (slices >= bit_array.ring_slices) return ring_slices.begin_all();
    if (slices == 0) return;
    ring_slices.begin((newest + 1U) % bit_array.ring_slices, static_cast<std::uint32_t>(slices));
    newest = static_cast<SliceIndex>((newest + slices) % bit_array.ring_slices);
  }
};

}  // namespace bloomery::detail
