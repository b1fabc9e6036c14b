// Numbers as people read them: grouped digits, sizes, rates, durations.
#pragma once

#include <bloomery/window_plan.hpp>

#include <concepts>
#include <cstdint>
#include <string>

namespace bloomery::cli {

[[nodiscard]] std::string group_digits(std::uint64_t number);  // 1,234,567
[[nodiscard]] std::string group_digits(double number);         // rounded; "unknown" if infinite
// 1 key, 1,234 keys
[[nodiscard]] std::string counted(std::uint64_t number, const std::string& noun);
[[nodiscard]] std::string bytes_text(double bytes);  // 184.7 MiB
template <std::integral T>
[[nodiscard]] std::string bytes_text(T bytes) {
  return bytes_text(static_cast<double>(bytes));
}
[[nodiscard]] std::string fpr_text(double fpr);           // 0.0998 %, or 1.02e-06 below 1e-4
[[nodiscard]] std::string share_text(double share);       // 49.8 %
[[nodiscard]] std::string speed_text(double per_second);  // 12,345 lines/s, or 1.23 M lines/s
[[nodiscard]] std::string duration_text(double seconds);  // 0.85 s, 3 min 20 s, 2 h 5 min
// A length of a window: "7 d", "10,000,000 lines".
[[nodiscard]] std::string length_text(WindowUnit unit, std::uint64_t length);

}  // namespace bloomery::cli
