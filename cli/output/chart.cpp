// Draws charts with block characters, each an eighth higher than the one before.
#include "output/plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace bloomery::cli {

namespace {

constexpr std::size_t kEighths = 8;
constexpr std::array<std::string_view, kEighths + 1> kBars{" ", "▁", "▂", "▃", "▄",
                                                           "▅", "▆", "▇", "█"};

// The height of the value in eighths of a line.
std::size_t eighths_of(double value, double top, std::size_t height) {
  if (!(value > 0) || !(top > 0)) return 0;
  const auto most = static_cast<double>(height * kEighths);
  return static_cast<std::size_t>(std::clamp(std::round(value / top * most), 1.0, most));
}

std::string line_of(std::span<const double> values, double top, std::size_t height,
                    std::size_t line) {
  std::string text;
  for (const double value : values) {
    const std::size_t eighths = eighths_of(value, top, height);
    const std::size_t below = line * kEighths;
    text += kBars[eighths > below ? std::min(eighths - below, kEighths) : 0];
  }
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

}  // namespace

std::string column_chart(std::span<const double> values, double top, std::size_t height,
                         std::size_t tick, std::string (*text_of)(double)) {
  std::string out;
  for (std::size_t line = height; line-- > 0;) {
    const bool labelled = (height - 1 - line) % 2 == 0;
    const double edge = top * static_cast<double>(line + 1) / static_cast<double>(height);
    out += fmt::format("{:>10} {}{}\n", labelled ? text_of(edge) : std::string(),
                       labelled ? "┤" : "│", line_of(values, top, height, line));
  }
  out += fmt::format("{:>10} └", "");
  for (std::size_t i = 1; i <= values.size(); ++i) out += i % tick == 0 ? "┴" : "─";
  return out + "\n";
}

std::string strip_chart(std::span<const double> values, double top) {
  return line_of(values, top, 1, 0);
}

}  // namespace bloomery::cli
