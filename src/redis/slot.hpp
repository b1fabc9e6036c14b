// The slot of a Redis Cluster that a key belongs to.
//
// CRC16 (XMODEM: polynomial 0x1021, from zero) modulo 16384 of the key, or of its tag: what
// stands between the first '{' and the next '}', unless that is nothing (Redis Cluster
// Specification, "Hash tags").
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace bloomery::detail {

constexpr std::uint32_t kSlots = 16'384;

[[nodiscard]] constexpr std::uint16_t crc16(std::string_view text) noexcept {
  std::uint32_t sum = 0;
  for (const char each : text) {
    sum ^= std::uint32_t{static_cast<unsigned char>(each)} << 8;
    for (int bit = 0; bit < 8; ++bit)
      sum = (sum << 1 ^ ((sum & 0x8000) != 0 ? 0x1021U : 0U)) & 0xFFFF;
  }
  return static_cast<std::uint16_t>(sum);
}

[[nodiscard]] constexpr std::uint16_t slot_of(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open != std::string_view::npos) {
    const std::size_t close = key.find('}', open + 1);
    if (close != std::string_view::npos && close > open + 1)
      key = key.substr(open + 1, close - open - 1);
  }
  return crc16(key) % kSlots;
}

static_assert(crc16("123456789") == 0x31C3);

}  // namespace bloomery::detail
