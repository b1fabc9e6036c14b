// The rows of the example: number i has a key that nobody can guess, and a body that names it.
//
// Rows come at the end of the numbers and go from their beginning, as sessions or offers do.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>

// 16 hexadecimal digits; distinct for distinct numbers.
inline std::string key_of(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xBF58'476D'1CE4'E5B9;
  number = (number ^ (number >> 27)) * 0x94D0'49BB'1331'11EB;
  number ^= number >> 31;
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return digits;
}

inline std::string body_of(std::uint64_t number) {
  return "offer " + std::to_string(number) + ": " + std::string(80, '.');
}

// The numbers of the rows that exist: at least first to last - 1. A row is counted after it is
// committed, and no more before it is deleted.
struct Existing {
  std::atomic<std::uint64_t> first = 0;
  std::atomic<std::uint64_t> last = 0;
};
