// Any text is a number in range or an error, and a number that is printed is read as the same number.
#include "flags/numbers.hpp"
#include "require.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

using namespace bloomery::cli;
using bloomery::fuzz::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto count = read_count(text)) {
    const std::string printed = std::to_string(*count);
    require(read_count(printed) == count && read_size(printed)->bits == *count);
    require(read_amount(text).has_value());
  }
  if (const auto amount = read_amount(text)) require(*amount >= 0);
  if (const auto fpr = read_fpr(text)) require(*fpr > 0 && *fpr < 1);
  if (const auto found = read_size(text)) {
    require(found->bits == 0 || found->bits_per_key == 0);
    require(found->bits_for(1'000'000'000'000) >= found->bits);
  }
  if (const auto window = read_window(text)) require(window->length > 0);
  return 0;
}
