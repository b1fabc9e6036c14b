// What a file is created from.
#pragma once

#include <bloomery/filter_file.hpp>

#include "format/header.hpp"

namespace bloomery::detail {

// The header of an empty filter, but for its identity. Error{invalid_argument | too_large}: no
// filter can have that plan.
[[nodiscard]] Header header_of(const FilePlan& plan, const Hasher& hasher);

}  // namespace bloomery::detail
