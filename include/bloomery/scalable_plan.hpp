// The plan of a scalable filter: its first sub-filter, and how the others follow from it.
//
// Sub-filter i has room for first.capacity * growth^i keys. Its share of the total false-positive
// rate p falls by the tightening ratio r from one sub-filter to the next: p (1 - r) r^i. An absent key
// is answered "maybe" when any sub-filter does so, with a probability of at most the sum of the
// shares, which stays below p however many sub-filters there are.
//
// The default ratio needs nearly the least memory at 1,000 times the first capacity, for growth
// 2, 4 and 8 alike. A lower ratio needs less memory before the filter grows and more after it: at p =
// 0.001 and growth 2, in bits per key at 1, 10, 100 and 1,000 times the first capacity,
//
//   r = 0.5    17.5  22.1  28.6  36.5
//   r = 0.85   20.9  22.1  23.5  25.1    (a plain filter of the right size: 15.6)
//
// All ratios, and how the time of a look-up grows: docs/configuration.md.
//
// Source: Almeida, Baquero, Preguiça and Hutchison, "Scalable Bloom Filters" (2007).
#pragma once

#include <bloomery/plan.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bloomery {

constexpr std::uint32_t kMaxSubFilters = 64;
constexpr std::uint32_t kDefaultGrowth = 2;
constexpr std::uint32_t kMaxGrowth = 1000;
constexpr double kDefaultTightening = 0.85;
constexpr double kMinTightening = 0.25;
constexpr double kMaxTightening = 0.95;

// The least ratio for a new filter. A key that looks present takes no room, so a full sub-filter has the bits of more
// keys than its capacity. If the rate is high, the small shares that a low ratio leaves for later sub-filters do not
// make up for that, and the real rate is above the stated one.
[[nodiscard]] constexpr double min_tightening(double fpr) noexcept {
  return fpr > 0.05 ? 0.45 : kMinTightening;
}

// Invariant of a valid plan: `first` is a valid plan with first.fpr <= fpr * (1 - tightening),
// growth is in [1, 1000], tightening in [0.25, 0.95], fpr in [1e-15, 0.5].
struct ScalablePlan {
  Plan first;
  std::uint32_t growth = kDefaultGrowth;
  double tightening = kDefaultTightening;
  double fpr = 0;  // the stated false-positive rate of all sub-filters together
  friend bool operator==(const ScalablePlan&, const ScalablePlan&) = default;
};

// By default every sub-filter has the layout that plan() chooses for the total fpr.
// PlanError: one of the numbers is out of range, the tightening is below min_tightening(fpr), or the first sub-filter
// would be too large.
[[nodiscard]] ScalablePlan scalable_plan(std::uint64_t first_capacity, double fpr,
                                         std::uint32_t growth = kDefaultGrowth,
                                         double tightening = kDefaultTightening,
                                         std::optional<Layout> layout = std::nullopt);

// The plan of sub-filter i, counted from 0: it depends on its arguments alone.
// PlanError{too_large}: this sub-filter is impossible. It would be the 65th, or have more than 10^13
// keys or 2^40 bits, or a share of the fpr below 1e-15.
[[nodiscard]] Plan sub_filter_plan(const ScalablePlan& plan, std::uint32_t sub_filter);
// The capacity of that sub-filter alone, and its share of the fpr alone. Errors as sub_filter_plan,
// except for the bits.
[[nodiscard]] std::uint64_t sub_filter_capacity(const ScalablePlan& plan, std::uint32_t sub_filter);
[[nodiscard]] double sub_filter_fpr(const ScalablePlan& plan, std::uint32_t sub_filter);

// The sub-filters of a filter with `items` distinct keys, at least one. If the filter cannot grow that far, the
// result is all sub-filters that it can have; so infinity gives all of them.
[[nodiscard]] std::vector<Plan> sub_filter_plans(const ScalablePlan& plan, double items);

// The fpr of a filter with `items` distinct keys, in the sub-filters that it then has.
// PlanError{too_large}: it cannot grow so far.
[[nodiscard]] double predicted_fpr(const ScalablePlan& plan, double items);
// The same for given sub-filters; keys beyond their capacity are ignored.
[[nodiscard]] double predicted_fpr(std::span<const Plan> sub_filters, double items);

// PlanError unless the plan's invariant holds.
void validate(const ScalablePlan& plan);

}  // namespace bloomery
