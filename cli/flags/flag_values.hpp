// What a flag's text says, once it is found to be that flag's.
#pragma once

#include "flags/options.hpp"

#include <string>

namespace bloomery::cli {

// Throws Error{invalid_argument}.
[[noreturn]] void refuse(const std::string& message);

// Error{invalid_argument}: the text is no value of that flag.
void set_value(Options& options, const Flag& flag, const std::string& text);

}  // namespace bloomery::cli
