// What a run did and how its filter stands, in lines for people and JSON for programs.
#pragma once

#include "options.hpp"
#include "stream.hpp"

#include <bloomery/filter_file.hpp>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

namespace bloomery::cli {

using Json = nlohmann::ordered_json;

// What only some kinds of filters have.
struct CountingState {
  std::uint32_t counter_bits;
  std::uint64_t saturated;
};
struct ScalableState {
  struct SubFilter {
    Plan plan;
    std::uint64_t inserted;
    double current_fpr;
  };
  std::uint32_t growth;
  std::vector<SubFilter> sub_filters;
};
struct WindowDetails {
  WindowPlan plan;
  std::uint32_t live_slices;
};

// How a filter stands. Reading it goes once over all of the bits.
struct FilterState {
  using Details = std::variant<std::monostate, CountingState, ScalableState, WindowDetails>;

  explicit FilterState(const FilterView& view);
  explicit FilterState(const CountingView& view);
  explicit FilterState(const ScalableFilter& filter);
  explicit FilterState(const WindowFilter& filter);
  explicit FilterState(const FilterFile& file);
  // Of a plain filter whose bits were counted elsewhere.
  FilterState(const Plan& plan, HashFamily family, double fill, double estimated_items,
              double current_fpr, bool over_capacity);

  Kind kind;
  // Of a scalable filter: the bits and capacity of all sub-filters, the hashes of the newest; of a
  // window: the bits of all slots.
  Plan plan;
  std::uint64_t bytes;
  HashFamily family;
  double fill;
  double current_fpr;
  double estimated_items;
  bool over_capacity;
  Details details = {};

  // Keys that may still come before the stated rate is passed, or before a scalable filter grows;
  // 0 if it is.
  [[nodiscard]] double room_left() const noexcept;

 private:
  template <class Filter>
  FilterState(Kind which, const Plan& whole, const Filter& filter, Details more);
};

[[nodiscard]] Json plan_json(const Plan& plan);
[[nodiscard]] Json state_json(const FilterState& state);
[[nodiscard]] Json stream_json(const StreamResult& stream);

// A window's length: "7 d", "10,000,000 lines".
[[nodiscard]] std::string window_text(const WindowPlan& plan);

// The seed of a siphash filter is the secret that guards it.
[[nodiscard]] std::string seed_text(const Hasher& hasher);
// "xxh3, seed 0x0"
[[nodiscard]] std::string hash_text(const Hasher& hasher);

// "line, 186.2 MiB, for 100,000,000 keys at 0.1 %"
[[nodiscard]] std::string plan_text(const FilterState& state);

// A filter's statistics as verbs print them: JSON for programs, a line for people, and a warning
// where it holds more than it was planned for.
struct Standing {  // NOLINT(bugprone-exception-escape): moving a Json asserts, and throws nothing
  Json json;
  std::string line;
  std::string warning;  // empty: none
};
// `mend` says what to do about an over_capacity one.
[[nodiscard]] Standing standing_of(const FilterState& state, const std::string& mend);
[[nodiscard]] std::string state_text(const FilterState& state);
[[nodiscard]] std::string overfull_text(const FilterState& state, const std::string& mend);

// The statistics at the end: what was read, what came of it, and the filter.
void remark_stream(const StreamResult& stream, const std::string& outcome);
void remark_state(const FilterState& state);
// Nothing unless the filter holds more than it was planned for.
void warn_if_overfull(const FilterState& state, const std::string& mend);
void warn_if_overfull(const Standing& standing);

// 128 and the signal if one ended the run, else found or nothing by the count.
[[nodiscard]] int exit_code(const StreamResult& stream, std::uint64_t found);

}  // namespace bloomery::cli
