// The name that somebody may have meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

// "; did you mean X?" for the nearest of `names`, or nothing if none is near.
[[nodiscard]] std::string suggestion(std::string_view given, const std::vector<std::string>& names);

}  // namespace bloomery::cli
