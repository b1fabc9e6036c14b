// `plan --table`: false-positive rates over bits per key and hashes.
#pragma once

#include "output/statistics.hpp"

#include <bloomery/plan.hpp>

#include <optional>
#include <string>

namespace bloomery::cli {

// By the formula of a layout; without one by the textbook's.
[[nodiscard]] std::string table_text(std::optional<Layout> layout);
[[nodiscard]] Json table_json(std::optional<Layout> layout);

}  // namespace bloomery::cli
