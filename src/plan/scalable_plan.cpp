// The sub-filters that follow from the first one.
#include <bloomery/scalable_plan.hpp>

#include <algorithm>
#include <string>

#include "plan/layouts.hpp"
#include "plan/refuse.hpp"

namespace bloomery {

namespace {

using detail::number;
using detail::refuse;

void check_numbers(double fpr, std::uint32_t growth, double tightening) {
  if (growth < 1 || growth > kMaxGrowth)
    refuse(PlanField::growth,
           "growth " + detail::grouped(growth) + " is out of range; give a factor from 1 to 1000");
  if (!(tightening >= kMinTightening && tightening <= kMaxTightening))
    refuse(PlanField::tightening,
           "tightening " + number(tightening) + " is out of range; give a ratio from 0.25 to 0.95");
  if (!(fpr * (1 - tightening) >= kMinFpr && fpr <= kMaxFpr))
    detail::refuse_fpr(fpr, " for a filter that grows;",
                       detail::rounded_up(kMinFpr / (1 - tightening)));
}

[[noreturn]] void refuse_sub_filter(std::uint32_t sub_filter, const std::string& why) {
  refuse(ErrorCode::too_large, PlanField::capacity,
         "the filter cannot grow to " + detail::counted(sub_filter + 1, "sub-filter") + ": " + why +
             "; start with a larger capacity, or split the set");
}

// It uses products only, so that every machine gets the same number. With a share of at least 1e-15,
// the rest for later sub-filters is at least 1e-15 * r / (1 - r) > 3e-16: more than the roundings here
// can add to the sum of the shares.
double share(const ScalablePlan& plan, std::uint32_t sub_filter) {
  double fpr = plan.fpr * (1 - plan.tightening);
  for (std::uint32_t i = 0; i < sub_filter; ++i) fpr *= plan.tightening;
  return fpr;
}

// nullopt beyond the limit.
std::optional<std::uint64_t> capacity_of(const ScalablePlan& plan, std::uint32_t sub_filter) {
  std::uint64_t capacity = plan.first.capacity;
  for (std::uint32_t i = 0; i < sub_filter; ++i)
    if (plan.growth > 1 && (capacity *= plan.growth) > kMaxCapacity) return std::nullopt;
  return capacity;
}

}  // namespace

ScalablePlan scalable_plan(std::uint64_t first_capacity, double fpr, std::uint32_t growth,
                           double tightening, std::optional<Layout> layout) {
  check_numbers(fpr, growth, tightening);
  if (tightening < min_tightening(fpr))
    refuse(PlanField::tightening, "tightening " + number(tightening) +
                                      " is too low for a false-positive rate above 0.05; give a "
                                      "ratio from 0.45");
  const Layout chosen = layout.value_or(detail::default_layout(fpr));
  return {plan(first_capacity, fpr * (1 - tightening), chosen), growth, tightening, fpr};
}

std::uint64_t sub_filter_capacity(const ScalablePlan& plan, std::uint32_t sub_filter) {
  if (sub_filter >= kMaxSubFilters) refuse_sub_filter(sub_filter, "64 is the limit");
  if (const auto capacity = capacity_of(plan, sub_filter)) return *capacity;
  refuse_sub_filter(sub_filter, "the last would have room for more than 10^13 keys");
}

double sub_filter_fpr(const ScalablePlan& plan, std::uint32_t sub_filter) {
  if (sub_filter == 0) return plan.first.fpr;
  if (sub_filter >= kMaxSubFilters) refuse_sub_filter(sub_filter, "64 is the limit");
  const double fpr = share(plan, sub_filter);
  if (fpr < kMinFpr)
    refuse_sub_filter(sub_filter, "the last would need a false-positive rate of " + number(fpr) +
                                      ", and the lowest is 1e-15");
  return fpr;
}

Plan sub_filter_plan(const ScalablePlan& plan, std::uint32_t sub_filter) {
  if (sub_filter == 0) return plan.first;
  const std::uint64_t capacity = sub_filter_capacity(plan, sub_filter);
  const double fpr = sub_filter_fpr(plan, sub_filter);
  if (const auto found = detail::smallest_plan(plan.first.layout, capacity, fpr)) return *found;
  refuse_sub_filter(sub_filter, "the last would need more than 2^40 bits (128 GiB)");
}

std::vector<Plan> sub_filter_plans(const ScalablePlan& plan, double items) {
  std::vector<Plan> plans{plan.first};
  double left = items - static_cast<double>(plan.first.capacity);
  for (std::uint32_t i = 1; i < kMaxSubFilters && left > 0; ++i) {
    const auto capacity = capacity_of(plan, i);
    const double fpr = share(plan, i);
    if (!capacity || fpr < kMinFpr) break;
    const auto next = detail::smallest_plan(plan.first.layout, *capacity, fpr);
    if (!next) break;
    plans.push_back(*next);
    left -= static_cast<double>(*capacity);
  }
  return plans;
}

double predicted_fpr(std::span<const Plan> sub_filters, double items) {
  double none = 1;  // the probability that no sub-filter answers "maybe"
  for (const Plan& sub_filter : sub_filters) {
    const double here = std::min(items, static_cast<double>(sub_filter.capacity));
    none *= 1 - predicted_fpr(sub_filter, here);
    items -= here;
  }
  return 1 - none;
}

double predicted_fpr(const ScalablePlan& plan, double items) {
  const std::vector<Plan> sub_filters = sub_filter_plans(plan, items);
  double room = 0;
  for (const Plan& sub_filter : sub_filters) room += static_cast<double>(sub_filter.capacity);
  // sub_filter_plan throws the reason why there is no further sub-filter.
  if (room < items) (void)sub_filter_plan(plan, static_cast<std::uint32_t>(sub_filters.size()));
  return predicted_fpr(std::span(sub_filters), items);
}

void validate(const ScalablePlan& plan) {
  validate(plan.first);
  check_numbers(plan.fpr, plan.growth, plan.tightening);
  if (plan.first.fpr > share(plan, 0))
    refuse(PlanField::fpr, "the first sub-filter has a false-positive rate of " +
                               number(plan.first.fpr) + ", above its share of " +
                               number(share(plan, 0)) + "; make the plan with scalable_plan");
}

}  // namespace bloomery
