// The plan of each kind, from a request.
#include <bloomery/spec.hpp>

#include <string>

#include "plan/refuse.hpp"

namespace bloomery {

namespace {

using detail::refuse;
using Field = PlanField;

std::string filter_of(Kind kind) { return "a " + std::string(to_string(kind)) + " filter"; }

Kind kind_in(const FilterSpec& spec) noexcept { return spec.kind.value_or(Kind::plain); }

// The same for layout, bits and hashes; a module has rules of its own for these.
void refuse_foreign_bits(const FilterSpec& spec) {
  const Kind kind = kind_in(spec);
  if (kind == Kind::plain || kind == Kind::counting) return;
  if (spec.layout && kind == Kind::frozen)
    refuse(Field::layout,
           "{layout} cannot be chosen for a frozen filter, which has cells of its own");
  if (spec.bits || spec.hashes)
    refuse(spec.bits ? Field::bits : Field::hashes,
           std::string(spec.bits ? "{bits}" : "{hashes}") + " cannot be chosen for " +
               filter_of(kind) + ", which is planned from {capacity} and {fpr}");
}

void require(bool given, Field field, const char* what) {
  if (!given) refuse(field, what);
}

FilterPlan scalable(const FilterSpec& spec) {
  require(spec.capacity.has_value(), Field::capacity,
          "{capacity} is missing: how many different keys to expect at first");
  require(spec.fpr.has_value(), Field::fpr,
          "{fpr} is missing: how often the scalable filter may take an absent key for present");
  return scalable_plan(*spec.capacity, *spec.fpr, spec.growth.value_or(kDefaultGrowth),
                       kDefaultTightening, spec.layout);
}

FilterPlan window(const FilterSpec& spec) {
  require(spec.window.has_value(), Field::window,
          "{window} is missing: how long a key is remembered");
  const auto [unit, length] = *spec.window;
  require(spec.capacity || unit == WindowUnit::insertions, Field::capacity,
          "{capacity} is missing: how many different keys there may be within the window");
  require(spec.fpr.has_value(), Field::fpr,
          "{fpr} is missing: how often the window filter may take an absent key for present");
  return window_plan(unit, length, spec.capacity.value_or(length), *spec.fpr,
                     spec.slices.value_or(kDefaultSlices), spec.layout);
}

FrozenPlan frozen(const FilterSpec& spec) {
  require(spec.fpr.has_value(), Field::fpr,
          "{fpr} is missing: how often the frozen filter may take an absent key for present");
  const std::uint64_t keys = spec.capacity.value_or(1);
  return spec.delta ? frozen_plan(keys, *spec.fpr, *spec.delta) : frozen_plan(keys, *spec.fpr);
}

PlanTotals totals_of(Kind kind, const Plan& part) {
  return {kind, part.layout, part.hashes, part.bytes(), part.capacity, part.fpr};
}

}  // namespace

void detail::refuse_foreign(const FilterSpec& spec, Kind kind) {
  const auto refuse_if = [&](bool given, Field field, const char* name, Kind owner) {
    if (given && kind != owner)
      refuse(field, std::string(name) + " is for " + filter_of(owner) + ", not " + filter_of(kind));
  };
  refuse_if(spec.counter_bits.has_value(), Field::counter_bits, "{counter_bits}", Kind::counting);
  refuse_if(spec.growth.has_value(), Field::growth, "{growth}", Kind::scalable);
  refuse_if(spec.window.has_value(), Field::window, "{window}", Kind::window);
  refuse_if(spec.slices.has_value(), Field::slices, "{slices}", Kind::window);
  refuse_if(spec.delta.has_value(), Field::delta, "{delta}", Kind::frozen);
}

FilterPlan plan(const FilterSpec& spec) {
  detail::refuse_foreign(spec, kind_in(spec));
  refuse_foreign_bits(spec);
  const PlanRequest request{spec.capacity, spec.fpr, spec.bits, spec.hashes, spec.layout};
  switch (kind_in(spec)) {
    case Kind::plain:
      return solve(request);
    case Kind::counting:
      return counting_plan(request, spec.counter_bits.value_or(kDefaultCounterBits));
    case Kind::scalable:
      return scalable(spec);
    case Kind::window:
      return window(spec);
    case Kind::frozen:
      return frozen(spec);
  }
  refuse(Field::kind, "{kind} " + std::to_string(static_cast<int>(kind_in(spec))) + " is unknown");
}

FilterSpec spec_of(const FilterPlan& plan) {
  const Kind kind = kind_of(plan);
  switch (kind) {
    case Kind::plain: {
      const Plan& it = std::get<Plan>(plan);
      return {.kind = kind, .capacity = it.capacity, .fpr = it.fpr, .layout = it.layout};
    }
    case Kind::counting: {
      const Plan& it = std::get<CountingPlan>(plan).plan;
      return {.kind = kind,
              .capacity = it.capacity,
              .fpr = it.fpr,
              .counter_bits = counter_bits(it.layout)};
    }
    case Kind::scalable: {
      const ScalablePlan& it = std::get<ScalablePlan>(plan);
      return {.kind = kind,
              .capacity = it.first.capacity,
              .fpr = it.fpr,
              .layout = it.first.layout,
              .growth = it.growth};
    }
    case Kind::frozen: {
      const FrozenPlan& it = std::get<FrozenPlan>(plan);
      FilterSpec spec{.kind = kind, .capacity = it.array.capacity, .fpr = it.array.fpr};
      if (it.delta) spec.delta = it.delta->capacity;
      return spec;
    }
    case Kind::window:
      break;
  }
  const WindowPlan& it = std::get<WindowPlan>(plan);
  return {.kind = kind,
          .capacity = it.capacity,
          .fpr = it.fpr,
          .layout = it.slice.layout,
          .window = Window{it.unit, it.window},
          .slices = it.slices};
}

PlanTotals totals(const FilterPlan& plan) noexcept {
  struct Visitor {
    PlanTotals operator()(const Plan& it) const { return totals_of(Kind::plain, it); }
    PlanTotals operator()(const CountingPlan& it) const {
      PlanTotals all = totals_of(Kind::counting, it.plan);
      all.bytes = it.bytes();
      return all;
    }
    PlanTotals operator()(const ScalablePlan& it) const {
      PlanTotals all = totals_of(Kind::scalable, it.first);
      all.fpr = it.fpr;
      return all;
    }
    PlanTotals operator()(const WindowPlan& it) const {
      return {Kind::window, it.slice.layout, it.slice.hashes, it.bytes(), it.capacity, it.fpr};
    }
    PlanTotals operator()(const FrozenPlan& it) const {
      PlanTotals all = totals_of(Kind::frozen, it.array);
      all.bytes = it.bytes();
      return all;
    }
  };
  return std::visit(Visitor{}, plan);
}

double predicted_fpr(const FilterPlan& plan, double items) {
  return std::visit([&](const auto& it) { return predicted_fpr(it, items); }, plan);
}

}  // namespace bloomery
