// Any text given as a count, a size, a rate or a seed is a number in range or one error.
#include "sizes.hpp"

#include <bloomery/error.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace bloomery::cli;

// The law for numbers: what prints as N parses as N.
void check_count(std::string_view text) {
  const std::uint64_t count = parse_count(text);
  if (parse_count(std::to_string(count)) != count) std::abort();
  if (parse_bits(text) != count) std::abort();
}

void check_fpr(std::string_view text) {
  const double fpr = parse_fpr(text);
  if (!(fpr > 0 && fpr < 1)) std::abort();
}

template <class Parse>
void attempt(Parse parse) {
  try {
    parse();
  } catch (const bloomery::Error& error) {
    if (error.code() != bloomery::ErrorCode::invalid_argument || *error.what() == 0) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  attempt([&] { check_count(text); });
  attempt([&] { (void)parse_bits(text); });
  attempt([&] { check_fpr(text); });
  attempt([&] { (void)parse_seed(text); });
  return 0;
}
