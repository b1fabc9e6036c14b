// Keys as in practice: structured sets, which expose a poor hash.
//
// Each family is a numbered list of distinct keys, so that a test inserts the first n and
// takes the following ones as certainly absent.
#pragma once

#include <bloomery/hash.hpp>

#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "support/random.hpp"

namespace bloomery::test {

struct KeyFamily {
  const char* name;
  std::uint64_t (*integer)(std::uint64_t i);  // one of the two is null
  std::string (*text)(std::uint64_t i);

  [[nodiscard]] Hash128 hash(const Hasher& hasher, std::uint64_t i) const {
    return integer != nullptr ? hasher(integer(i)) : hasher(std::string_view(text(i)));
  }
  [[nodiscard]] std::vector<Hash128> hashes(const Hasher& hasher, std::uint64_t first,
                                            std::uint64_t count) const {
    std::vector<Hash128> out(count);
    for (std::uint64_t i = 0; i < count; ++i) out[i] = hash(hasher, first + i);
    return out;
  }
  // One of the two is empty.
  [[nodiscard]] std::vector<std::uint64_t> integers(std::uint64_t count) const {
    std::vector<std::uint64_t> out;
    for (std::uint64_t i = 0; integer != nullptr && i < count; ++i) out.push_back(integer(i));
    return out;
  }
  [[nodiscard]] std::vector<std::string> texts(std::uint64_t count) const {
    std::vector<std::string> out;
    for (std::uint64_t i = 0; text != nullptr && i < count; ++i) out.push_back(text(i));
    return out;
  }
};

namespace families {

// So many hexadecimal digits.
inline std::string hex(std::uint64_t number, unsigned digits) {
  std::string text(digits, '0');
  for (; digits-- != 0; number >>= 4) text[digits] = "0123456789abcdef"[number & 15];
  return text;
}

inline std::uint64_t sequential(std::uint64_t i) { return i; }
inline std::uint64_t random(std::uint64_t i) { return mix(i); }
inline std::uint64_t big_endian(std::uint64_t i) { return __builtin_bswap64(i); }
inline std::uint64_t negative(std::uint64_t i) { return ~i; }
inline std::uint64_t address(std::uint64_t i) { return 0x0A000000 + i; }
// Multiples of 2^k; distinct below 2^(64 - k) keys.
template <unsigned kShift>
std::uint64_t multiples(std::uint64_t i) {
  return i << kShift;
}
// Groups of 65: a random key, and the 64 keys that differ from it in one bit.
inline std::uint64_t neighbours(std::uint64_t i) {
  const std::uint64_t bit = i % 65;
  return mix(i / 65) ^ (bit == 64 ? 0 : std::uint64_t{1} << bit);
}

inline std::string decimal(std::uint64_t i) { return std::to_string(i); }
inline std::string url(std::uint64_t i) {
  return "https://www.example.org/archive/" + decimal(i / 1000) + "/item-" + decimal(i) +
         ".html?page=" + decimal(i % 7);
}
inline std::string uuid(std::uint64_t i) {
  const std::uint64_t a = mix(2 * i), b = mix(2 * i + 1);
  return hex(a >> 32, 8) + '-' + hex(a >> 16, 4) + "-4" + hex(a, 3) + '-' +
         hex(0x8000 | (b >> 48 & 0x3FFF), 4) + '-' + hex(b, 12);
}
inline std::string text_neighbours(std::uint64_t i) {
  constexpr std::uint64_t kBits = 160;
  std::string key = Random(i / kBits).bytes(kBits / 8);
  const std::uint64_t bit = i % kBits;
  key[bit / 8] = static_cast<char>(key[bit / 8] ^ 1 << (bit % 8));
  return key;
}
inline std::string one_byte_repeated(std::uint64_t i) {
  return std::string(1 + i / 256, static_cast<char>(i % 256));
}
inline std::string ipv4(std::uint64_t i) {
  return decimal(10 + (i >> 24)) + '.' + decimal(i >> 16 & 255) + '.' + decimal(i >> 8 & 255) +
         '.' + decimal(i & 255);
}
inline std::string big_endian_text(std::uint64_t i) {
  std::string key(8, '\0');
  for (unsigned byte = 0; byte < 8; ++byte)
    key[byte] = static_cast<char>(i >> (56 - 8 * byte) & 255);
  return key;
}
inline std::string random_text(std::uint64_t i) {
  Random random(mix(i));
  const std::uint64_t size = 8 + random.below(56);
  return big_endian_text(i) + random.bytes(size);
}

}  // namespace families

inline std::span<const KeyFamily> key_families() noexcept {
  static constexpr KeyFamily kFamilies[] = {
      {"sequential integers", families::sequential, nullptr},
      {"random integers", families::random, nullptr},
      {"big-endian counters", families::big_endian, nullptr},
      {"negative integers", families::negative, nullptr},
      {"IPv4 integers", families::address, nullptr},
      {"multiples of 2^8", families::multiples<8>, nullptr},
      {"multiples of 2^20", families::multiples<20>, nullptr},
      {"multiples of 2^32", families::multiples<32>, nullptr},
      {"multiples of 2^40", families::multiples<40>, nullptr},
      {"one-bit neighbours", families::neighbours, nullptr},
      {"decimal strings", nullptr, families::decimal},
      {"URLs", nullptr, families::url},
      {"UUIDs", nullptr, families::uuid},
      {"one-bit neighbour strings", nullptr, families::text_neighbours},
      {"one byte repeated", nullptr, families::one_byte_repeated},
      {"IPv4 strings", nullptr, families::ipv4},
      {"big-endian counter strings", nullptr, families::big_endian_text},
      {"random strings", nullptr, families::random_text},
  };
  return kFamilies;
}

inline void PrintTo(const KeyFamily& family, std::ostream* out) { *out << family.name; }

class OfEachFamily : public testing::TestWithParam<KeyFamily> {
 protected:
  [[nodiscard]] static const KeyFamily& family() { return GetParam(); }
};

inline std::string name_of_family(const testing::TestParamInfo<KeyFamily>& info) {
  std::string name = info.param.name;
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return name;
}

}  // namespace bloomery::test
