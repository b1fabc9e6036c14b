// What `plan --plot` and `info --plot` draw.
#pragma once

#include "output/statistics.hpp"

#include <bloomery/any_filter.hpp>
#include <bloomery/spec.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace bloomery::cli {

// The false-positive rate of a plan as it fills, to four times its capacity.
[[nodiscard]] std::string fpr_plot(const FilterPlan& plan);

// The share of ones in each part of a filter's bits (of a counting filter: of counters that are not zero); a strip for
// each sub-filter if there are several. Reads at most 16 MiB of each.
[[nodiscard]] std::string fill_plot(std::span<const AnyFilter::Array> arrays);

// ---- `plan --table`: false-positive rates over bits per key and hashes (plan_table.cpp) -----------

// Uses the formula of a layout, or the textbook's if there is no layout.
[[nodiscard]] std::string table_text(std::optional<Layout> layout);
[[nodiscard]] Json table_json(std::optional<Layout> layout);

// ---- columns drawn in a terminal, with the eighths of a block that UTF-8 has (chart.cpp) ----------

// Columns of values from 0 to `top`, `height` lines high: a value above the top is cut, one above
// zero is always seen. Every line but those between begins with the value of its upper edge, as
// `text_of` writes it; under them stands an axis with a tick at every `tick` columns.
[[nodiscard]] std::string column_chart(std::span<const double> values, double top,
                                       std::size_t height, std::size_t tick,
                                       std::string (*text_of)(double));

// The same in one line, without an axis.
[[nodiscard]] std::string strip_chart(std::span<const double> values, double top);

}  // namespace bloomery::cli
