// Integers are little-endian in bytes, on every machine.
#include "base/endian.hpp"

#include <gtest/gtest.h>

#include <array>

namespace bloomery::detail {
namespace {

TEST(Endian, StoresTheLowestByteFirst) {
  std::array<unsigned char, 9> bytes{};
  store_le64(bytes.data() + 1, 0x0102030405060708);
  EXPECT_EQ(bytes, (std::array<unsigned char, 9>{0, 8, 7, 6, 5, 4, 3, 2, 1}));
  store_le<std::uint32_t>(bytes.data() + 1, 0xA1B2C3D4);
  EXPECT_EQ(bytes, (std::array<unsigned char, 9>{0, 0xD4, 0xC3, 0xB2, 0xA1, 4, 3, 2, 1}));
  store_le<std::uint16_t>(bytes.data(), 0xBEEF);
  EXPECT_EQ(bytes[0], 0xEF);
  EXPECT_EQ(bytes[1], 0xBE);
}

TEST(Endian, LoadsWhatItStoredAtAnyAlignment) {
  std::array<unsigned char, 24> bytes{};
  for (std::size_t offset = 0; offset < 16; ++offset) {
    store_le64(bytes.data() + offset, 0xFEDCBA9876543210 + offset);
    EXPECT_EQ(load_le64(bytes.data() + offset), 0xFEDCBA9876543210 + offset);
    EXPECT_EQ(load_le<std::uint32_t>(bytes.data() + offset), 0x76543210 + offset);
    EXPECT_EQ(load_le<std::uint16_t>(bytes.data() + offset), 0x3210 + offset);
    EXPECT_EQ(load_le<std::uint8_t>(bytes.data() + offset), 0x10 + offset);
  }
}

TEST(Endian, ToLittleEndianIsItsOwnInverse) {
  EXPECT_EQ(to_le(to_le(std::uint64_t{0x0102030405060708})), 0x0102030405060708U);
  EXPECT_EQ(to_le(to_le(std::uint32_t{0x01020304})), 0x01020304U);
  EXPECT_EQ(to_le(to_le(std::uint16_t{0x0102})), 0x0102U);
}

}  // namespace
}  // namespace bloomery::detail
