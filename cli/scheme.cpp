// PHP's filters know nothing of themselves: all that is shown follows from the scheme and the bits.
#include "scheme.hpp"

#include "text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace bloomery::cli {

namespace {

constexpr std::string_view kHashes = "php-hashes=";

// If the hashes were good ones.
double items_of(const PhpScheme& scheme, double ones) {
  if (ones >= 1) return std::numeric_limits<double>::infinity();
  return -static_cast<double>(scheme.bits()) / scheme.hash_count() * std::log1p(-ones);
}

double least_fpr(const PhpScheme& scheme, double ones) {
  return std::pow(ones, scheme.hash_count());
}

std::string ones_text(const PhpFill& fill) {
  if (!fill.sampled) return share_text(fill.ones);
  return fmt::format("{} +- {:.2g} %, estimated from a sample", share_text(fill.ones),
                     200 * fill.error);
}

}  // namespace

const char* const kPhpVerified =
    "a bitmap no longer than its scheme's; it carries no parameters and no checksums";

PhpScheme php_scheme(const Options& options) {
  const std::string_view text = *options.scheme;
  if (text == "php-crc32-mt") {
    if (!options.items || !options.bits)
      throw Error(
          ErrorCode::invalid_argument,
          "--scheme php-crc32-mt takes the m and n of the PHP class: add --bits M and -n N");
    return PhpScheme::crc32_mt(*options.bits, *options.items);
  }
  if (!text.starts_with(kHashes))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--scheme '{}' is none of php-crc32-mt, php-hashes=NAMES", text));
  if (options.items || options.bits)
    throw Error(ErrorCode::invalid_argument,
                "--scheme php-hashes always has 2^32 bits; leave -n and --bits out");
  return PhpScheme::string_hashes(text.substr(kHashes.size()));
}

Standing php_standing(const PhpScheme& scheme, const PhpFill& fill) {
  Standing standing;
  const double fpr = least_fpr(scheme, fill.ones);
  standing.json = {{"scheme", scheme.description()},
                   {"bits", scheme.bits()},
                   {"hashes", scheme.hash_count()},
                   {"fill", fill.ones},
                   {"fill_is_sampled", fill.sampled},
                   {"fill_standard_error", fill.error},
                   {"estimated_items", items_of(scheme, fill.ones)},
                   {"min_current_fpr", fpr},
                   {"over_capacity", fill.ones > 0.5}};
  standing.line = fmt::format("filter: {}; {} of the bits are ones, current fpr at least {}",
                              scheme.description(), ones_text(fill), fpr_text(fpr));
  if (fill.ones > 0.5)
    standing.warning = fmt::format(
        "warning: {} of the bits are ones, more than half: the false-positive rate is now "
        "at least {}; rotate or empty the filter, or move to a better one",
        share_text(fill.ones), fpr_text(fpr));
  return standing;
}

KeyFilter::Rows php_rows(const std::string& name, const PhpScheme& scheme, const PhpFill& fill) {
  return {
      {"filter", name},
      {"scheme", scheme.description()},
      {"bits", fmt::format("{} ({})", group_digits(scheme.bits()),
                           bytes_text(std::ceil(static_cast<double>(scheme.bits()) / 8)))},
      {"hashes", group_digits(std::uint64_t{scheme.hash_count()})},
      {"estimated items",
       fmt::format("{}, were the hashes good", group_digits(items_of(scheme, fill.ones)))},
      {"fill", ones_text(fill)},
      {"current fpr", fmt::format("at least {}", fpr_text(least_fpr(scheme, fill.ones)))},
  };
}

}  // namespace bloomery::cli
