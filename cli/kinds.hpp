// What the flags of a kind ask for, and the clock of filters that forget.
#pragma once

#include "options.hpp"

#include <bloomery/filter_file.hpp>

#include <cstdint>
#include <string_view>

namespace bloomery::cli {

// The flag that gives a number of a plan.
[[nodiscard]] std::string_view flag_of(PlanField field);

// The plan that dedup takes: it has a false-positive rate of its own.
[[nodiscard]] FilterPlan dedup_plan(const Options& options);

// The plan that a file was made from.
[[nodiscard]] FilterPlan plan_of(const FilterFile& file);

// The same options with what they leave open taken from a file: its kind, numbers and layout.
[[nodiscard]] Options completed(Options options, const FilterFile& file);
// The same from a plain filter's plan.
[[nodiscard]] Options completed(Options options, const Plan& plan);

// Seconds since 1970.
[[nodiscard]] std::uint64_t seconds_now();
// Whether slices of a window have passed since the filter was last told the time.
[[nodiscard]] bool is_late(const WindowFilter& filter, std::uint64_t now) noexcept;
// Tells a file the time where it forgets by time, and the time has come.
void keep_time(FilterFile& file);

}  // namespace bloomery::cli
