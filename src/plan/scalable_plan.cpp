// The layers that follow from the first one.
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

void check_numbers(double rate, std::uint32_t growth, double tightening) {
  if (growth < 1 || growth > kMaxGrowth)
    throw Error(ErrorCode::invalid_argument, "growth " + std::to_string(growth) +
                                                 " is out of range; give a factor from 1 to 1000");
  if (!(tightening >= kMinTightening && tightening <= kMaxTightening))
    throw Error(
        ErrorCode::invalid_argument,
        "tightening " + number(tightening) + " is out of range; give a ratio from 0.25 to 0.95");
  if (!(rate * (1 - tightening) >= kMinRate && rate <= kMaxRate))
    throw Error(ErrorCode::invalid_argument,
                "rate " + number(rate) +
                    " is out of range for a filter that grows; give a false-positive rate from " +
                    number(kMinRate / (1 - tightening)) + " to 0.5");
}

[[noreturn]] void refuse_layer(std::uint32_t layer, const std::string& why) {
  throw Error(ErrorCode::too_large, "the filter cannot grow to " + std::to_string(layer + 1) +
                                        " layers: " + why +
                                        "; start with a larger capacity, or split the set");
}

// Products alone, so that every machine comes to the same number. With a share of at least
// 1e-15 what is left for later layers is at least 1e-15 * r / (1 - r) > 3e-16, more than these
// roundings can add to the sum of the shares.
double share(const ScalablePlan& plan, std::uint32_t layer) {
  double rate = plan.rate * (1 - plan.tightening);
  for (std::uint32_t i = 0; i < layer; ++i) rate *= plan.tightening;
  return rate;
}

}  // namespace

ScalablePlan scalable_plan(std::uint64_t first_capacity, double rate, std::uint32_t growth,
                           double tightening, std::optional<Layout> layout) {
  check_numbers(rate, growth, tightening);
  const Layout chosen = layout.value_or(plan(1, rate).layout);
  return {plan(first_capacity, rate * (1 - tightening), chosen), growth, tightening, rate};
}

std::uint64_t layer_capacity(const ScalablePlan& plan, std::uint32_t layer) {
  if (layer >= kMaxLayers) refuse_layer(layer, "64 is the limit");
  std::uint64_t capacity = plan.first.capacity;
  for (std::uint32_t i = 0; i < layer; ++i)
    if (plan.growth > 1 && (capacity *= plan.growth) > kMaxCapacity)
      refuse_layer(layer, "the last would have room for more than 10^13 keys");
  return capacity;
}

double layer_rate(const ScalablePlan& plan, std::uint32_t layer) {
  if (layer == 0) return plan.first.rate;
  if (layer >= kMaxLayers) refuse_layer(layer, "64 is the limit");
  const double rate = share(plan, layer);
  if (rate < kMinRate)
    refuse_layer(layer, "the last would have to keep to a rate of " + number(rate) +
                            ", and the lowest is 1e-15");
  return rate;
}

Plan layer_plan(const ScalablePlan& plan, std::uint32_t layer) {
  if (layer == 0) return plan.first;
  const std::uint64_t capacity = layer_capacity(plan, layer);
  const double rate = layer_rate(plan, layer);
  try {
    return bloomery::plan(capacity, rate, plan.first.layout);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::too_large) throw;
    refuse_layer(layer, "the last would need more than 2^40 bits (128 GiB)");
  }
}

void validate(const ScalablePlan& plan) {
  validate(plan.first);
  check_numbers(plan.rate, plan.growth, plan.tightening);
  if (plan.first.rate > share(plan, 0))
    throw Error(ErrorCode::invalid_argument, "the first layer has a rate of " +
                                                 number(plan.first.rate) + ", above its share of " +
                                                 number(share(plan, 0)) +
                                                 "; make the plan with scalable_plan");
}

}  // namespace bloomery
