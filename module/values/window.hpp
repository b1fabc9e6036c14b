// A filter that forgets: the library's ring of slices (src/filter/window_ring.hpp) over the
// server's memory.
//
// A window of seconds takes the time from commands. When items are added at the master, it reads its clock and
// replicates the time before the items (BF.ADVANCE), so that a replica or an AOF turns the ring at the same
// place (time.hpp). Look-ups make no visible change: they skip the slices that have expired by the clock.
//
// Besides the bits, it takes 64 bytes, 16 for a key, and for each slice of the ring a count of
// insert calls: two bytes, or, once a slice has taken more than 65,535, eight in an allocation of
// their own. Big windows take 8 bytes more, for what is still to be cleared (lazy_clear.hpp).
#pragma once

#include <bloomery/window_filter.hpp>

#include "filter/window_ring.hpp"
#include "server/lazy_clear.hpp"
#include "values/value.hpp"

namespace bloomery::server {

class Window final : public Value {
 public:
  static constexpr Kind kKind = Kind::window;

  // `memory` holds the bits. Error{no_memory}.
  [[nodiscard]] static ValuePointer<Window> make(const Header& header, OwnedMemory memory);

  void prefetch(Hash128 hash) const noexcept override;
  void may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                   std::uint64_t now) const noexcept override;
  // Stop::no_room: there is no memory for larger counts, and nothing has changed.
  [[nodiscard]] Added insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                             const MemoryLimit& limit) noexcept override;
  [[nodiscard]] std::uint64_t now() const noexcept { return now_; }
  [[nodiscard]] std::uint64_t slice_length() const noexcept { return slice_length_; }
  // Like WindowFilter::advance. True: the time has moved.
  bool advance(std::uint64_t now) noexcept;
  // Sets an earlier time, at which the newest slice continues: no item is forgotten earlier than if
  // it had been added now. True: the time was an earlier one.
  bool set_back(std::uint64_t now) noexcept;
  void clear() noexcept override;
  [[nodiscard]] Totals totals() const noexcept override;  // items: all insert calls

 private:
  template <class T, class... Arguments>
  friend ValuePointer<T> new_value(const Header&, std::size_t, Arguments&&...);
  Window(const Header& header, OwnedMemory memory) noexcept;

  void describe(Header& header) const override;
  [[nodiscard]] Allocation allocation(std::size_t number) const noexcept override;
  void expect_access(std::uint64_t offset, std::uint64_t bytes) const noexcept override;

  [[nodiscard]] Layout layout() const noexcept {
    return blocked2_ ? Layout::blocked2 : Layout::blocked;
  }
  [[nodiscard]] std::uint32_t ring_slices() const noexcept { return slices_ + 1U; }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return (blocks_ + std::uint64_t{1}) * ring_slices() * (kBlockBits / 8);
  }
  [[nodiscard]] WindowPlan plan() const noexcept;
  [[nodiscard]] detail::WindowBitArray bit_array() const noexcept;
  struct RingSlices;
  [[nodiscard]] detail::WindowRing<RingSlices, std::uint8_t> ring() noexcept;
  // Whether the item is in a slice that has not expired, if the clock is so many slices ahead of
  // the ring.
  [[nodiscard]] bool is_in_live_slice(Hash128 hash, std::uint64_t expired) const noexcept;

  // The tail after the object and its key: a pointer to a LazyClear, if the window is big, and the
  // counts, or a pointer to wide ones.
  [[nodiscard]] static std::size_t tail_bytes(std::uint32_t ring_slices, bool big) noexcept;
  [[nodiscard]] std::byte* tail() const noexcept;
  [[nodiscard]] std::byte* counts() const noexcept { return tail() + (big_ ? sizeof(void*) : 0); }
  [[nodiscard]] void*& pointer_at(std::byte* place) const noexcept {
    return *reinterpret_cast<void**>(place);
  }
  [[nodiscard]] std::uint64_t wide_bytes() const noexcept {
    return wide_ ? ring_slices() * sizeof(std::uint64_t) : 0;
  }
  [[nodiscard]] std::uint64_t count_of(std::uint32_t slice) const noexcept;
  void set_count(std::uint32_t slice, std::uint64_t count) noexcept;
  [[nodiscard]] bool has_room_for_counts(std::uint64_t calls) noexcept;

  void begin_slices(std::uint32_t first, std::uint32_t count) noexcept;
  // Null: everything is cleared.
  [[nodiscard]] LazyClear* lazy_clear() const noexcept;
  void set_lazy_clear(OwnedLazyClear blocks) const noexcept;
  void clear_blocks_of(std::span<const Hash128> hashes) const noexcept;
  void clear_some(std::size_t items) const noexcept;

  // The first seven bytes use what the base leaves free in its last eight. Ranges:
  // window_plan.hpp.
  std::uint8_t slices_ : 7;
  bool big_ : 1;
  std::uint8_t newest_;
  std::uint8_t hashes_ : 6;
  bool blocked2_ : 1;
  bool wide_ : 1;
  std::uint32_t blocks_ : 30;  // of a slice, less 1
  void* memory_;
  std::uint64_t slice_length_;
  std::uint64_t capacity_;
  double fpr_;
  std::uint64_t now_;
  std::uint64_t inserted_;
};

}  // namespace bloomery::server
