// Lengths come before texts, so any bytes can be sent.
#include "redis/wire/commands.hpp"

#include <array>
#include <charconv>

namespace bloomery::detail {
namespace {

std::string_view digits_of(std::uint64_t value, std::array<char, 20>& digits) {
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), static_cast<std::size_t>(end.ptr - digits.data())};
}

void append_number(std::string& to, std::uint64_t value) {
  std::array<char, 20> digits;
  to += digits_of(value, digits);
}

}  // namespace

Commands& Commands::begin(std::size_t words) {
  ++count_;
  bytes_ += '*';
  append_number(bytes_, words);
  bytes_ += "\r\n";
  return *this;
}

Commands& Commands::word(std::string_view text) {
  bytes_ += '$';
  append_number(bytes_, text.size());
  bytes_ += "\r\n";
  bytes_ += text;
  bytes_ += "\r\n";
  return *this;
}

Commands& Commands::number(std::uint64_t value) {
  std::array<char, 20> digits;
  return word(digits_of(value, digits));
}

Commands& Commands::command(std::initializer_list<std::string_view> words) {
  begin(words.size());
  for (const std::string_view each : words) word(each);
  return *this;
}

Commands& Commands::command(const std::vector<std::string>& words) {
  begin(words.size());
  for (const std::string& each : words) word(each);
  return *this;
}

Commands& Commands::append(std::string_view command) {
  ++count_;
  bytes_ += command;
  return *this;
}

}  // namespace bloomery::detail
