// The statistics of a filter, in lines for people and JSON for programs.
#pragma once

#include <bloomery/any_filter.hpp>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace bloomery::cli {

using Json = nlohmann::ordered_json;

[[nodiscard]] Json plan_json(const Plan& plan);
// Numbers that are not known are left out.
[[nodiscard]] Json filter_json(const FilterStats& stats, const Hasher* hasher);

// The keys that can be added before the stated rate is exceeded, or a scalable filter grows; 0 if it is exceeded.
[[nodiscard]] double room_left(const FilterStats& stats) noexcept;

// The seed of a siphash filter is the secret that guards it.
[[nodiscard]] std::string seed_text(const Hasher& hasher);

// "blocked, 186.2 MiB, for 100,000,000 keys at 0.1 %"
[[nodiscard]] std::string made_text(const FilterStats& stats);
// "filter: ", the same, and how full it is.
[[nodiscard]] std::string filter_text(const FilterStats& stats);
// Names and values, in order, as `info` prints them: what it is and what it was made from; then what is in
// it.
using Rows = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] Rows made_rows(const FilterStats& stats, const Hasher* hasher);
[[nodiscard]] Rows fill_rows(const FilterStats& stats);

// A warning with advice if the filter is over capacity; otherwise nothing.
void warn_if_over_capacity(const FilterStats& stats, const std::string& advice);

}  // namespace bloomery::cli
