// Checks numbers, and decodes strings that are not UTF-8.
#include "keys/json_field.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace bloomery::cli {

namespace {

// Takes the digits at the front. False: there are none.
bool take_digits(std::string_view& text) noexcept {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits != 0;
}

bool take(std::string_view& text, std::string_view one_of) noexcept {
  if (text.empty() || one_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// The number of \uXXXX at the front, which it takes.
std::optional<std::uint32_t> take_unit(std::string_view& text) noexcept {
  std::uint32_t unit = 0;
  if (text.size() < 6 || !text.starts_with("\\u")) return std::nullopt;
  const char* const end = text.data() + 6;
  if (std::from_chars(text.data() + 2, end, unit, 16).ptr != end) return std::nullopt;
  text.remove_prefix(6);
  return unit;
}

bool is_first_half(std::uint32_t unit) noexcept { return unit >= 0xD800 && unit < 0xDC00; }
bool is_second_half(std::uint32_t unit) noexcept { return unit >= 0xDC00 && unit < 0xE000; }

void append(std::string& to, std::uint32_t point) {
  const auto byte = [&](std::uint32_t value) { to += static_cast<char>(value); };
  if (point < 0x80) return byte(point);
  if (point < 0x800) {
    byte(0xC0 | point >> 6);
  } else if (point < 0x10000) {
    byte(0xE0 | point >> 12);
    byte(0x80 | (point >> 6 & 0x3F));
  } else {
    byte(0xF0 | point >> 18);
    byte(0x80 | (point >> 12 & 0x3F));
    byte(0x80 | (point >> 6 & 0x3F));
  }
  byte(0x80 | (point & 0x3F));
}

}  // namespace

bool is_json_number(std::string_view text) noexcept {
  (void)take(text, "-");
  if (!take(text, "0") && !take_digits(text)) return false;
  if (take(text, ".") && !take_digits(text)) return false;
  if (take(text, "eE")) {
    (void)take(text, "+-");
    if (!take_digits(text)) return false;
  }
  return text.empty();
}

std::optional<std::string> text_with_halves(std::string_view literal) {
  constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  std::string text;
  for (literal.remove_prefix(1); !literal.empty();) {
    if (literal.front() == '"') return text;
    if (literal.front() != '\\') {
      text += literal.front();
      literal.remove_prefix(1);
    } else if (const auto unit = take_unit(literal)) {
      std::string_view behind = literal;
      const auto next = is_first_half(*unit) ? take_unit(behind) : std::nullopt;
      if (next && is_second_half(*next)) {
        append(text, 0x10000 + ((*unit - 0xD800) << 10) + (*next - 0xDC00));
        literal = behind;
      } else {
        append(text, *unit);
      }
    } else {
      const std::size_t which =
          literal.size() < 2 ? std::string_view::npos : kEscapes.find(literal[1]);
      if (which == std::string_view::npos) return std::nullopt;
      text += kMeanings[which];
      literal.remove_prefix(2);
    }
  }
  return std::nullopt;
}

}  // namespace bloomery::cli
