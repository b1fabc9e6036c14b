// What packages install beside the tool, made from the one table of flags.
#pragma once

#include <string>
#include <string_view>

namespace bloomery::cli {

// man, complete-bash, complete-zsh or complete-fish. Error{invalid_argument}: anything else.
[[nodiscard]] std::string generate(std::string_view kind);

[[nodiscard]] std::string man_page();
[[nodiscard]] std::string bash_completion();
[[nodiscard]] std::string zsh_completion();
[[nodiscard]] std::string fish_completion();

}  // namespace bloomery::cli
