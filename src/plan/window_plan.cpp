// Window plans: a slice's share of the keys and of the rate, and what cannot be had.
#include <bloomery/error.hpp>
#include <bloomery/window_plan.hpp>

#include <array>
#include <cstdio>
#include <string>

namespace bloomery {

namespace {

[[noreturn]] void refuse(ErrorCode code, const std::string& message) { throw Error(code, message); }

std::string number(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

std::string in_units(std::uint64_t count, WindowUnit unit) {
  return std::to_string(count) + " " + std::string(to_string(unit));
}

std::uint64_t rounded_up(std::uint64_t count, std::uint64_t parts) {
  return count / parts + (count % parts != 0 ? 1 : 0);
}

// What can be said before the window is a whole number of slices.
void check_window(WindowUnit unit, std::uint64_t window, std::uint64_t capacity, double fpr,
                  std::uint32_t slices) {
  if (unit != WindowUnit::insertions && unit != WindowUnit::seconds)
    refuse(ErrorCode::invalid_argument, "unknown unit " + std::to_string(static_cast<int>(unit)) +
                                            " of a window; use insertions or seconds");
  if (slices == 0 || slices > kMaxSlices)
    refuse(ErrorCode::invalid_argument,
           std::to_string(slices) + " slices are out of range; give a window 1 to 64 slices");
  if (window < slices)
    refuse(ErrorCode::invalid_argument,
           "a window of " + in_units(window, unit) + " has no " + std::to_string(slices) +
               " slices; give a longer window" +
               (window == 0 ? "" : ", or at most " + std::to_string(window) + " slices"));
  if (window > UINT64_MAX - kMaxSlices)
    refuse(ErrorCode::too_large, "a window of " + in_units(window, unit) +
                                     " is above the limit of 2^64 - 65; give a shorter one");
  if (capacity == 0)
    refuse(ErrorCode::invalid_argument, "capacity is 0; give at least 1 item in a window");
  if (capacity > kMaxCapacity)
    refuse(ErrorCode::too_large,
           "capacity " + std::to_string(capacity) + " is above the limit of 10^13");
  if (unit == WindowUnit::insertions && capacity > rounded_up(window, slices) * slices)
    refuse(ErrorCode::invalid_argument, "capacity " + std::to_string(capacity) +
                                            " is more than a window of " + in_units(window, unit) +
                                            " can hold; give at most as many");
  if (!(fpr > 0 && fpr < 1))
    refuse(ErrorCode::invalid_argument, "rate " + number(fpr) + " is not between 0 and 1");
}

void check_bits(const Plan& slice, std::uint64_t ring_slices) {
  if (slice.bits > kMaxBits / ring_slices)
    refuse(ErrorCode::too_large, std::to_string(ring_slices) + " ring_slices of " +
                                     std::to_string(slice.bits) +
                                     " bits are above the limit of 2^40 bits (128 GiB) in all; "
                                     "split the set, or allow a higher rate");
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
  const double share = fpr / (slices + 1);
  if (!(fpr <= kMaxFpr && share >= kMinFpr))
    refuse(ErrorCode::invalid_argument, "rate " + number(fpr) + " is out of range; with " +
                                            std::to_string(slices) +
                                            " slices give a false-positive rate from " +
                                            number(kMinFpr * (slices + 1)) + " to 0.5");
  if (layout && *layout != Layout::blocked && *layout != Layout::blocked2)
    refuse(ErrorCode::invalid_argument, "layout " + std::string(to_string(*layout)) +
                                            " cannot be a window's; use blocked or blocked2");
  const Layout taken = layout.value_or(share >= 1e-4 ? Layout::blocked : Layout::blocked2);
  const Plan slice = plan(rounded_up(capacity, slices), share, taken);
  check_bits(slice, slices + 1);
  return {slice, slices, unit, rounded_up(window, slices) * slices, capacity, fpr};
}

void validate(const WindowPlan& plan) {
  check_window(plan.unit, plan.window, plan.capacity, plan.fpr, plan.slices);
  if (plan.window % plan.slices != 0)
    refuse(ErrorCode::invalid_argument, "a window of " + in_units(plan.window, plan.unit) +
                                            " is no whole number of " +
                                            std::to_string(plan.slices) + " slices");
  validate(plan.slice);
  if (plan.slice.layout != Layout::blocked && plan.slice.layout != Layout::blocked2)
    refuse(ErrorCode::invalid_argument, "layout " + std::string(to_string(plan.slice.layout)) +
                                            " cannot be a window's; use blocked or blocked2");
  if (plan.slice.capacity != rounded_up(plan.capacity, plan.slices))
    refuse(ErrorCode::invalid_argument,
           "slices for " + std::to_string(plan.slice.capacity) + " keys do not fit a window of " +
               std::to_string(plan.slices) + " slices for " + std::to_string(plan.capacity));
  if (plan.slice.fpr != plan.fpr / plan.ring_slices())
    refuse(ErrorCode::invalid_argument,
           "slices at a rate of " + number(plan.slice.fpr) + " do not fit a window of " +
               std::to_string(plan.slices) + " slices at " + number(plan.fpr));
  check_bits(plan.slice, plan.ring_slices());
}

}  // namespace bloomery
