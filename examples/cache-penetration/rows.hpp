// The rows of the example: row i has a key that cannot be guessed, and a body that names it.
//
// Rows are added at the end and deleted at the beginning, like sessions or offers.
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

// The numbers of the existing rows: at least first to last - 1. A row is counted only after it is
// committed, and no longer counted before it is deleted.
struct Existing {
  std::atomic<std::uint64_t> first = 0;
  std::atomic<std::uint64_t> last = 0;
};
