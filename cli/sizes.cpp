// Parsing of counts, sizes, rates and seeds: exact, without locale, every overflow refused.
#include "sizes.hpp"

#include "options.hpp"

#include <fmt/format.h>
#include <bloomery/error.hpp>

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace bloomery::cli {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::size_t kMaxText = 64;

[[noreturn]] void refuse(std::string_view text, std::string_view what, std::string_view mend) {
  const std::string shown =
      text.size() > kMaxText ? std::string(text.substr(0, kMaxText)) + "..." : std::string(text);
  throw Error(ErrorCode::invalid_argument, fmt::format("'{}' is not {}: {}", shown, what, mend));
}

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// mantissa * 10^exponent, as read from the front of a text.
struct Decimal {
  Wide mantissa = 0;
  int exponent = 0;
  std::string_view rest;
};

// Invariant: the mantissa stays below 10^31, so that one more digit or a factor of 8 fits.
std::optional<Decimal> read_decimal(std::string_view text) {
  constexpr Wide kMost = static_cast<Wide>(10'000'000'000'000'000) * 1'000'000'000'000'000;
  Decimal number;
  bool any = false, point = false;
  std::size_t i = 0;
  for (; i < text.size() && (is_digit(text[i]) || (text[i] == '.' && !point)); ++i) {
    if (text[i] == '.') {
      point = true;
      continue;
    }
    any = true;
    if (number.mantissa >= kMost) return std::nullopt;
    number.mantissa = number.mantissa * 10 + static_cast<unsigned>(text[i] - '0');
    if (point) --number.exponent;
  }
  if (!any) return std::nullopt;
  if (i + 1 < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    const std::size_t sign = text[i + 1] == '+' || text[i + 1] == '-' ? 1 : 0;
    int exponent = 0;
    const char* const first = text.data() + i + 1 + sign;
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), exponent);
    if (end == first || error != std::errc() || exponent < 0 || exponent > 1000)
      return std::nullopt;
    number.exponent += text[i + 1] == '-' ? -exponent : exponent;
    i = static_cast<std::size_t>(end - text.data());
  }
  number.rest = text.substr(i);
  return number;
}

// The whole number that it is, if it is one of 64 bits.
std::optional<std::uint64_t> to_whole(Wide mantissa, int exponent) {
  if (mantissa == 0) return 0;
  for (; exponent < 0; ++exponent) {
    if (mantissa % 10 != 0) return std::nullopt;
    mantissa /= 10;
  }
  for (; exponent > 0; --exponent) {
    if (mantissa > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
    mantissa *= 10;
  }
  if (mantissa > std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return static_cast<std::uint64_t>(mantissa);
}

// The power of 1000 or 1024 that a letter stands for; 0 for none.
int power_of(char letter) noexcept {
  switch (letter) {
    case 'k':
    case 'K':
      return 1;
    case 'm':
    case 'M':
      return 2;
    case 'g':
    case 'G':
      return 3;
    case 't':
    case 'T':
      return 4;
    default:
      return 0;
  }
}

std::optional<std::uint64_t> count_of(std::string_view text) {
  auto number = read_decimal(text);
  if (!number) return std::nullopt;
  if (number->rest.size() == 1 && power_of(number->rest[0]) > 0) {
    number->exponent += 3 * power_of(number->rest[0]);
    number->rest = {};
  }
  if (!number->rest.empty()) return std::nullopt;
  return to_whole(number->mantissa, number->exponent);
}

std::optional<double> double_of(std::string_view text) {
  for (const char c : text)
    if (!is_digit(c) && c != '.' && c != 'e' && c != 'E' && c != '-' && c != '+')
      return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::uint64_t parse_count(std::string_view text) {
  const auto count = text.size() <= kMaxText ? count_of(text) : std::nullopt;
  if (!count)
    refuse(text, "a count", "give a whole number below 2^64, such as 100M, 1.5G, 1e6 or 12345");
  return *count;
}

Window parse_window(std::string_view text) {
  constexpr std::string_view kMend =
      "give a time such as 90s, 30min, 12h, 7d or 2w, or a number of lines such as 10M, from 1 up";
  constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
      {"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86'400}, {"w", 604'800}};
  auto number = text.size() <= kMaxText ? read_decimal(text) : std::nullopt;
  if (!number) refuse(text, "a window", kMend);
  std::optional<std::uint64_t> length;
  WindowUnit unit = WindowUnit::insertions;
  // A small m is a minute to some and a million to others.
  if (number->rest != "m") length = count_of(text);
  for (const auto& [name, seconds] : kUnits) {
    if (number->rest != name) continue;
    unit = WindowUnit::seconds;
    length = to_whole(number->mantissa * seconds, number->exponent);
  }
  if (!length || *length == 0) refuse(text, "a window", kMend);
  return {unit, *length};
}

std::uint64_t parse_bits(std::string_view text) {
  constexpr std::string_view kMend =
      "give bits such as 8G, or bytes such as 512KiB, 128MiB or 1GiB, below 2^64 bits";
  if (text.size() > kMaxText) refuse(text, "a size", kMend);
  if (const auto bits = count_of(text)) return *bits;
  auto number = read_decimal(text);
  if (!number) refuse(text, "a size", kMend);
  const std::string_view unit = number->rest;
  const int power = unit.size() == 3 && unit.substr(1) == "iB" ? power_of(unit[0]) : 0;
  if (power == 0 && unit != "B") refuse(text, "a size", kMend);
  // Ten binary digits a power and three for bits; the first overflow is refused.
  Wide mantissa = number->mantissa;
  for (int shift = 10 * power + 3; shift > 0; --shift) {
    if (mantissa >> 126 != 0) refuse(text, "a size", kMend);
    mantissa <<= 1;
  }
  const auto bits = to_whole(mantissa, number->exponent);
  if (!bits) refuse(text, "a size", kMend);
  return *bits;
}

double parse_fpr(std::string_view text) {
  constexpr std::string_view kMend =
      "give one from 1e-15 to 0.5, such as 0.001, 0.1%, 1/1000 or 1e-3";
  std::optional<double> fpr;
  if (text.empty() || text.size() > kMaxText) {
    refuse(text, "a rate", kMend);
  } else if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const auto part = count_of(text.substr(0, slash));
    const auto whole = count_of(text.substr(slash + 1));
    if (part && whole && *whole != 0)
      fpr = static_cast<double>(*part) / static_cast<double>(*whole);
  } else if (text.back() == '%') {
    // 0.1% is 0.1e-2 to the last bit, which a division by 100 might miss.
    const std::string digits(text.substr(0, text.size() - 1));
    if (digits.find_first_of("eE") == std::string::npos) {
      fpr = double_of(digits + "e-2");
    } else if (const auto percent = double_of(digits)) {
      fpr = *percent / 100;
    }
  } else {
    fpr = double_of(text);
  }
  if (!fpr || !(*fpr > 0) || !(*fpr < 1)) refuse(text, "a rate", kMend);
  return *fpr;
}

Seed parse_seed(std::string_view text) {
  constexpr std::string_view kMend =
      "give a number below 2^64, 0x and up to 32 hexadecimal digits, or random";
  if (!text.starts_with("0x")) {
    std::uint64_t low = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), low);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
      refuse(text, "a seed", kMend);
    return {low, 0};
  }
  const std::string_view digits = text.substr(2);
  if (digits.empty() || digits.size() > 32) refuse(text, "a seed", kMend);
  const auto read = [&](std::string_view part) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value, 16);
    if (!part.empty() && (error != std::errc() || end != part.data() + part.size()))
      refuse(text, "a seed", kMend);
    return value;
  };
  const std::size_t split = digits.size() > 16 ? digits.size() - 16 : 0;
  return {read(digits.substr(split)), read(digits.substr(0, split))};
}

}  // namespace bloomery::cli
