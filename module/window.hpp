// A filter that forgets: the library's ring (src/filter/window_ring.hpp) over the server's memory.
//
// A window of time takes its time from the commands: who adds at the master is asked for the
// server's clock, and what it said is replicated before the item (BF.ADVANCE), so that a replica
// or an AOF turns the ring where the master did. Look-ups change nothing that anyone can see; they
// leave out the slices that the clock has outrun.
//
// A server has one for each user, so little may stand beside the bits. 72 bytes, and behind them 16 of
// its key, if items are hashed with one, and the counts of its ring_slices: two bytes each, or, once one has
// taken more than 65,535 insert calls, a pointer to eight each. Big ones have a pointer more, to blocks that
// are still to be cleared (stale_blocks.hpp).
#pragma once

#include <bloomery/window_filter.hpp>

#include <optional>

#include "filter/window_ring.hpp"
#include "stale_blocks.hpp"
#include "value.hpp"

namespace bloomery::server {

class Window final : public Value {
 public:
  // Error{invalid_argument, too_large, no_memory}.
  [[nodiscard]] static ValuePointer<Window> make(const WindowPlan& plan,
                                                 const std::optional<Seed>& key = std::nullopt);
  // As it was stored; `memory` has its bits. Error{mismatch}: no such state; {no_memory}.
  [[nodiscard]] static ValuePointer<Window> restore(const WindowPlan& plan,
                                                    const std::optional<Seed>& key,
                                                    const WindowState& state, OwnedMemory memory);
  ~Window() override;

  [[nodiscard]] Hash128 hash(std::string_view item) const noexcept override;
  void prefetch(Hash128 hash) const noexcept override;
  [[nodiscard]] bool may_contain(Hash128 hash, std::uint64_t now) const noexcept override;
  void may_contain(std::span<const Hash128> hashes, std::span<bool> found,
                   std::uint64_t now) const noexcept override;
  // Stop::no_room: there is no memory for larger counts, and nothing has changed.
  [[nodiscard]] Added insert(std::span<const Hash128> hashes, std::span<bool> fresh,
                             std::uint64_t) noexcept override;
  void clear() noexcept override;

  [[nodiscard]] bool is_of_time() const noexcept { return of_time_; }
  // True: the time has moved.
  bool advance(std::uint64_t now) noexcept;
  [[nodiscard]] std::uint64_t now() const noexcept { return now_; }

  // All insert calls.
  [[nodiscard]] std::uint64_t size() const noexcept override { return inserted_; }
  [[nodiscard]] std::uint64_t capacity() const noexcept override { return capacity_; }
  [[nodiscard]] std::uint64_t bit_bytes() const noexcept override { return array_.bytes().size(); }
  [[nodiscard]] std::uint64_t footprint() const noexcept override;
  [[nodiscard]] bool full() const noexcept override { return false; }
  [[nodiscard]] std::uint32_t ring_slices() const noexcept { return slices_ + 1U; }
  [[nodiscard]] std::uint32_t live_slices() const noexcept;
  [[nodiscard]] WindowPlan plan() const noexcept;
  [[nodiscard]] WindowState state() const noexcept;
  [[nodiscard]] std::optional<Seed> key() const noexcept;

  [[nodiscard]] std::vector<std::byte> header() const override;
  [[nodiscard]] std::span<std::byte> part_at(std::uint64_t offset,
                                             std::uint64_t most) const noexcept override;
  [[nodiscard]] AnyValue copy() const override;
  void defragment(DefragContext* context) noexcept override;
  [[nodiscard]] std::size_t memory() const noexcept override;

 private:
  friend struct ValueAccess;
  struct RingSlices;
  Window(const WindowPlan& plan, const std::optional<Seed>& key, const WindowState& state,
         OwnedMemory memory);

  [[nodiscard]] Layout layout() const noexcept {
    return blocked2_ ? Layout::blocked2 : Layout::blocked;
  }
  [[nodiscard]] detail::WindowBitArray bit_array() const noexcept;
  [[nodiscard]] detail::WindowRing<RingSlices, std::uint8_t> ring() noexcept;
  // How many slices the clock is ahead of the ring.
  [[nodiscard]] std::uint64_t behind(std::uint64_t now) const noexcept;
  [[nodiscard]] bool is_in_young(Hash128 hash, std::uint64_t behind) const noexcept;

  // Slices that begin, and what is still to be cleared for them.
  void begin(std::uint32_t first, std::uint32_t count) noexcept;
  [[nodiscard]] StaleBlocks* stale() const noexcept;
  void set_stale(OwnedStaleBlocks blocks) const noexcept;
  void settle(std::span<const Hash128> hashes) const noexcept;
  void settle_some(std::size_t items) const noexcept;

  // What stands behind the object (window_behind.cpp).
  [[nodiscard]] static std::size_t bytes_behind(std::uint32_t ring_slices, bool keyed,
                                                bool big) noexcept;
  void begin_behind(const std::optional<Seed>& key) noexcept;
  void end_behind() noexcept;
  void defragment_behind(DefragContext* context) noexcept;
  [[nodiscard]] std::byte* key_bytes() const noexcept;
  [[nodiscard]] std::byte* count_bytes() const noexcept;
  [[nodiscard]] std::byte* stale_bytes() const noexcept;
  [[nodiscard]] std::uint64_t* wide_counts() const noexcept;
  [[nodiscard]] std::uint64_t count_of(std::uint32_t slice) const noexcept;
  void set_count(std::uint32_t slice, std::uint64_t count) noexcept;
  [[nodiscard]] bool widen_counts() noexcept;
  [[nodiscard]] bool has_room_for_counts(std::uint64_t calls) noexcept;

  // In the bytes that the base leaves of its last eight. Ranges: window_plan.hpp.
  std::uint8_t slices_ : 7;
  bool big_ : 1;
  std::uint8_t newest_;
  std::uint8_t hashes_ : 6;
  bool blocked2_ : 1;
  bool of_time_ : 1;
  std::uint32_t blocks_ : 30;  // of a slice, less 1
  bool keyed_ : 1;
  bool wide_ : 1;
  Array array_;
  std::uint64_t slice_length_;
  std::uint64_t capacity_;
  double fpr_;
  std::uint64_t now_;
  std::uint64_t inserted_;
};
static_assert(sizeof(Window) == 72);

}  // namespace bloomery::server
