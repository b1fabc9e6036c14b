// Converts the options to the library's types: the filter that they ask for.
#include "flags/options.hpp"

#include <fmt/format.h>

namespace bloomery::cli {

PhpScheme php_scheme(const Options& options) {
  constexpr std::string_view kHashes = "php-hashes=";
  const std::string_view text = *options.scheme_text;
  if (text == "php-crc32-mt") {
    if (!options.spec.capacity || !options.spec.bits)
      refuse("--scheme php-crc32-mt takes the m and n of the PHP class: add --bits M and -n N");
    return PhpScheme::crc32_mt(*options.spec.bits, *options.spec.capacity);
  }
  if (!text.starts_with(kHashes))
    refuse(fmt::format("--scheme '{}' is neither php-crc32-mt nor php-hashes=NAMES", text));
  if (options.spec.capacity || options.spec.bits)
    refuse("--scheme php-hashes always has 2^32 bits; leave -n and --bits out");
  return PhpScheme::string_hashes(text.substr(kHashes.size()));
}

void refuse(const std::string& message) { throw Error(ErrorCode::invalid_argument, message); }

AnyOptions Options::place() const {
  return {.hash = hash,
          .seed = seed,
          .random_seed = random_seed,
          .durability = durability,
          .replace = force,
          .rotating = rotating,
          .scheme = scheme};
}

}  // namespace bloomery::cli
