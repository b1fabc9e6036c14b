// The scheme that --scheme names, and what can be said of bits that follow it.
#pragma once

#include "key_filter.hpp"

#include <bloomery/php_filter.hpp>

#include <string>

namespace bloomery::cli {

// Error{invalid_argument}: an unknown name, or numbers are missing or too many.
[[nodiscard]] PhpScheme php_scheme(const Options& options);

// How full such bits are.
struct PhpFill {
  double ones = 0;
  double error = 0;      // its standard error
  bool sampled = false;  // not all were counted
};
[[nodiscard]] Standing php_standing(const PhpScheme& scheme, const PhpFill& fill);
[[nodiscard]] KeyFilter::Rows php_rows(const std::string& name, const PhpScheme& scheme,
                                       const PhpFill& fill);

// What a bitmap's wholeness comes to.
extern const char* const kPhpVerified;

}  // namespace bloomery::cli
