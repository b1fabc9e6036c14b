// Printing of numbers: three significant digits where a person compares, all digits where they matter.
#include "output/text.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <utility>

namespace bloomery::cli {

std::string group_digits(std::uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (std::size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, 1, ',');
  return text;
}

std::string group_digits(double number) {
  if (!std::isfinite(number) || number < 0 || number >= 1.8e19) return "unknown";
  return group_digits(static_cast<std::uint64_t>(std::llround(number)));
}

std::string counted(std::uint64_t number, const std::string& noun) {
  return group_digits(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", bytes) : fmt::format("{:.1f} {}", bytes, kUnits[unit]);
}

std::string speed_text(double per_second) {
  return per_second >= 1e5 ? fmt::format("{:.3g} M lines/s", per_second / 1e6)
                           : fmt::format("{} lines/s", group_digits(per_second));
}

std::string fpr_text(double fpr) {
  return fpr == 0 || fpr >= 1e-4 ? fmt::format("{:.3g} %", fpr * 100) : fmt::format("{:.3g}", fpr);
}

std::string share_text(double share) { return fmt::format("{:.1f} %", share * 100); }

std::string duration_text(double seconds) {
  if (!(seconds < 3.6e8)) return "very long";
  if (seconds < 60) return fmt::format("{:.{}f} s", seconds, seconds < 10 ? 2 : 0);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string length_text(WindowUnit unit, std::uint64_t length) {
  if (unit == WindowUnit::insertions) return counted(length, "line");
  constexpr std::pair<std::uint64_t, std::string_view> kUnits[] = {
      {86'400, "d"}, {3600, "h"}, {60, "min"}};
  for (const auto& [seconds, name] : kUnits)
    if (length % seconds == 0) return fmt::format("{} {}", length / seconds, name);
  return fmt::format("{} s", length);
}

}  // namespace bloomery::cli
