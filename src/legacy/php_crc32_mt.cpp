// CRC-32 eight bytes at a time, with eight tables of 256 words.
#include "legacy/php_crc32_mt.hpp"

#include <array>
#include <cstddef>

#include "base/endian.hpp"

namespace bloomery::detail {
namespace {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

// tables[t][b]: what byte b does to the sum if t more bytes follow.
constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    std::uint32_t sum = b;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((0U - (sum & 1U)) & 0xEDB88320U);
    tables[0][b] = sum;
  }
  for (std::size_t t = 1; t < tables.size(); ++t)
    for (std::size_t b = 0; b < 256; ++b)
      tables[t][b] = (tables[t - 1][b] >> 8) ^ tables[0][tables[t - 1][b] & 255];
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

std::uint32_t crc32(std::string_view bytes) noexcept {
  std::uint32_t sum = 0xFFFFFFFF;
  while (bytes.size() >= 8) {
    const std::uint64_t word = load_le64(bytes.data()) ^ sum;
    sum = 0;
    for (std::size_t i = 0; i < 8; ++i) sum ^= kTables[7 - i][word >> (8 * i) & 255];
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes)
    sum = (sum >> 8) ^ kTables[0][(sum ^ static_cast<unsigned char>(byte)) & 255];
  return ~sum;
}

}  // namespace bloomery::detail
