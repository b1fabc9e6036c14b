// Statistics of runs and filters, printed one way everywhere.
#include "statistics.hpp"

#include "output.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bloomery::cli {

FilterState::FilterState(const FilterView& view)
    : plan(view.plan()),
      family(view.hasher().family()),
      fill(view.fill()),
      rate_now(view.rate_now()),
      estimated_items(view.estimated_items()),
      overfull(view.overfull()) {}

FilterState::FilterState(const ScalableFilter& filter)
    : plan{.layout = filter.plan().first.layout,
           .bits = filter.bits(),
           .hashes = filter.layers().back()->plan().hashes,
           .capacity = filter.capacity(),
           .rate = filter.plan().rate},
      family(filter.hasher().family()),
      fill(filter.fill()),
      rate_now(filter.rate_now()),
      estimated_items(filter.estimated_items()),
      overfull(filter.overfull()) {}

double FilterState::room_left() const noexcept {
  return std::max(0.0, static_cast<double>(plan.capacity) - estimated_items);
}

Json plan_json(const Plan& plan) {
  return {{"layout", to_string(plan.layout)},
          {"bits", plan.bits},
          {"bytes", plan.bytes()},
          {"hashes", plan.hashes},
          {"capacity", plan.capacity},
          {"rate", plan.rate},
          {"bits_per_key", plan.bits_per_key()}};
}

Json state_json(const FilterState& state) {
  Json json = plan_json(state.plan);
  json["hash"] = state.family == HashFamily::siphash ? "siphash" : "xxh3";
  json["fill"] = state.fill;
  json["rate_now"] = state.rate_now;
  json["estimated_items"] = state.estimated_items;
  json["room_left"] = state.room_left();
  json["overfull"] = state.overfull;
  return json;
}

Json stream_json(const StreamResult& stream) {
  Json json = {{"lines", stream.lines}, {"bytes", stream.bytes}, {"seconds", stream.seconds}};
  if (stream.signal != 0) json["signal"] = stream.signal;
  return json;
}

std::string plan_text(const Plan& plan) {
  return fmt::format("{}, {}, for {} keys at {}", to_string(plan.layout),
                     bytes_text(static_cast<double>(plan.bytes())), group_digits(plan.capacity),
                     rate_text(plan.rate));
}

void remark_stream(const StreamResult& stream, const std::string& outcome) {
  const double seconds = std::max(stream.seconds, 1e-9);
  remark(fmt::format("{} lines, {}; {} in {} ({:.3g} M lines/s){}", group_digits(stream.lines),
                     outcome, bytes_text(static_cast<double>(stream.bytes)),
                     duration_text(stream.seconds),
                     static_cast<double>(stream.lines) / seconds / 1e6,
                     stream.signal != 0 ? "; stopped by a signal" : ""));
}

void remark_state(const FilterState& state) {
  remark(fmt::format("filter: {}; {} of the bits are ones, rate now {}", plan_text(state.plan),
                     share_text(state.fill), rate_text(state.rate_now)));
}

void warn_if_overfull(const FilterState& state, const std::string& mend) {
  if (!state.overfull) return;
  const std::string keys = std::isfinite(state.estimated_items)
                               ? fmt::format("about {} keys", group_digits(state.estimated_items))
                               : "more keys than can be estimated";
  remark(
      fmt::format("warning: the filter holds {} and was planned for {}: its false-positive rate is "
                  "now {}, not {}; {}",
                  keys, group_digits(state.plan.capacity), rate_text(state.rate_now),
                  rate_text(state.plan.rate), mend));
}

int exit_code(const StreamResult& stream, std::uint64_t found) {
  if (stream.signal != 0) return kExitSignal + stream.signal;
  return found > 0 ? kExitFound : kExitNothing;
}

}  // namespace bloomery::cli
