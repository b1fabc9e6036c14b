// The sub-filters that follow from the first one.
#include <bloomery/error.hpp>
#include <bloomery/scalable_plan.hpp>

#include <array>
#include <cstdio>
#include <string>

namespace bloomery {

namespace {

std::string number(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

void check_numbers(double fpr, std::uint32_t growth, double tightening) {
  if (growth < 1 || growth > kMaxGrowth)
    throw Error(ErrorCode::invalid_argument, "growth " + std::to_string(growth) +
                                                 " is out of range; give a factor from 1 to 1000");
  if (!(tightening >= kMinTightening && tightening <= kMaxTightening))
    throw Error(
        ErrorCode::invalid_argument,
        "tightening " + number(tightening) + " is out of range; give a ratio from 0.25 to 0.95");
  if (!(fpr * (1 - tightening) >= kMinFpr && fpr <= kMaxFpr))
    throw Error(ErrorCode::invalid_argument,
                "rate " + number(fpr) +
                    " is out of range for a filter that grows; give a false-positive rate from " +
                    number(kMinFpr / (1 - tightening)) + " to 0.5");
}

[[noreturn]] void refuse_sub_filter(std::uint32_t sub_filter, const std::string& why) {
  throw Error(ErrorCode::too_large, "the filter cannot grow to " + std::to_string(sub_filter + 1) +
                                        " sub-filters: " + why +
                                        "; start with a larger capacity, or split the set");
}

// Products alone, so that every machine comes to the same number. With a share of at least
// 1e-15 what is left for later sub-filters is at least 1e-15 * r / (1 - r) > 3e-16, more than these
// roundings can add to the sum of the shares.
double share(const ScalablePlan& plan, std::uint32_t sub_filter) {
  double fpr = plan.fpr * (1 - plan.tightening);
  for (std::uint32_t i = 0; i < sub_filter; ++i) fpr *= plan.tightening;
  return fpr;
}

}  // namespace

ScalablePlan scalable_plan(std::uint64_t first_capacity, double fpr, std::uint32_t growth,
                           double tightening, std::optional<Layout> layout) {
  check_numbers(fpr, growth, tightening);
  const Layout chosen = layout.value_or(plan(1, fpr).layout);
  return {plan(first_capacity, fpr * (1 - tightening), chosen), growth, tightening, fpr};
}

std::uint64_t sub_filter_capacity(const ScalablePlan& plan, std::uint32_t sub_filter) {
  if (sub_filter >= kMaxSubFilters) refuse_sub_filter(sub_filter, "64 is the limit");
  std::uint64_t capacity = plan.first.capacity;
  for (std::uint32_t i = 0; i < sub_filter; ++i)
    if (plan.growth > 1 && (capacity *= plan.growth) > kMaxCapacity)
      refuse_sub_filter(sub_filter, "the last would have room for more than 10^13 keys");
  return capacity;
}

double sub_filter_fpr(const ScalablePlan& plan, std::uint32_t sub_filter) {
  if (sub_filter == 0) return plan.first.fpr;
  if (sub_filter >= kMaxSubFilters) refuse_sub_filter(sub_filter, "64 is the limit");
  const double fpr = share(plan, sub_filter);
  if (fpr < kMinFpr)
    refuse_sub_filter(sub_filter, "the last would have to keep to a rate of " + number(fpr) +
                                      ", and the lowest is 1e-15");
  return fpr;
}

Plan sub_filter_plan(const ScalablePlan& plan, std::uint32_t sub_filter) {
  if (sub_filter == 0) return plan.first;
  const std::uint64_t capacity = sub_filter_capacity(plan, sub_filter);
  const double fpr = sub_filter_fpr(plan, sub_filter);
  try {
    return bloomery::plan(capacity, fpr, plan.first.layout);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::too_large) throw;
    refuse_sub_filter(sub_filter, "the last would need more than 2^40 bits (128 GiB)");
  }
}

void validate(const ScalablePlan& plan) {
  validate(plan.first);
  check_numbers(plan.fpr, plan.growth, plan.tightening);
  if (plan.first.fpr > share(plan, 0))
    throw Error(ErrorCode::invalid_argument, "the first sub-filter has a rate of " +
                                                 number(plan.first.fpr) + ", above its share of " +
                                                 number(share(plan, 0)) +
                                                 "; make the plan with scalable_plan");
}

}  // namespace bloomery
