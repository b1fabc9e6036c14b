// Flags and plans, from one to the other, and the clock of windows.
#include "kinds.hpp"

#include "seen.hpp"

#include <fmt/format.h>

#include <chrono>

namespace bloomery::cli {

std::string_view flag_of(PlanField field) {
  switch (field) {
    case PlanField::kind:
      return "--kind";
    case PlanField::capacity:
      return "-n";
    case PlanField::fpr:
      return "-p";
    case PlanField::bits:
      return "--bits";
    case PlanField::hashes:
      return "--hashes";
    case PlanField::layout:
      return "--layout";
    case PlanField::counter_bits:
      return "--counter-bits";
    case PlanField::growth:
      return "--growth";
    case PlanField::tightening:
      break;
    case PlanField::window:
      return "--window";
    case PlanField::slices:
      return "--slices";
  }
  return "tightening";
}

FilterPlan dedup_plan(const Options& options) {
  Options with = options;
  if (!with.fpr) with.fpr = kDedupFpr;
  return plan(with.spec());
}

FilterPlan plan_of(const FilterFile& file) {
  switch (file.kind()) {
    case Kind::plain:
      break;
    case Kind::counting:
      return CountingPlan{file.counting().plan()};
    case Kind::scalable:
      return file.scalable().plan();
    case Kind::window:
      return file.window().plan();
  }
  return file.view().plan();
}

Options completed(Options options, const Plan& plan) {
  options.kind = Kind::plain;
  if (!options.items && !(options.bits && options.fpr)) options.items = plan.capacity;
  if (!options.fpr && !options.bits) options.fpr = plan.fpr;
  if (!options.layout) options.layout = plan.layout;
  return options;
}

Options completed(Options options, const FilterFile& file) {
  const Kind kind = options.kind.value_or(file.kind());
  const bool same = kind == file.kind();
  options.kind = kind;
  const auto fill = [&](std::uint64_t items, double fpr) {
    if (!options.items && !(options.bits && options.fpr)) options.items = items;
    if (!options.fpr && !options.bits) options.fpr = fpr;
  };
  const auto keep_layout = [&](Layout layout) {
    if (!options.layout && kind != Kind::counting) options.layout = layout;
  };
  switch (file.kind()) {
    case Kind::plain:
      fill(file.view().plan().capacity, file.view().plan().fpr);
      if (same) keep_layout(file.view().plan().layout);
      break;
    case Kind::counting:
      fill(file.counting().plan().capacity, file.counting().plan().fpr);
      if (same && !options.counter_bits) options.counter_bits = file.counting().counter_bits();
      break;
    case Kind::scalable: {
      const ScalablePlan& plan = file.scalable().plan();
      // As many as it has come to hold: sub-filters are what one would be rid of.
      fill(file.scalable().capacity(), plan.fpr);
      if (same && !options.growth) options.growth = plan.growth;
      if (same) keep_layout(plan.first.layout);
      break;
    }
    case Kind::window: {
      const WindowPlan& plan = file.window().plan();
      const bool new_window = options.window && options.window->unit == WindowUnit::insertions;
      if (!new_window || options.items) fill(plan.capacity, plan.fpr);
      if (!options.fpr) options.fpr = plan.fpr;
      if (same && !options.window) options.window = Window{plan.unit, plan.window};
      if (same && !options.slices) options.slices = plan.slices;
      if (same) keep_layout(plan.slice.layout);
      break;
    }
  }
  return options;
}

std::uint64_t seconds_now() {
  using namespace std::chrono;
  return static_cast<std::uint64_t>(
      duration_cast<seconds>(system_clock::now().time_since_epoch()).count());
}

bool is_late(const WindowFilter& filter, std::uint64_t now) noexcept {
  if (filter.plan().unit != WindowUnit::seconds) return false;
  const std::uint64_t length = filter.plan().slice_length();
  return now > filter.now() && (filter.now() == 0 || now / length != filter.now() / length);
}

void keep_time(FilterFile& file) {
  if (file.kind() != Kind::window) return;
  const std::uint64_t now = seconds_now();
  if (is_late(file.window(), now)) file.advance(now);
}

}  // namespace bloomery::cli
