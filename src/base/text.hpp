// Sentences with values in them, for messages.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace bloomery::detail {

inline std::string text_of(std::string_view text) { return std::string(text); }
template <std::integral T>
std::string text_of(T number) {
  return std::to_string(number);
}

// The pattern with each {} replaced by the next value.
template <class... Values>
std::string fill_in(std::string_view pattern, const Values&... values) {
  std::string out;
  const auto put = [&](const std::string& value) {
    const std::size_t at = pattern.find("{}");
    out.append(pattern.substr(0, at)).append(value);
    pattern.remove_prefix(at + 2);
  };
  (put(text_of(values)), ...);
  return out.append(pattern);
}

}  // namespace bloomery::detail
