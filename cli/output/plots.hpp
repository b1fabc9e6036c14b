// What `plan --plot` and `info --plot` draw.
#pragma once

#include <bloomery/filter_file.hpp>
#include <bloomery/spec.hpp>

#include <string>

namespace bloomery::cli {

// The false-positive rate of a plan as it fills, to four times its capacity.
[[nodiscard]] std::string fpr_plot(const FilterPlan& plan);

// The share of ones in each part of a filter's bits (of a counting filter: of counters that are
// not zero); a strip for each sub-filter of one that grows. Goes once over all of the bits.
[[nodiscard]] std::string fill_plot(const FilterFile& file);

}  // namespace bloomery::cli
