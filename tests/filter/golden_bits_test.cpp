// The bits of a key are pinned for ever: golden arrays of every layout, and the naive filter
// that anyone can read beside them.
//
// No value here may ever change: filters of every earlier version are read by every later one.
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>
#include <xxhash.h>

#include <string>

#include "support/naive_filter.hpp"

namespace bloomery {
namespace {

std::uint64_t digest(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

TEST(GoldenBits, LaneMultipliers) {
  for (unsigned word = 0; word < 16; ++word)
    EXPECT_EQ(detail::kLaneMultipliers[word], test::lane_multiplier(word)) << word;
  EXPECT_EQ(detail::kLaneMultipliers[0], 0xE220A839U);
  EXPECT_EQ(detail::kLaneMultipliers[15], 0x84BB3F97U);
}

TEST(GoldenBits, WordMasks) {
  std::string all;
  for (std::uint32_t k = 1; k <= 16; ++k)
    for (unsigned choice = 0; choice < 64; ++choice) {
      unsigned expected = 0;
      for (std::uint32_t j = 0; j < k; ++j)
        expected |= 1U << (choice % 16 + j * (2 * (choice / 16) + 1)) % 16;
      const unsigned mask = detail::word_masks(k).of[choice];
      ASSERT_EQ(mask, expected) << "k " << k << " choice " << choice;
      ASSERT_EQ(std::popcount(mask), static_cast<int>(k));
      all += static_cast<char>(mask & 255);
      all += static_cast<char>(mask >> 8);
    }
  EXPECT_EQ(XXH3_64bits(all.data(), all.size()), 0x407F31320A3FA1E9U);
}

struct Golden {
  Layout layout;
  std::uint32_t hashes;
  HashFamily family;
  Seed seed;
  std::uint64_t digest;
};

constexpr Layout kLine = Layout::line, kPair = Layout::pair, kClassic = Layout::classic;
constexpr HashFamily kXxh3 = HashFamily::xxh3, kSipHash = HashFamily::siphash;

// XXH3-64 of 1,009 lines that hold the integers 0 to 2,999 and the strings "key 0" to "key 2999".
constexpr Golden kGolden[] = {
    {kLine, 1, kXxh3, {0, 0}, 0x63304CC18BC36E99},
    {kLine, 1, kXxh3, {0x0123456789ABCDEF, 0}, 0xB6BFA1CE613FC2D6},
    {kLine, 1, kSipHash, {1, 2}, 0xC67277C00167948F},
    {kLine, 2, kXxh3, {0, 0}, 0x70E9A6770FC81CB1},
    {kLine, 2, kXxh3, {0x0123456789ABCDEF, 0}, 0xF54960C1A9012563},
    {kLine, 2, kSipHash, {1, 2}, 0x8856E58F82EB5BCD},
    {kLine, 3, kXxh3, {0, 0}, 0x1712CC3BBADE1409},
    {kLine, 3, kXxh3, {0x0123456789ABCDEF, 0}, 0x3B8B08265EFB3FFF},
    {kLine, 3, kSipHash, {1, 2}, 0xDC7E07BD1B3F6EF5},
    {kLine, 4, kXxh3, {0, 0}, 0x016138D5D1BA8B42},
    {kLine, 4, kXxh3, {0x0123456789ABCDEF, 0}, 0x64F60CC626F26F8B},
    {kLine, 4, kSipHash, {1, 2}, 0x6F95CD00B11A3FDB},
    {kLine, 5, kXxh3, {0, 0}, 0x4460A46DB63975CF},
    {kLine, 5, kXxh3, {0x0123456789ABCDEF, 0}, 0xD6AE854B5BCB68E9},
    {kLine, 5, kSipHash, {1, 2}, 0x8BF998512A0558EA},
    {kLine, 7, kXxh3, {0, 0}, 0x23E34915E0DF696C},
    {kLine, 7, kXxh3, {0x0123456789ABCDEF, 0}, 0xBAAE0588D5EF1E06},
    {kLine, 7, kSipHash, {1, 2}, 0xE9BBF7C8CE7F9069},
    {kLine, 8, kXxh3, {0, 0}, 0xCEFEA17B4713241E},
    {kLine, 8, kXxh3, {0x0123456789ABCDEF, 0}, 0x1920DE20C051A43E},
    {kLine, 8, kSipHash, {1, 2}, 0x7D7A2CC8BB8A1D8C},
    {kLine, 10, kXxh3, {0, 0}, 0xA1EC5050F3E9489B},
    {kLine, 10, kXxh3, {0x0123456789ABCDEF, 0}, 0x02D8CDC77776BEBB},
    {kLine, 10, kSipHash, {1, 2}, 0xB896D0C5A401DB77},
    {kLine, 13, kXxh3, {0, 0}, 0xCB81D40283B9E745},
    {kLine, 13, kXxh3, {0x0123456789ABCDEF, 0}, 0xA7614110D13C3843},
    {kLine, 13, kSipHash, {1, 2}, 0xD63B2BBBEE0BF551},
    {kLine, 16, kXxh3, {0, 0}, 0xE9410AFCD552BB83},
    {kLine, 16, kXxh3, {0x0123456789ABCDEF, 0}, 0x6EEF47141BD764B7},
    {kLine, 16, kSipHash, {1, 2}, 0x1F0039D84D1413D2},
    {kPair, 2, kXxh3, {0, 0}, 0x12B1014852FF647A},
    {kPair, 2, kXxh3, {0x0123456789ABCDEF, 0}, 0x3EA98BAB019C72F5},
    {kPair, 2, kSipHash, {1, 2}, 0xAB842933765C681A},
    {kPair, 4, kXxh3, {0, 0}, 0xDE6D02865A0F39E5},
    {kPair, 4, kXxh3, {0x0123456789ABCDEF, 0}, 0x55AA7122A7DF93DB},
    {kPair, 4, kSipHash, {1, 2}, 0xDDD3C7389E3A4CD4},
    {kPair, 6, kXxh3, {0, 0}, 0xA02DBB555F6CE1B2},
    {kPair, 6, kXxh3, {0x0123456789ABCDEF, 0}, 0xBFBB2F6F7CD14866},
    {kPair, 6, kSipHash, {1, 2}, 0x8905E78D13116AA3},
    {kPair, 10, kXxh3, {0, 0}, 0x950CDD07F209F759},
    {kPair, 10, kXxh3, {0x0123456789ABCDEF, 0}, 0xC84765D45269FA71},
    {kPair, 10, kSipHash, {1, 2}, 0x45E24EFD6EC96E29},
    {kPair, 14, kXxh3, {0, 0}, 0xE55E8625E36B84DB},
    {kPair, 14, kXxh3, {0x0123456789ABCDEF, 0}, 0xE3B83776D8C4CBA6},
    {kPair, 14, kSipHash, {1, 2}, 0x536482A21430F345},
    {kPair, 20, kXxh3, {0, 0}, 0x51DECB546F198330},
    {kPair, 20, kXxh3, {0x0123456789ABCDEF, 0}, 0x5279310BAFBA8016},
    {kPair, 20, kSipHash, {1, 2}, 0x14EE029F4F24CE05},
    {kPair, 32, kXxh3, {0, 0}, 0xC4A5D0E0D9999BC4},
    {kPair, 32, kXxh3, {0x0123456789ABCDEF, 0}, 0x5127181D6851B02F},
    {kPair, 32, kSipHash, {1, 2}, 0x71E4513CA8DF94D6},
    {kClassic, 1, kXxh3, {0, 0}, 0x7E1E71A8FA1E2849},
    {kClassic, 1, kXxh3, {0x0123456789ABCDEF, 0}, 0xD8975F265BA20B42},
    {kClassic, 1, kSipHash, {1, 2}, 0x1CE0D3FD6CB3B6C2},
    {kClassic, 2, kXxh3, {0, 0}, 0x4DE747CB8E80FB4F},
    {kClassic, 2, kXxh3, {0x0123456789ABCDEF, 0}, 0x63904C46260580B6},
    {kClassic, 2, kSipHash, {1, 2}, 0x024F48ECBF1A39FB},
    {kClassic, 3, kXxh3, {0, 0}, 0xE8D0ADDDCD34D8A3},
    {kClassic, 3, kXxh3, {0x0123456789ABCDEF, 0}, 0x219B7434AEE054B8},
    {kClassic, 3, kSipHash, {1, 2}, 0x94D4D64461502F4D},
    {kClassic, 7, kXxh3, {0, 0}, 0x265F728B61B21C5F},
    {kClassic, 7, kXxh3, {0x0123456789ABCDEF, 0}, 0xDE721D43994261E3},
    {kClassic, 7, kSipHash, {1, 2}, 0xFF51BF8A1E997000},
    {kClassic, 10, kXxh3, {0, 0}, 0x209C43B9A1265E9F},
    {kClassic, 10, kXxh3, {0x0123456789ABCDEF, 0}, 0x729CDA907020EAED},
    {kClassic, 10, kSipHash, {1, 2}, 0xA1C26A5A4E66A3CA},
    {kClassic, 16, kXxh3, {0, 0}, 0x60BD5C26692AF5BC},
    {kClassic, 16, kXxh3, {0x0123456789ABCDEF, 0}, 0xC83478C4A2FC27D4},
    {kClassic, 16, kSipHash, {1, 2}, 0x3AB3C7CB87BDCA88},
    {kClassic, 33, kXxh3, {0, 0}, 0xF2EF04EA1C83881F},
    {kClassic, 33, kXxh3, {0x0123456789ABCDEF, 0}, 0x02F99B525E7ED7CD},
    {kClassic, 33, kSipHash, {1, 2}, 0xFA64C1C6CAA34169},
    {kClassic, 64, kXxh3, {0, 0}, 0x9055B9573DF35642},
    {kClassic, 64, kXxh3, {0x0123456789ABCDEF, 0}, 0x1647A6EDCF2CA539},
    {kClassic, 64, kSipHash, {1, 2}, 0xE8658039E5BCC6E7},
};

template <class Target>
void insert_keys(Target& target, const Hasher& hasher) {
  for (std::uint64_t i = 0; i < 3000; ++i) {
    target.insert(hasher(i));
    target.insert(hasher(std::string_view("key " + std::to_string(i))));
  }
}

struct ByHash {
  FilterView& view;
  void insert(Hash128 hash) { view.insert_hash(hash); }
};

std::string name_of(const Golden& golden) {
  return std::string(to_string(golden.layout)) + " k " + std::to_string(golden.hashes) +
         (golden.family == kXxh3 ? " xxh3 seed " : " siphash seed ") +
         std::to_string(golden.seed.low);
}

TEST(GoldenBits, ArraysOfEveryLayout) {
  for (const Golden& golden : kGolden) {
    const Plan shape{golden.layout, 1009 * 512, golden.hashes, 6000, 0.01};
    const Hasher hasher(golden.family, golden.seed);
    Filter filter(shape, hasher);
    ByHash target{filter};
    insert_keys(target, hasher);
    EXPECT_EQ(digest(filter.bytes()), golden.digest)
        << name_of(golden) << ": 0x" << std::hex << digest(filter.bytes());
    test::NaiveFilter naive(shape);
    insert_keys(naive, hasher);
    EXPECT_EQ(digest(naive.bytes()), golden.digest) << "naive " << name_of(golden);
  }
}

// Position i of the array is bit i % 8 of byte i / 8, whatever the machine's order.
TEST(GoldenBits, OneKeyByHand) {
  const Hash128 hash{0x8000000000000000, 0x4400000000000001};  // start 1, stride 3, low word 1
  Filter filter(Plan{Layout::line, 4 * 512, 3, 10, 0.01});
  EXPECT_TRUE(filter.insert_hash(hash));
  // Words 1, 4 and 7 of line 2; the top five bits of 0x6E789E6B, 0x1B39896B, 0xC584133B.
  std::vector<std::byte> expected(256);
  const auto turn_on = [&](unsigned word, unsigned bit) {
    expected[2 * 64 + 4 * word + bit / 8] |= std::byte{1} << (bit % 8);
  };
  turn_on(1, 0x6E789E6BU >> 27);
  turn_on(4, 0x1B39896BU >> 27);
  turn_on(7, 0xC584133BU >> 27);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), filter.bytes().begin()));
}

}  // namespace
}  // namespace bloomery
