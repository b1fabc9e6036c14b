// Columns drawn in a terminal, with the eighths of a block that UTF-8 has.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace bloomery::cli {

// Columns of values from 0 to `top`, `height` lines high: a value above the top is cut, one above
// zero is always seen. Every line but those between begins with the value of its upper edge, as
// `text_of` writes it; under them stands an axis with a tick at every `tick` columns.
[[nodiscard]] std::string column_chart(std::span<const double> values, double top,
                                       std::size_t height, std::size_t tick,
                                       std::string (*text_of)(double));

// The same in one line, without an axis.
[[nodiscard]] std::string strip_chart(std::span<const double> values, double top);

}  // namespace bloomery::cli
