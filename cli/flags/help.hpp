// The help texts, short (a line a flag) and long (everything, with examples).
#pragma once

#include "flags/flags.hpp"

#include <string>

namespace bloomery::cli {

[[nodiscard]] std::string short_help();
[[nodiscard]] std::string long_help();
[[nodiscard]] std::string short_help(const VerbInfo& verb);
[[nodiscard]] std::string long_help(const VerbInfo& verb);

// "-n, --items N"
[[nodiscard]] std::string flag_usage(const Flag& flag);

}  // namespace bloomery::cli
