// The planner page: the bytes that were built into the tool, and writing them to a file.
#pragma once

#include <string>
#include <string_view>

namespace bloomery::cli {

// Empty where the page was not built before the tool (./dev web builds it).
[[nodiscard]] std::string_view page() noexcept;

// Writes it and names it. Error{exists}: a file is there, and `replace` is false or it is no page.
void write_page(const std::string& path, bool replace);

}  // namespace bloomery::cli
