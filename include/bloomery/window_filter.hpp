// A Bloom filter that forgets: it remembers the last N insertions or the last T seconds.
//
//   using namespace bloomery;
//   WindowFilter seen(window_plan(WindowUnit::insertions, 10'000'000, 10'000'000, 0.01));
//   if (seen.insert(url)) fetch(url);   // true: certainly not among the last 10 million
//
//   WindowFilter shown(window_plan(std::chrono::hours(30 * 24), 1'000'000, 0.01));
//   shown.advance(std::chrono::system_clock::now());   // the filter reads no clock itself
//   shown.insert(item);
//
// It is a ring of plain filters, its slices: one for each slice of the window and one more. A key goes
// into the newest slice. When that slice is over, the oldest one is cleared and becomes the newest.
//
// Promises: a key inserted within the window is found; a key older than the window plus one slice is
// forgotten; with up to capacity() keys in the window, absent and forgotten keys are answered "maybe"
// at the stated rate; the bits depend on the keys, their order, the times, plan and seed alone,
// whatever the kernel, and whether keys come one by one or many at a time.
// Limits: it cannot count, remove or list keys, merge, or grow. If more keys come than it has room
// for, in all or in one slice, the rate rises; over_capacity() and current_fpr() report it.
//
// Threads: any number of look-ups at once, or one writer.
#pragma once

#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/detail/kernel.hpp>
#include <bloomery/detail/key_calls.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/stats.hpp>
#include <bloomery/window_plan.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery {

// The state of a window filter besides its plan, its hasher and its bits.
struct WindowState {
  std::uint64_t now = 0;       // the latest time that advance() got
  std::uint64_t inserted = 0;  // all insert calls
  std::uint32_t newest = 0;    // the slice that takes the next key
  // Insert calls that each slice has taken since it was cleared; zeros beyond the plan's ring_slices.
  std::array<std::uint64_t, kMaxSlices + 1> inserted_in_slices{};
  friend bool operator==(const WindowState&, const WindowState&) = default;
};

namespace detail {
// Checks what restore() requires of the state.
void check_state(const WindowPlan& plan, const WindowState& state);
template <class RingSlices, class SliceIndex>
struct WindowRing;
}  // namespace detail

class WindowFilter : public detail::KeyCalls<WindowFilter> {
 public:
  // Error{invalid_argument | too_large | no_memory}; nothing is allocated before the numbers
  // are checked.
  explicit WindowFilter(const WindowPlan& plan, const Hasher& hasher = Hasher());
  // A filter from its stored state. `bits` must be 64-byte aligned and plan.bytes() long; only inserts,
  // advance() and clear() write them. `memory` owns them; without it, they must outlive the filter.
  // Error{invalid_argument | too_large | mismatch}: the plan is invalid, the bits are of a wrong
  // size or alignment, or no filter of this plan can have that state.
  [[nodiscard]] static WindowFilter restore(const WindowPlan& plan, const Hasher& hasher,
                                            const WindowState& state, std::span<std::byte> bits,
                                            detail::BitMemory memory = {});
  // The same for bits that nothing may write, such as those of a file that is open for reading. advance() and clear()
  // leave the bits of forgotten slices where they are, and look-ups and statistics leave them out, so that no copy of
  // the bits is needed. Keys must not be inserted.
  [[nodiscard]] static WindowFilter restore_for_reading(const WindowPlan& plan,
                                                        const Hasher& hasher,
                                                        const WindowState& state,
                                                        std::span<const std::byte> bits);

  // A filter that was moved from has no bits: every look-up answers "maybe" and every insert false,
  // until another filter is assigned to it. copy() of it is an error.
  WindowFilter(WindowFilter&& other) noexcept;
  WindowFilter& operator=(WindowFilter&& other) noexcept;
  [[nodiscard]] WindowFilter copy() const;

  // ---- time -----------------------------------------------------------------------------

  // Moves a window of seconds to a later time. Slices end at multiples of their length. A time before
  // now() is ignored, so that clocks may step back; a jump over the window forgets all keys. A window
  // that is ahead of the clock forgets nothing until the clock has caught up, so check times that come
  // from an untrusted source, or use set_back().
  // A new filter has no time (0): keys inserted before the first advance() count as inserted at the
  // time of that call. A window of insertions only stores the time for the caller.
  void advance(std::uint64_t now) noexcept;
  // The same, with the time in whole seconds since the clock's epoch, or since any other fixed time. A
  // time before it counts as 0.
  template <class Clock, class Duration>
  void advance(std::chrono::time_point<Clock, Duration> now) noexcept {
    advance(now.time_since_epoch());
  }
  template <class Rep, class Period>
  void advance(std::chrono::duration<Rep, Period> now) noexcept {
    advance(detail::whole_seconds(now, false));
  }
  // Sets an earlier time: the newest slice continues there, so no key is forgotten earlier than if it had
  // been inserted now. A time that is not before now() is ignored.
  void set_back(std::uint64_t now) noexcept;
  [[nodiscard]] std::uint64_t now() const noexcept { return state_.now; }

  // ---- keys: those of KeyCalls ----------------------------------------------------------
  // insert* add a key to the newest slice, even if an older one has it, and so renew it. The result for many
  // keys is that of one call per key.

  bool insert_hash(Hash128 hash) noexcept;
  [[nodiscard]] bool may_contain_hash(Hash128 hash) const noexcept {
    return kernel_->contains(bit_array_, hash) && (left_out_ == 0 || in_slice_of_now(hash));
  }

  // ---- the whole ------------------------------------------------------------------------

  // Forgets every key. The time does not change.
  void clear() noexcept;

  // The number of all inserts, including repeated and forgotten keys.
  [[nodiscard]] std::uint64_t inserted() const noexcept { return state_.inserted; }
  // How many slices hold keys, including the one that is partly out of the window.
  [[nodiscard]] std::uint32_t live_slices() const noexcept;

  // All of the following at once, in one pass over the bits or a sample of them.
  [[nodiscard]] Stats stats(Precision precision = Precision::sampled) const noexcept;
  // The share of ones. This and the next three functions read all of the bits.
  [[nodiscard]] double fill() const noexcept;
  // The false-positive rate of the bits as they are now: from every block of slices up to 4 MiB, and
  // from 65,536 evenly spread blocks of larger slices. It is an upper bound if keys are in several slices.
  [[nodiscard]] double current_fpr() const noexcept;
  // An estimate of the distinct keys that are remembered. A key in several slices counts once if the
  // bits show that it is one key. They show it with up to about 8 slices, and less and less with more.
  [[nodiscard]] double estimated_items() const noexcept;
  // Whether a slice has more keys than the plan gives it room for, by more than four standard errors of
  // the estimate. The stated rate may not hold until the slice is forgotten; current_fpr() is the rate now.
  [[nodiscard]] bool over_capacity() const noexcept;

  [[nodiscard]] const WindowPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return plan_.capacity; }
  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }
  [[nodiscard]] const WindowState& state() const noexcept { return state_; }
  // The blocks of all slices: block i of slice s is block i * ring_slices + s (detail/kernel.hpp). With
  // restore_for_reading() they still have the bits of forgotten slices; copy() has not.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {reinterpret_cast<const std::byte*>(bit_array_.words), plan_.bytes()};
  }
  [[nodiscard]] const char* kernel_name() const noexcept { return kernel_->name; }
  // For tests: uses another kernel on the same bits.
  void use_kernel(const detail::WindowKernel& kernel) noexcept { kernel_ = &kernel; }

 private:
  friend detail::KeyCalls<WindowFilter>;
  WindowFilter(const WindowPlan& plan, const Hasher& hasher, const WindowState& state,
               std::span<std::byte> bits, detail::BitMemory memory);
  void detach() noexcept;
  std::size_t do_insert(std::span<const Hash128> hashes, bool* fresh) noexcept;
  std::size_t do_contain(std::span<const Hash128> hashes, bool* found) const noexcept {
    return left_out_ == 0
               ? kernel_->contains_hashes(bit_array_, hashes.data(), hashes.size(), found)
               : contain_in_slices_of_now(hashes, found);
  }
  // Whether a slice that is not left out has the key.
  [[nodiscard]] bool in_slice_of_now(Hash128 hash) const noexcept;
  std::size_t contain_in_slices_of_now(std::span<const Hash128> hashes, bool* found) const noexcept;
  [[nodiscard]] bool is_left_out(std::uint32_t slice) const noexcept {
    const std::uint32_t age =
        state_.newest + (slice > state_.newest ? plan_.ring_slices() : 0) - slice;
    return age < left_out_;
  }
  struct RingSlices;
  [[nodiscard]] detail::WindowRing<RingSlices, std::uint32_t> ring() noexcept;

  WindowPlan plan_;
  Hasher hasher_;
  WindowState state_;
  detail::BitMemory memory_;
  detail::WindowBitArray bit_array_;
  const detail::WindowKernel* kernel_;
  // Nothing may write the bits.
  bool for_reading_ = false;
  // So many of the newest slices are empty, although their blocks have bits of forgotten slices.
  std::uint32_t left_out_ = 0;
};

}  // namespace bloomery
