// A request for a filter of any kind, and its plan.
//
//   bloomery::FilterPlan it = bloomery::plan({.kind = bloomery::Kind::window,
//                                             .capacity = 1'000'000,
//                                             .fpr = 0.001,
//                                             .window = bloomery::Window{
//                                                 bloomery::WindowUnit::seconds, 7 * 86'400}});
//
//   kind      needs                                          may have
//   plain     two of capacity, fpr, bits, hashes (plan.hpp)  the others, layout
//   counting  the same; bits are the memory, all counters    the others, counter_bits
//             together
//   scalable  capacity (of the first sub-filter), fpr        growth, layout
//   window    window, fpr, and capacity (the keys within     slices, layout (blocked, blocked2)
//             a window) unless the window is a number of
//             insertions, which are then its keys
//   frozen    fpr; capacity (the different keys) for the     delta: the keys that may be added before it is
//             size, which building does not need              built again
//
// The command-line tool, the planner page and filter files all use plan(FilterSpec).
#pragma once

#include <bloomery/counting_plan.hpp>
#include <bloomery/frozen_plan.hpp>
#include <bloomery/kind.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/scalable_plan.hpp>
#include <bloomery/window_plan.hpp>

#include <cstdint>
#include <optional>

namespace bloomery {

struct FilterSpec {
  // nullopt means the default of the place: plain in memory and in files, scalable in a module (any_filter.hpp).
  std::optional<Kind> kind{};
  std::optional<std::uint64_t> capacity{};
  std::optional<double> fpr{};
  std::optional<std::uint64_t> bits{};
  std::optional<std::uint32_t> hashes{};
  std::optional<Layout> layout{};
  std::optional<std::uint32_t> counter_bits{};
  std::optional<std::uint32_t> growth{};
  std::optional<Window> window{};
  std::optional<std::uint32_t> slices{};
  std::optional<std::uint64_t> delta{};

  friend bool operator==(const FilterSpec&, const FilterSpec&) = default;
};

// PlanError: a number is missing, is out of range, contradicts the others, or does not apply to the kind.
[[nodiscard]] FilterPlan plan(const FilterSpec& spec);

// The spec of this plan: its kind, capacity, fpr and the other numbers of that kind. plan() makes the same plan of it,
// unless that was made from its bits or hashes, or with a tightening of its own, which no spec has.
[[nodiscard]] FilterSpec spec_of(const FilterPlan& plan);

// The totals of a plan of any kind.
struct PlanTotals {
  Kind kind = Kind::plain;
  Layout layout = Layout::blocked;
  std::uint32_t hashes = 0;    // bits that a key sets, in a sub-filter or slice
  std::uint64_t bytes = 0;     // memory; of a scalable filter before it grows
  std::uint64_t capacity = 0;  // of a scalable filter before it grows
  double fpr = 0;              // stated

  [[nodiscard]] double bits_per_key() const noexcept {
    return 8 * static_cast<double>(bytes) / static_cast<double>(capacity);
  }
};
[[nodiscard]] PlanTotals totals(const FilterPlan& plan) noexcept;

// The fpr with `items` distinct keys in the filter (for a window filter: in the window).
// PlanError{too_large}: a scalable filter cannot grow so far.
[[nodiscard]] double predicted_fpr(const FilterPlan& plan, double items);

}  // namespace bloomery
