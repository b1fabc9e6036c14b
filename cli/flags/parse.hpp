// Parses a command line to Options: parse_options, and its steps, each in a file of its own.
#pragma once

#include "flags/flags.hpp"
#include "flags/options.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

// Error{invalid_argument}: an unknown verb or flag (with the nearest existing name), an invalid
// value, too few or too many files.
[[nodiscard]] Options parse_options(const std::vector<std::string>& arguments);

// Error{invalid_argument}: the text is not a value of that flag.
void set_value(Options& options, const Flag& flag, const std::string& text);

// Derives what follows from all options together. Error{invalid_argument}: they contradict each other.
using GivenFlags = std::vector<const Flag*>;
void check_flags(Options& options, const VerbInfo& verb, const GivenFlags& flags);

// "; did you mean X?" for the nearest of `names`, or nothing if none is near.
[[nodiscard]] std::string suggestion(std::string_view given, const std::vector<std::string>& names);

}  // namespace bloomery::cli
