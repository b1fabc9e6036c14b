// The plan of a window filter: how long the filter remembers keys, and in how many steps it forgets them.
//
// A window is a number of insertions or of seconds, cut into equal slices. The filter has a plain
// filter for each slice and one more, which the newest keys fill while the oldest is still needed:
//
//   a key inserted within the window                    is always found
//   a key older than the window plus one slice          is forgotten, apart from the stated fpr
//
// More slices forget more exactly and make look-ups slower: a look-up reads a block per slice (two
// with `blocked2`). Each slice has room for capacity / slices keys and the share fpr / (slices + 1) of the
// fpr, because an absent key is answered "maybe" if any slice answers "maybe". Memory, in bits per key of
// the window (4 slices, 8, 16): 17.3, 17.3, 18.1 at 1 %, and 25.1, 24.6, 22.4 at 0.1 %.
#pragma once

#include <bloomery/plan.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace bloomery {

// The unit of a window. The caller supplies the time: if the window and all times given to
// WindowFilter::advance() are in milliseconds, it is a window of milliseconds.
enum class WindowUnit : std::uint8_t { insertions = 1, seconds = 2 };

[[nodiscard]] std::string_view to_string(WindowUnit unit) noexcept;

// How long a filter remembers.
struct Window {
  WindowUnit unit = WindowUnit::seconds;
  std::uint64_t length = 0;  // in units
  friend bool operator==(const Window&, const Window&) = default;
};

constexpr std::uint32_t kMaxSlices = 64;
constexpr std::uint32_t kDefaultSlices = 8;

// Invariant of a valid plan: slices is in [1, 64] and divides window, which is at least slices;
// capacity is in [1, 10^13], fpr in (0, 1); `slice` is a valid plan of layout blocked or blocked2 that
// has room for capacity / slices keys, rounded up, at fpr / (slices + 1); all slices together
// have at most 2^40 bits.
struct WindowPlan {
  Plan slice;  // of each slice
  std::uint32_t slices = kDefaultSlices;
  WindowUnit unit = WindowUnit::insertions;
  std::uint64_t window = 0;    // in units; a whole number of slices
  std::uint64_t capacity = 0;  // the number of keys in a window up to which `fpr` holds
  double fpr = 0;              // the stated false-positive rate of all slices together

  [[nodiscard]] std::uint32_t ring_slices() const noexcept { return slices + 1; }
  [[nodiscard]] std::uint64_t slice_length() const noexcept { return window / slices; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return ring_slices() * slice.bytes(); }
  friend bool operator==(const WindowPlan&, const WindowPlan&) = default;
};

// The smallest plan. `window` is rounded up to a whole number of slices. `capacity` counts the
// distinct keys of each slice, spread evenly: a key that comes again in another slice counts
// again. For a window of insertions `capacity` is at most `window`, and `window` is always enough. The
// default layout is blocked if a slice's share of the fpr is at least 1e-4, otherwise blocked2.
// PlanError: one of the numbers is out of range, or the filter would be too large.
[[nodiscard]] WindowPlan window_plan(WindowUnit unit, std::uint64_t window, std::uint64_t capacity,
                                     double fpr, std::uint32_t slices = kDefaultSlices,
                                     std::optional<Layout> layout = std::nullopt);

namespace detail {
// The time in whole seconds, rounded down or up. What is below 0 or above 2^63 - 1 is the nearest of these.
template <class Rep, class Period>
[[nodiscard]] constexpr std::uint64_t whole_seconds(std::chrono::duration<Rep, Period> time,
                                                    bool up) noexcept {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const long double exact = std::chrono::duration<long double>(time).count();
  if (!(exact > 0)) return 0;
  if (exact >= static_cast<long double>(kMost)) return kMost;
  const auto seconds = up ? std::chrono::ceil<std::chrono::seconds>(time)
                          : std::chrono::floor<std::chrono::seconds>(time);
  return static_cast<std::uint64_t>(seconds.count());
}
}  // namespace detail

// A window of time, rounded up to whole seconds.
template <class Rep, class Period>
[[nodiscard]] WindowPlan window_plan(std::chrono::duration<Rep, Period> window,
                                     std::uint64_t capacity, double fpr,
                                     std::uint32_t slices = kDefaultSlices,
                                     std::optional<Layout> layout = std::nullopt) {
  return window_plan(WindowUnit::seconds, detail::whole_seconds(window, true), capacity, fpr,
                     slices, layout);
}

// The highest fpr with `items` distinct keys in a window: the fpr just before the oldest slice is cleared. A window of
// insertions never has more keys than its length.
[[nodiscard]] double predicted_fpr(const WindowPlan& plan, double items);

// PlanError unless the plan's invariant holds.
void validate(const WindowPlan& plan);

}  // namespace bloomery
