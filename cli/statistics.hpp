// What a run did and how its filter stands, in lines for people and JSON for programs.
#pragma once

#include "options.hpp"
#include "stream.hpp"

#include <bloomery/filter_view.hpp>
#include <bloomery/scalable_filter.hpp>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace bloomery::cli {

using Json = nlohmann::ordered_json;

// How a filter stands. Reading it goes once over all of the bits.
struct FilterState {
  explicit FilterState(const FilterView& view);
  // All layers as one: the plan's hashes are those of the newest.
  explicit FilterState(const ScalableFilter& filter);

  Plan plan;
  HashFamily family;
  double fill;
  double rate_now;
  double estimated_items;
  bool overfull;

  // Keys that may still come before the stated rate is passed; 0 if it is.
  [[nodiscard]] double room_left() const noexcept;
};

[[nodiscard]] Json plan_json(const Plan& plan);
[[nodiscard]] Json state_json(const FilterState& state);
[[nodiscard]] Json stream_json(const StreamResult& stream);

// "line, 186.2 MiB, for 100,000,000 keys at 0.1 %"
[[nodiscard]] std::string plan_text(const Plan& plan);

// The statistics at the end: what was read, what came of it, and the filter.
void remark_stream(const StreamResult& stream, const std::string& outcome);
void remark_state(const FilterState& state);
// Nothing unless the filter holds more than it was planned for. `mend` says what to do.
void warn_if_overfull(const FilterState& state, const std::string& mend);

// 128 and the signal if one ended the run, else found or nothing by the count.
[[nodiscard]] int exit_code(const StreamResult& stream, std::uint64_t found);

}  // namespace bloomery::cli
