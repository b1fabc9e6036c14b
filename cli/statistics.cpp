// Statistics of runs and filters, printed one way everywhere.
#include "statistics.hpp"

#include "output.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <variant>

namespace bloomery::cli {

namespace {

Plan whole_plan(const ScalableFilter& filter) {
  const Plan& newest = filter.sub_filters().back()->plan();
  return {newest.layout, filter.bits(), newest.hashes, filter.capacity(), filter.plan().fpr};
}

Plan whole_plan(const WindowFilter& filter) {
  const WindowPlan& plan = filter.plan();
  return {plan.slice.layout, plan.bytes() * 8, plan.slice.hashes, plan.capacity, plan.fpr};
}

ScalableState sub_filters_of(const ScalableFilter& filter) {
  ScalableState state{filter.plan().growth, {}};
  for (std::size_t i = 0; i < filter.sub_filters().size(); ++i) {
    const FilterView& sub_filter = *filter.sub_filters()[i];
    state.sub_filters.push_back({sub_filter.plan(), filter.inserted(i), sub_filter.current_fpr()});
  }
  return state;
}

std::string layout_text(const FilterState& state) {
  if (const auto* counting = std::get_if<CountingState>(&state.details))
    return fmt::format("counting, counters of {} bits", counting->counter_bits);
  if (const auto* scalable = std::get_if<ScalableState>(&state.details))
    return fmt::format("scalable, {}, {} sub-filter{}", to_string(state.plan.layout),
                       scalable->sub_filters.size(), scalable->sub_filters.size() == 1 ? "" : "s");
  if (const auto* window = std::get_if<WindowDetails>(&state.details))
    return fmt::format("window of {}, {}", window_text(window->plan), to_string(state.plan.layout));
  return std::string(to_string(state.plan.layout));
}

}  // namespace

std::string window_text(const WindowPlan& plan) { return length_text(plan.unit, plan.window); }

template <class Filter>
FilterState::FilterState(Kind which, const Plan& whole, const Filter& filter, Details more)
    : kind(which),
      plan(whole),
      bytes(which == Kind::counting ? counting_bytes(whole) : whole.bytes()),
      family(filter.hasher().family()),
      fill(filter.fill()),
      current_fpr(filter.current_fpr()),
      estimated_items(filter.estimated_items()),
      over_capacity(filter.over_capacity()),
      details(std::move(more)) {}

FilterState::FilterState(const FilterView& view)
    : FilterState(Kind::plain, view.plan(), view, {}) {}

FilterState::FilterState(const CountingView& view)
    : FilterState(Kind::counting, view.plan(), view,
                  CountingState{view.counter_bits(), view.saturated_counters()}) {}

FilterState::FilterState(const ScalableFilter& filter)
    : FilterState(Kind::scalable, whole_plan(filter), filter, sub_filters_of(filter)) {}

FilterState::FilterState(const WindowFilter& filter)
    : FilterState(Kind::window, whole_plan(filter), filter,
                  WindowDetails{filter.plan(), filter.live_slices()}) {}

namespace {

FilterState state_of(const FilterFile& file) {
  switch (file.kind()) {
    case Kind::plain:
      break;
    case Kind::counting:
      return FilterState(file.counting());
    case Kind::scalable:
      return FilterState(file.scalable());
    case Kind::window:
      return FilterState(file.window());
  }
  return FilterState(file.view());
}

}  // namespace

FilterState::FilterState(const FilterFile& file) : FilterState(state_of(file)) {}

FilterState::FilterState(const Plan& of, HashFamily of_hash, double ones, double items, double fpr,
                         bool over)
    : kind(Kind::plain),
      plan(of),
      bytes(of.bytes()),
      family(of_hash),
      fill(ones),
      current_fpr(fpr),
      estimated_items(items),
      over_capacity(over) {}

double FilterState::room_left() const noexcept {
  return std::max(0.0, static_cast<double>(plan.capacity) - estimated_items);
}

Json plan_json(const Plan& plan) {
  return {{"layout", to_string(plan.layout)},
          {"bits", plan.bits},
          {"bytes", plan.bytes()},
          {"hashes", plan.hashes},
          {"capacity", plan.capacity},
          {"fpr", plan.fpr},
          {"bits_per_key", plan.bits_per_key()}};
}

Json state_json(const FilterState& state) {
  Json json = {{"kind", to_string(state.kind)}};
  json.update(plan_json(state.plan));
  json["bits"] = state.bytes * 8;
  json["bytes"] = state.bytes;
  json["bits_per_key"] =
      static_cast<double>(state.bytes) * 8 / static_cast<double>(state.plan.capacity);
  json["hash"] = state.family == HashFamily::siphash ? "siphash" : "xxh3";
  json["fill"] = state.fill;
  json["current_fpr"] = state.current_fpr;
  json["estimated_items"] = state.estimated_items;
  json["room_left"] = state.room_left();
  json["over_capacity"] = state.over_capacity;
  if (const auto* counting = std::get_if<CountingState>(&state.details)) {
    json["counters"] = state.plan.bits;
    json["counter_bits"] = counting->counter_bits;
    json["saturated_cells"] = counting->saturated;
  } else if (const auto* scalable = std::get_if<ScalableState>(&state.details)) {
    json["growth"] = scalable->growth;
    json["sub_filters"] = Json::array();
    for (const ScalableState::SubFilter& sub_filter : scalable->sub_filters) {
      Json one = plan_json(sub_filter.plan);
      one["inserted"] = sub_filter.inserted;
      one["current_fpr"] = sub_filter.current_fpr;
      json["sub_filters"].push_back(one);
    }
  } else if (const auto* window = std::get_if<WindowDetails>(&state.details)) {
    json["unit"] = to_string(window->plan.unit);
    json["window"] = window->plan.window;
    json["slices"] = window->plan.slices;
    json["slice_length"] = window->plan.slice_length();
    json["live_slices"] = window->live_slices;
  }
  return json;
}

Json stream_json(const StreamResult& stream) {
  Json json = {{"lines", stream.lines}, {"bytes", stream.bytes}, {"seconds", stream.seconds}};
  if (stream.signal != 0) json["signal"] = stream.signal;
  return json;
}

std::string seed_text(const Hasher& hasher) {
  if (hasher.family() == HashFamily::siphash) return "secret";
  return fmt::format("{:#x}", hasher.seed().low);
}

std::string hash_text(const Hasher& hasher) {
  return fmt::format("{}, seed {}", hasher.family() == HashFamily::siphash ? "siphash" : "xxh3",
                     seed_text(hasher));
}

std::string plan_text(const FilterState& state) {
  return fmt::format("{}, {}, for {} at {}", layout_text(state),
                     bytes_text(static_cast<double>(state.bytes)),
                     counted(state.plan.capacity, "key"), fpr_text(state.plan.fpr));
}

void remark_stream(const StreamResult& stream, const std::string& outcome) {
  const double seconds = std::max(stream.seconds, 1e-9);
  remark(fmt::format("{} lines, {}; {} in {} ({:.3g} M lines/s){}", group_digits(stream.lines),
                     outcome, bytes_text(static_cast<double>(stream.bytes)),
                     duration_text(stream.seconds),
                     static_cast<double>(stream.lines) / seconds / 1e6,
                     stream.signal != 0 ? "; stopped by a signal" : ""));
}

std::string state_text(const FilterState& state) {
  return fmt::format("filter: {}; {} of the {} are {}, current fpr {}", plan_text(state),
                     share_text(state.fill), state.kind == Kind::counting ? "counters" : "bits",
                     state.kind == Kind::counting ? "in use" : "ones", fpr_text(state.current_fpr));
}

std::string overfull_text(const FilterState& state, const std::string& mend) {
  if (!state.over_capacity) return {};
  if (state.kind == Kind::window)
    return fmt::format(
        "warning: a slice of the window holds more keys than its share of the {} "
        "that it was planned for: its false-positive rate is now {}, not {}; {}",
        group_digits(state.plan.capacity), fpr_text(state.current_fpr), fpr_text(state.plan.fpr),
        mend);
  const std::string keys = std::isfinite(state.estimated_items)
                               ? fmt::format("about {} keys", group_digits(state.estimated_items))
                               : "more keys than can be estimated";
  return fmt::format(
      "warning: the filter holds {} and was planned for {}: its false-positive rate is "
      "now {}, not {}; {}",
      keys, group_digits(state.plan.capacity), fpr_text(state.current_fpr),
      fpr_text(state.plan.fpr), mend);
}

Standing standing_of(const FilterState& state, const std::string& mend) {
  return {state_json(state), state_text(state), overfull_text(state, mend)};
}

void remark_state(const FilterState& state) { remark(state_text(state)); }

void warn_if_overfull(const FilterState& state, const std::string& mend) {
  if (state.over_capacity) remark(overfull_text(state, mend));
}

void warn_if_overfull(const Standing& standing) {
  if (!standing.warning.empty()) remark(standing.warning);
}

int exit_code(const StreamResult& stream, std::uint64_t found) {
  if (stream.signal != 0) return kExitSignal + stream.signal;
  return found > 0 ? kExitFound : kExitNothing;
}

}  // namespace bloomery::cli
