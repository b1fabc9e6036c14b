// A small random source that gives the same numbers on every machine and every run.
#pragma once

#include <bloomery/hash.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "support/effort.hpp"

namespace bloomery::test {

// SplitMix64's finalizer: a bijection of 64-bit integers without visible structure.
constexpr std::uint64_t mix(std::uint64_t z) noexcept {
  z += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// Keys without visible structure; ranges that do not overlap have different keys.
inline std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = mix(first + i);
  return keys;
}

class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t operator()() noexcept {
    const std::uint64_t value = mix(state_);
    state_ += 0x9E3779B97F4A7C15;
    return value;
  }
  std::uint64_t below(std::uint64_t n) noexcept {
    return static_cast<std::uint64_t>((static_cast<detail::uint128>((*this)()) * n) >> 64);
  }
  Hash128 hash() noexcept {
    const std::uint64_t high = (*this)();
    return {high, (*this)()};
  }
  std::vector<Hash128> hashes(std::size_t count) {
    std::vector<Hash128> out(count);
    for (Hash128& each : out) each = hash();
    return out;
  }
  std::string bytes(std::size_t size) {
    std::string out(size, '\0');
    for (char& byte : out) byte = static_cast<char>((*this)() >> 56);
    return out;
  }

 private:
  std::uint64_t state_;
};

}  // namespace bloomery::test
