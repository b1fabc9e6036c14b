// The texts that come from the table: the short help (one line per flag), the long help (everything, with
// examples), and the files that packages install beside the tool.
#pragma once

#include "flags/flags.hpp"

#include <string>
#include <string_view>

namespace bloomery::cli {

[[nodiscard]] std::string short_help();
[[nodiscard]] std::string long_help();
[[nodiscard]] std::string short_help(const VerbInfo& verb);
[[nodiscard]] std::string long_help(const VerbInfo& verb);

// "-n, --items N"
[[nodiscard]] std::string flag_usage(const Flag& flag);

// man, complete-bash, complete-zsh or complete-fish. Error{invalid_argument}: anything else.
[[nodiscard]] std::string generate(std::string_view kind);

[[nodiscard]] std::string man_page();

}  // namespace bloomery::cli
