// Window plans: a slice's share of the keys and of the false-positive rate, and the checks of a request.
#include <bloomery/window_plan.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "plan/refuse.hpp"

namespace bloomery {

namespace {

using detail::counted;
using detail::fpr_of;
using detail::grouped;
using detail::refuse;
using Field = PlanField;

std::string window_of(std::uint64_t count, WindowUnit unit) {
  return "a window of " + counted(count, unit == WindowUnit::seconds ? "second" : "insertion");
}

std::uint64_t rounded_up(std::uint64_t count, std::uint64_t parts) {
  return count / parts + (count % parts != 0 ? 1 : 0);
}

// The checks that come before the window is rounded to a whole number of slices.
void check_window(WindowUnit unit, std::uint64_t window, std::uint64_t capacity, double fpr,
                  std::uint32_t slices) {
  if (unit != WindowUnit::insertions && unit != WindowUnit::seconds)
    refuse(Field::window, "unit " + std::to_string(static_cast<int>(unit)) +
                              " of a window is unknown; use insertions or seconds");
  if (slices == 0 || slices > kMaxSlices)
    refuse(Field::slices, counted(slices, "slice") + " are out of range; give 1 to 64");
  if (window < slices)
    refuse(Field::window, window_of(window, unit) + " cannot be cut into " +
                              counted(slices, "slice") + "; give a longer window" +
                              (window == 0 ? "" : " or at most " + counted(window, "slice")));
  // A stored window was rounded up to whole slices, from at most 2^64 - 65.
  if (window > rounded_up(UINT64_MAX - kMaxSlices, slices) * slices)
    refuse(ErrorCode::too_large, Field::window,
           window_of(window, unit) + " is above the limit of 2^64 - 65; give a shorter one");
  if (capacity == 0) refuse(Field::capacity, "capacity is 0; give at least 1 key in a window");
  if (capacity > kMaxCapacity)
    refuse(ErrorCode::too_large, Field::capacity,
           counted(capacity, "key") +
               " in a window are above the limit of 10^13; give a shorter {window}, or a lower "
               "{capacity}");
  if (unit == WindowUnit::insertions && capacity > rounded_up(window, slices) * slices)
    refuse(Field::capacity, "capacity " + grouped(capacity) + " is more than " +
                                window_of(window, unit) + " can hold; give at most as many");
  if (!(fpr > 0 && fpr < 1)) refuse(Field::fpr, fpr_of(fpr) + " is not between 0 and 1");
}

// A share that is below the least rate only because the division rounds is the least rate.
double fpr_of_slice(double fpr, std::uint32_t slices) {
  const double share = fpr / (slices + 1);
  return share > kMinFpr * (1 - 1e-12) ? std::max(share, kMinFpr) : share;
}

void check_window_layout(Layout layout) {
  if (layout != Layout::blocked && layout != Layout::blocked2)
    refuse(Field::layout, "a window filter cannot have layout " + std::string(to_string(layout)) +
                              "; use blocked or blocked2");
}

void check_bits(const Plan& slice, std::uint64_t ring_slices) {
  if (slice.bits > kMaxBits / ring_slices)
    refuse(ErrorCode::too_large, Field::capacity,
           counted(ring_slices, "slice") + " of " + counted(slice.bits, "bit") +
               " are above the limit of 2^40 bits (128 GiB) in all; split the set, or allow a "
               "higher false-positive rate");
}

}  // namespace

std::string_view to_string(WindowUnit unit) noexcept {
  switch (unit) {
    case WindowUnit::insertions:
      return "insertions";
    case WindowUnit::seconds:
      return "seconds";
  }
  return "unknown";
}

WindowPlan window_plan(WindowUnit unit, std::uint64_t window, std::uint64_t capacity, double fpr,
                       std::uint32_t slices, std::optional<Layout> layout) {
  check_window(unit, window, capacity, fpr, slices);
  const double share = fpr_of_slice(fpr, slices);
  if (!(fpr <= kMaxFpr && share >= kMinFpr))
    detail::refuse_fpr(fpr, "; with " + counted(slices, "slice"), kMinFpr * (slices + 1));
  if (layout) check_window_layout(*layout);
  const Layout taken = layout.value_or(share >= 1e-4 ? Layout::blocked : Layout::blocked2);
  const Plan slice = plan(rounded_up(capacity, slices), share, taken);
  check_bits(slice, slices + 1);
  return {slice, slices, unit, rounded_up(window, slices) * slices, capacity, fpr};
}

double predicted_fpr(const WindowPlan& plan, double items) {
  if (plan.unit == WindowUnit::insertions)
    items = std::min(items, static_cast<double>(plan.window));
  const double slice = predicted_fpr(plan.slice, items / plan.slices);
  return 0 - std::expm1(plan.ring_slices() * std::log1p(-slice));  // never -0
}

void validate(const WindowPlan& plan) {
  check_window(plan.unit, plan.window, plan.capacity, plan.fpr, plan.slices);
  if (plan.window % plan.slices != 0)
    refuse(Field::window, window_of(plan.window, plan.unit) + " is not a whole number of " +
                              counted(plan.slices, "slice"));
  validate(plan.slice);
  check_window_layout(plan.slice.layout);
  if (plan.slice.capacity != rounded_up(plan.capacity, plan.slices))
    refuse(Field::capacity, "slices for " + counted(plan.slice.capacity, "key") +
                                " do not fit a window of " + counted(plan.slices, "slice") +
                                " for " + grouped(plan.capacity));
  if (plan.slice.fpr != fpr_of_slice(plan.fpr, plan.slices))
    refuse(Field::fpr, "slices with " + fpr_of(plan.slice.fpr) + " do not fit a window of " +
                           counted(plan.slices, "slice") + " with " + fpr_of(plan.fpr));
  check_bits(plan.slice, plan.ring_slices());
}

}  // namespace bloomery
