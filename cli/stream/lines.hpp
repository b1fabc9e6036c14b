// Where the lines of a block end, and the moving together of those that stay.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace bloomery::cli {

// Replaces `ends` by the places just behind every `end` in `text`.
void find_ends(std::string_view text, char end, std::vector<std::size_t>& ends);

// Moves the lines whose answer is `wanted` together at the front, in order, and returns
// their bytes. Lines that stand side by side move as one.
[[nodiscard]] std::size_t keep_lines(char* text, std::span<const std::size_t> ends,
                                     std::span<const bool> answers, bool wanted) noexcept;

}  // namespace bloomery::cli
