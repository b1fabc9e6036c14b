// Parsing is exact, without locale and without exceptions; a number that overflows is refused.
#include "flags/numbers.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>

namespace bloomery::cli {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::size_t kMaxText = 64;
// A number with this many digits, times 8 TiB, fits a Wide.
constexpr std::size_t kMaxDigits = 24;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Lower case, blanks of any kind as spaces, none at the ends; full-width signs as plain ones.
std::string plain_text(std::string_view text) {
  constexpr std::pair<std::string_view, std::string_view> kSigns[] = {
      {"\u00a0", " "}, {"\u3000", " "}, {"：", ":"}, {"％", "%"}, {"／", "/"}, {"，", ","}};
  if (text.size() > kMaxText) return {};
  std::string plain(text);
  for (const auto& [sign, to] : kSigns)
    for (std::size_t at; (at = plain.find(sign)) != std::string::npos;)
      plain.replace(at, sign.size(), to);
  for (char& c : plain) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '\t' || c == '\n') c = ' ';
  }
  const std::size_t first = plain.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return plain.substr(first, plain.find_last_not_of(' ') - first + 1);
}

// digits * 10^exponent, and the unit after them without its spaces.
struct Number {
  std::string digits;
  int exponent = 0;
  std::string unit;

  [[nodiscard]] double real(int power) const {
    return std::strtod((digits + "e" + std::to_string(exponent + power)).c_str(), nullptr);
  }
  // The whole part of the number in units of `factor`, if it fits 64 bits.
  [[nodiscard]] std::optional<std::uint64_t> rounded_down(std::uint64_t factor, int power) const {
    return scaled(factor, power, false);
  }
  // The same, if the number is whole in those units.
  [[nodiscard]] std::optional<std::uint64_t> whole(std::uint64_t factor, int power) const {
    return scaled(factor, power, true);
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> scaled(std::uint64_t factor, int power,
                                                    bool exact) const {
    constexpr Wide kMost = std::numeric_limits<std::uint64_t>::max();
    if (digits.size() > kMaxDigits) return std::nullopt;
    Wide value = 0;
    for (const char c : digits) value = value * 10 + static_cast<unsigned>(c - '0');
    value *= factor;
    if (value == 0) return 0;
    int left = exponent + power;
    for (; left < 0 && value != 0; ++left) {
      if (exact && value % 10 != 0) return std::nullopt;
      value /= 10;
    }
    for (; left > 0 && value <= kMost; --left) value *= 10;
    if (value > kMost) return std::nullopt;
    return static_cast<std::uint64_t>(value);
  }
};

// The digits at the start of `text`, perhaps grouped as in 1,000,000. Empty: there are none, or the
// groups are not thousands, as in 1,5 and 0,001 (which some write for 1.5 and 0.001). Removes from
// `text` what was read.
std::string read_digits(std::string_view& text) {
  std::string digits;
  std::size_t group = 0;
  char separator = 0;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (is_digit(c)) {
      digits += c;
      ++group;
      continue;
    }
    const bool separates = (c == ',' || c == '_' || c == '\'' || c == ' ') &&
                           (separator == 0 || separator == c) && i + 1 < text.size() &&
                           is_digit(text[i + 1]) && !digits.empty();
    if (!separates) break;
    if (separator != 0 && (group < 2 || group > 4)) return {};
    if (digits[0] == '0') return {};
    separator = c;
    group = 0;
  }
  if (separator != 0 && group != 3 && group != 4) return {};
  text.remove_prefix(i);
  return digits;
}

// The exponent at the start of `text`, as in e-3; 0 if there is none.
int read_exponent(std::string_view& text) {
  if (text.size() < 2 || text[0] != 'e') return 0;
  const std::size_t sign = text[1] == '+' || text[1] == '-' ? 1 : 0;
  int exponent = 0;
  const char* const first = text.data() + 1 + sign;
  const char* const last = text.data() + text.size();
  if (first == last || !is_digit(*first)) return 0;
  const auto [end, error] = std::from_chars(first, last, exponent);
  if (error != std::errc() || exponent > 1000) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return sign != 0 && first[-1] == '-' ? -exponent : exponent;
}

std::optional<Number> read_number(std::string_view text) {
  const bool only_fraction = text.starts_with('.');
  Number number;
  if (!only_fraction && (number.digits = read_digits(text)).empty()) return std::nullopt;
  if (text.starts_with('.')) {
    std::size_t end = 1;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (only_fraction && end == 1) return std::nullopt;
    number.digits += text.substr(1, end - 1);
    number.exponent = -static_cast<int>(end - 1);
    text.remove_prefix(end);
  }
  number.exponent += read_exponent(text);
  for (const char c : text)
    if (c != ' ') number.unit += c;
  return number;
}

// The power of ten that a unit of counts stands for.
std::optional<int> power_of(std::string_view unit) {
  constexpr std::pair<std::string_view, int> kPowers[] = {
      {"", 0},     {"k", 3},        {"m", 6},       {"g", 9},       {"b", 9},
      {"t", 12},   {"thousand", 3}, {"million", 6}, {"billion", 9}, {"trillion", 12},
      {"千", 3},   {"万", 4},       {"百万", 6},    {"千万", 7},    {"亿", 8},
      {"十亿", 9}, {"百亿", 10},    {"千亿", 11},   {"万亿", 12}};
  for (const auto& [name, power] : kPowers)
    if (name == unit) return power;
  return std::nullopt;
}

// A count, or a numeral that stands alone in 千分之一.
std::optional<std::uint64_t> read_part(std::string_view text) {
  constexpr std::pair<std::string_view, std::uint64_t> kNumerals[] = {{"一", 1},
                                                                      {"二", 2},
                                                                      {"三", 3},
                                                                      {"五", 5},
                                                                      {"十", 10},
                                                                      {"百", 100},
                                                                      {"千", 1000},
                                                                      {"万", 10'000},
                                                                      {"十万", 100'000},
                                                                      {"百万", 1'000'000},
                                                                      {"千万", 10'000'000},
                                                                      {"亿", 100'000'000}};
  for (const auto& [name, value] : kNumerals)
    if (name == text) return value;
  return read_count(text);
}

// For "1 in 1000" and similar: the text before the separator and after it.
std::optional<std::pair<std::string, std::string>> parts_of(const std::string& text) {
  for (const std::string_view separator : {"分之", "/", ":", " in ", " of "})
    if (const std::size_t at = text.find(separator); at != std::string::npos) {
      std::pair parts{text.substr(0, at), text.substr(at + separator.size())};
      if (separator == "分之") std::swap(parts.first, parts.second);
      return std::pair{plain_text(parts.first), plain_text(parts.second)};
    }
  return std::nullopt;
}

// Takes one of `words` off the front of `text`.
bool take_any(std::string_view& text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text.starts_with(word)) {
      text.remove_prefix(word.size());
      return true;
    }
  return false;
}

bool is_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// "bits/key", "位每键", "perkey"
bool is_per_key(std::string_view unit) {
  take_any(unit, {"bits", "bit", "位", "比特"});
  return take_any(unit, {"/", "per", "each", "每", "a"}) &&
         is_any(unit, {"", "key", "keys", "item", "items", "address", "键", "项", "元素", "个"});
}

// The bits that a unit of memory stands for, as a factor and a power of ten.
std::optional<std::pair<std::uint64_t, int>> memory_unit(std::string_view unit) {
  const auto letter =
      unit.empty() ? std::string_view::npos : std::string_view("kmgt").find(unit[0]);
  const int power = letter == std::string_view::npos ? 0 : static_cast<int>(letter) + 1;
  if (power != 0) unit.remove_prefix(1);
  const bool binary = power != 0 && take_any(unit, {"i"});
  if (!is_any(unit, {"", "b", "byte", "bytes", "字节", "bit", "bits", "位", "比特"}))
    return std::nullopt;
  const bool bits = unit.empty() ? !binary : is_any(unit, {"bit", "bits", "位", "比特"});
  const std::uint64_t factor = bits ? 1 : 8;
  if (binary) return std::pair{factor << (10 * power), 0};
  return std::pair{factor, 3 * power};
}

// Gb, Mib: gigabits to some, bytes to others. In lower case they are bytes.
bool may_be_bits_or_bytes(std::string_view text, std::string_view unit) {
  return text.find('b') != std::string_view::npos &&
         text.find_first_of("KMGT") != std::string_view::npos &&
         is_any(unit, {"kb", "mb", "gb", "tb", "kib", "mib", "gib", "tib"});
}

std::optional<std::uint64_t> seconds_of(std::string_view unit) {
  if (is_any(unit, {"s", "sec", "second", "seconds", "秒"})) return 1;
  if (is_any(unit, {"min", "minute", "minutes", "分钟"})) return 60;
  if (is_any(unit, {"h", "hour", "hours", "小时"})) return 3600;
  if (is_any(unit, {"d", "day", "days", "天"})) return 86'400;
  if (is_any(unit, {"w", "week", "weeks", "周"})) return 604'800;
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> read_count(std::string_view text) {
  const auto number = read_number(plain_text(text));
  const auto power = number ? power_of(number->unit) : std::nullopt;
  return power ? number->whole(1, *power) : std::nullopt;
}

std::optional<double> read_amount(std::string_view text) {
  const auto number = read_number(plain_text(text));
  const auto power = number ? power_of(number->unit) : std::nullopt;
  if (!power) return std::nullopt;
  return number->real(*power);
}

std::optional<double> read_fpr(std::string_view text) {
  const std::string plain = plain_text(text);
  std::optional<double> fpr;
  if (const auto parts = parts_of(plain)) {
    const auto part = read_part(parts->first), whole = read_part(parts->second);
    if (part && whole && *whole != 0)
      fpr = static_cast<double>(*part) / static_cast<double>(*whole);
  } else if (const auto number = read_number(plain)) {
    // Uses the power of ten, since a division by 100 may miss the nearest double.
    if (number->unit.empty()) fpr = number->real(0);
    if (is_any(number->unit, {"%", "percent"})) fpr = number->real(-2);
    if (number->unit == "‰") fpr = number->real(-3);
  }
  if (!fpr || !(*fpr > 0) || !(*fpr < 1)) return std::nullopt;
  return fpr;
}

std::uint64_t Size::bits_for(std::uint64_t keys) const noexcept {
  if (!(bits_per_key > 0)) return bits;
  return static_cast<std::uint64_t>(
      std::min(1.8e19, std::round(bits_per_key * static_cast<double>(keys))));
}

std::optional<Size> read_size(std::string_view text) {
  const auto number = read_number(plain_text(text));
  if (!number || may_be_bits_or_bytes(text, number->unit)) return std::nullopt;
  if (is_per_key(number->unit)) {
    const double bits_per_key = number->real(0);
    if (!(bits_per_key > 0) || !std::isfinite(bits_per_key)) return std::nullopt;
    return Size{0, bits_per_key};
  }
  auto unit = memory_unit(number->unit);
  if (!unit)
    if (const auto power = power_of(number->unit)) unit = std::pair{std::uint64_t{1}, *power};
  const auto bits = unit ? number->rounded_down(unit->first, unit->second) : std::nullopt;
  if (!bits) return std::nullopt;
  return Size{*bits, 0};
}

std::optional<Window> read_window(std::string_view text) {
  const auto number = read_number(plain_text(text));
  if (!number) return std::nullopt;
  std::string_view unit = number->unit;
  if (unit == "m" && text.find('m') != std::string_view::npos) return std::nullopt;
  Window window{WindowUnit::insertions, 0};
  std::optional<std::uint64_t> length;
  if (const auto seconds = seconds_of(unit)) {
    window.unit = WindowUnit::seconds;
    length = number->whole(*seconds, 0);
  } else {
    for (const std::string_view noun : {"lines", "keys", "items", "insertions", "行", "个", "次"})
      if (unit.ends_with(noun)) unit.remove_suffix(noun.size());
    if (const auto power = power_of(unit)) length = number->whole(1, *power);
  }
  if (length.value_or(0) == 0) return std::nullopt;
  window.length = *length;
  return window;
}

}  // namespace bloomery::cli
