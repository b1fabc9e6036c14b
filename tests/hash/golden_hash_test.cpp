// The hash of a key is stable: golden values of every family.
//
// A filter written yesterday is read tomorrow, so no value here may ever change.
#include <bloomery/hash.hpp>

#include <gtest/gtest.h>
#include <xxhash.h>

#include <string>

#include "hash/siphash_vectors.hpp"
#include "support/hex.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

// The 16 bytes of a hash: low first, each half little-endian.
std::string bytes_of(Hash128 hash) {
  std::string out;
  for (const std::uint64_t half : {hash.low, hash.high})
    for (unsigned byte = 0; byte < 8; ++byte) out += static_cast<char>(half >> (8 * byte) & 255);
  return out;
}

std::string counting_bytes(std::size_t size) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>(i * 167 + i / 256);
  return out;
}

struct Golden {
  std::uint64_t key, seed, high, low;
};

constexpr Golden kIntegers[] = {
    {0x0, 0x0, 0x0000000000000000, 0x0000000000000000},
    {0x1, 0x0, 0x42228CC6623A0E7D, 0xD6E8FEB86659FD93},
    {0x2, 0x0, 0x6665C1C63F91EAA9, 0xADD1FD70CCB3FB27},
    {0x61, 0x0, 0x931639B8D278407E, 0x6E4883DEC81914E2},
    {0xFFFFFFFF, 0x0, 0xDAEE54B7DA2B6B06, 0x8F70FEDA4F4EFCDA},
    {0x100000000, 0x0, 0xD19E7CE7C01777C8, 0x6659FD93D6E8FEB8},
    {0x8000000000000000, 0x0, 0x3000F246738E2067, 0xEB747F5C332CFEC9},
    {0xFFFFFFFFFFFFFFFF, 0x0, 0x1DDF57C684E23251, 0xFFFFFFFFFFFFFFFF},
    {0x123456789ABCDEF, 0x0, 0xA649CA06A796A3B5, 0xB9EC210FE9D601DB},
    {0x0, 0x1, 0x0000000000000000, 0x0000000000000000},
    {0x1, 0x1, 0xC4AFDDB9271EFFD3, 0xD6E8FEB86659FD93},
    {0x2, 0x1, 0x1A69E95ED7405C67, 0xADD1FD70CCB3FB27},
    {0x61, 0x1, 0x27817194FA2DF662, 0x6E4883DEC81914E2},
    {0xFFFFFFFF, 0x1, 0xEBB3E5FCD11EF85A, 0x8F70FEDA4F4EFCDA},
    {0x100000000, 0x1, 0xD8E4D57336A228B8, 0x6659FD93D6E8FEB8},
    {0x8000000000000000, 0x1, 0x99D2D7E64F0E5189, 0xEB747F5C332CFEC9},
    {0xFFFFFFFFFFFFFFFF, 0x1, 0x6EF5D21376FDA33F, 0xFFFFFFFFFFFFFFFF},
    {0x123456789ABCDEF, 0x1, 0x1A55349669B81A1B, 0xB9EC210FE9D601DB},
    {0x0, 0x123456789ABCDEF, 0x0000000000000000, 0x0000000000000000},
    {0x1, 0x123456789ABCDEF, 0x539994CA58B12127, 0xD6E8FEB86659FD93},
    {0x2, 0x123456789ABCDEF, 0xBCAD619C55F1ECEB, 0xADD1FD70CCB3FB27},
    {0x61, 0x123456789ABCDEF, 0x9EA1AA12D17DE29A, 0x6E4883DEC81914E2},
    {0xFFFFFFFF, 0x123456789ABCDEF, 0x0CA6C59DFD1FD5B2, 0x8F70FEDA4F4EFCDA},
    {0x100000000, 0x123456789ABCDEF, 0x369E36BDAED266D8, 0x6659FD93D6E8FEB8},
    {0x8000000000000000, 0x123456789ABCDEF, 0x1F0FAE615A10BB45, 0xEB747F5C332CFEC9},
    {0xFFFFFFFFFFFFFFFF, 0x123456789ABCDEF, 0xEA85C7F85B705563, 0xFFFFFFFFFFFFFFFF},
    {0x123456789ABCDEF, 0x123456789ABCDEF, 0x8C1584C2DACF914F, 0xB9EC210FE9D601DB},
    {0x0, 0xFFFFFFFFFFFFFFFF, 0x0000000000000000, 0x0000000000000000},
    {0x1, 0xFFFFFFFFFFFFFFFF, 0xDBBA28F1352DF3F3, 0xD6E8FEB86659FD93},
    {0x2, 0xFFFFFFFFFFFFFFFF, 0x9C4DC35985C11407, 0xADD1FD70CCB3FB27},
    {0x61, 0xFFFFFFFFFFFFFFFF, 0x457558432DFC8922, 0x6E4883DEC81914E2},
    {0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0xB3FAC1F08CA6101A, 0x8F70FEDA4F4EFCDA},
    {0x100000000, 0xFFFFFFFFFFFFFFFF, 0xD4E31550A66875B8, 0x6659FD93D6E8FEB8},
    {0x8000000000000000, 0xFFFFFFFFFFFFFFFF, 0xFB705BBD0CE463E9, 0xEB747F5C332CFEC9},
    {0xFFFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF, 0x1B268E88E49AD3DF, 0xFFFFFFFFFFFFFFFF},
    {0x123456789ABCDEF, 0xFFFFFFFFFFFFFFFF, 0x0DFF5AABC14EE13B, 0xB9EC210FE9D601DB},
};

TEST(GoldenHash, IntegersOfXxh3) {
  for (const Golden& golden : kIntegers) {
    const Hasher hasher(HashFamily::xxh3, {.low = golden.seed, .high = 0});
    EXPECT_EQ(hasher(golden.key), (Hash128{golden.high, golden.low}))
        << std::hex << "key 0x" << golden.key << " seed 0x" << golden.seed << ": 0x"
        << hasher(golden.key).high << ", 0x" << hasher(golden.key).low;
  }
}

struct GoldenBytes {
  std::size_t size;
  std::uint64_t seed, high, low;
};

// Around every length at which XXH3 changes its path.
constexpr GoldenBytes kGoldenBytes[] = {
    {0, 0x0, 0x99AA06D3014798D8, 0x6001C324468D497F},
    {1, 0x0, 0xA6CD5E9392000F6A, 0xC44BDFF4074EECDB},
    {3, 0x0, 0x82271A7B5276669E, 0xF3EA324084D6587C},
    {4, 0x0, 0xF8709611B1F6CD87, 0xC89763CBDDB18240},
    {8, 0x0, 0xBE8BED0EBB2D5464, 0x25CF7CC25927EA82},
    {9, 0x0, 0x239D32CACB62AB80, 0x8BAC796201949ED1},
    {16, 0x0, 0x58BEF3E094AD7425, 0x62E9DBE370805B66},
    {17, 0x0, 0x5CDF78197D6C5ED0, 0xEADAF7C446A821D3},
    {128, 0x0, 0x6364BA4EB5E0D68D, 0x49F1BAEB9259B91F},
    {129, 0x0, 0xB34DCC37D8CB3832, 0x8F901EAD07B18018},
    {240, 0x0, 0x7F9DC0C69E5D78AD, 0x6CA2539364B765E5},
    {241, 0x0, 0x30FAFD9E3931DBD1, 0x9DC4F9091538415E},
    {256, 0x0, 0xA3DC440DB2C5F7F0, 0xF10740CC92F50822},
    {300, 0x0, 0x617EB3056707E190, 0xFF007D9A9526D553},
    {0, 0x123456789ABCDEF, 0xA4CB05DBBF09907A, 0xAAA287AF24A9BB3A},
    {1, 0x123456789ABCDEF, 0xCFEDA14808382AD3, 0xD5DD68911C7F195D},
    {3, 0x123456789ABCDEF, 0x8117CAD02415CCE5, 0xCFBCA29B98BE7C8F},
    {4, 0x123456789ABCDEF, 0xA6397130E4AFC729, 0xFF5FA3243DD92DE3},
    {8, 0x123456789ABCDEF, 0x618E69F76C86D5F3, 0x908B67524B248879},
    {9, 0x123456789ABCDEF, 0x600E1312BFB32BED, 0x1C9D051CE333121B},
    {16, 0x123456789ABCDEF, 0xF5F678D2728DF2F2, 0xA6F9B521B6A668C3},
    {17, 0x123456789ABCDEF, 0x55F59C8667EC2298, 0x6C5C438453CA96C2},
    {128, 0x123456789ABCDEF, 0x180B4C69821D0BEC, 0x71A9EB587268540C},
    {129, 0x123456789ABCDEF, 0xD8C5AE890A51D881, 0x9150347D48D29221},
    {240, 0x123456789ABCDEF, 0x8968978637E9F624, 0x1870B74807102523},
    {241, 0x123456789ABCDEF, 0x005DD23F82EEAF50, 0xB8F9D804D8640EB5},
    {256, 0x123456789ABCDEF, 0x4677E03754B72A00, 0x1A717BC741B7EEDF},
    {300, 0x123456789ABCDEF, 0x2BF3FA6111706010, 0x90C5458034F402E3},
};

TEST(GoldenHash, BytesOfXxh3) {
  for (const GoldenBytes& golden : kGoldenBytes) {
    const Hasher hasher(HashFamily::xxh3, {.low = golden.seed, .high = 0});
    const Hash128 hash = hasher(counting_bytes(golden.size));
    EXPECT_EQ(hash, (Hash128{golden.high, golden.low}))
        << std::hex << "{" << std::dec << golden.size << std::hex << ", 0x" << golden.seed << ", 0x"
        << hash.high << ", 0x" << hash.low << "},";
  }
}

// xxHash compiled by somebody else: the system's shared library.
TEST(GoldenHash, BytesOfXxh3AreThoseOfTheXxHashLibrary) {
  for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}})
    for (std::size_t size = 0; size <= 300; ++size) {
      const std::string key = counting_bytes(size);
      const XXH128_hash_t expected = XXH3_128bits_withSeed(key.data(), key.size(), seed);
      const Hasher hasher(HashFamily::xxh3, {.low = seed, .high = 0});
      ASSERT_EQ(hasher(key), (Hash128{expected.high64, expected.low64})) << size;
    }
}

TEST(GoldenHash, SipHashIsThePublishedOne) {
  // The key 00 01 .. 0f as two little-endian halves.
  const Hasher hasher(HashFamily::siphash, {.low = 0x0706050403020100, .high = 0x0F0E0D0C0B0A0908});
  std::string message;
  for (std::size_t size = 0; size < kSipHashVectors.size(); ++size) {
    EXPECT_EQ(to_hex(bytes_of(hasher(message))), kSipHashVectors[size]) << size;
    message += static_cast<char>(size);
  }
}

TEST(GoldenHash, IntegersOfSipHashAreTheirEightBytes) {
  const Hasher hasher(HashFamily::siphash, {.low = 0x0706050403020100, .high = 0x0F0E0D0C0B0A0908});
  EXPECT_EQ(to_hex(bytes_of(hasher(std::uint64_t{0x0706050403020100}))), kSipHashVectors[8]);
}

// One number over all lengths, families and several seeds; a change anywhere changes it.
TEST(GoldenHash, DigestOfAllLengths) {
  std::string all;
  for (const std::uint64_t seed :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x0123456789ABCDEF}})
    for (const HashFamily family : {HashFamily::xxh3, HashFamily::siphash}) {
      const Hasher hasher(family, {.low = seed, .high = family == HashFamily::siphash ? ~seed : 0});
      for (std::size_t size = 0; size <= 300; ++size) all += bytes_of(hasher(counting_bytes(size)));
      for (std::uint64_t i = 0; i < 300; ++i) all += bytes_of(hasher(mix(i)));
    }
  EXPECT_EQ(XXH3_64bits(all.data(), all.size()), 0x6B7552485068F24BU);
}

}  // namespace
}  // namespace bloomery::test
