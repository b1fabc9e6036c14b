// The bits of a key are stable: golden arrays of every layout, and the naive filter
// that anyone can read beside them.
//
// No value here may ever change: filters of every earlier version are read by every later one.
#include <bloomery/counting_filter.hpp>
#include <bloomery/filter.hpp>

#include <gtest/gtest.h>
#include <xxhash.h>

#include <algorithm>
#include <string>

#include "support/naive_counting.hpp"
#include "support/naive_filter.hpp"

namespace bloomery::test {
namespace {

std::uint64_t digest(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

TEST(GoldenBits, LaneMultipliers) {
  for (unsigned word = 0; word < 16; ++word)
    EXPECT_EQ(detail::kLaneMultipliers[word], lane_multiplier(word)) << word;
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
      for (unsigned word = 0; word < 16; ++word)
        ASSERT_EQ(detail::word_masks(k).ones[choice][word], mask >> word & 1);
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

constexpr Layout kBlocked = Layout::blocked, kBlocked2 = Layout::blocked2,
                 kStandard = Layout::standard;
constexpr Layout kFour = Layout::blocked128, kEight = Layout::blocked64;
constexpr Layout kTwoOfFour = Layout::blocked2x128, kTwoOfEight = Layout::blocked2x64;
constexpr HashFamily kXxh3 = HashFamily::xxh3, kSipHash = HashFamily::siphash;

// XXH3-64 of 1,009 blocks that hold the integers 0 to 2,999 and the strings "key 0" to "key 2999".
constexpr Golden kGolden[] = {
    {kBlocked, 1, kXxh3, {0, 0}, 0x20AEC139846AF9E5},
    {kBlocked, 1, kXxh3, {0x0123456789ABCDEF, 0}, 0xCF289971512310C7},
    {kBlocked, 1, kSipHash, {1, 2}, 0x106CBCE3CF5C6073},
    {kBlocked, 2, kXxh3, {0, 0}, 0xA32401EA2D016836},
    {kBlocked, 2, kXxh3, {0x0123456789ABCDEF, 0}, 0x128A1B4D4982A039},
    {kBlocked, 2, kSipHash, {1, 2}, 0x3559C380423FB5C1},
    {kBlocked, 3, kXxh3, {0, 0}, 0xFA7E5451E8210A88},
    {kBlocked, 3, kXxh3, {0x0123456789ABCDEF, 0}, 0xAF403002792D3BB3},
    {kBlocked, 3, kSipHash, {1, 2}, 0xC09611CDF0E7B12D},
    {kBlocked, 4, kXxh3, {0, 0}, 0xEEF4C2A59C9748C9},
    {kBlocked, 4, kXxh3, {0x0123456789ABCDEF, 0}, 0x9E048E92A83485EE},
    {kBlocked, 4, kSipHash, {1, 2}, 0x5BCEF080FC0770EF},
    {kBlocked, 5, kXxh3, {0, 0}, 0x6B9FDFAE771C248B},
    {kBlocked, 5, kXxh3, {0x0123456789ABCDEF, 0}, 0xEB55282DBFF264D8},
    {kBlocked, 5, kSipHash, {1, 2}, 0x90C50EDD8FA269C8},
    {kBlocked, 7, kXxh3, {0, 0}, 0x24370D84E2B2E816},
    {kBlocked, 7, kXxh3, {0x0123456789ABCDEF, 0}, 0x8C60356BB7D1768D},
    {kBlocked, 7, kSipHash, {1, 2}, 0x5D60A42EE46F7C31},
    {kBlocked, 8, kXxh3, {0, 0}, 0xDA6FB340D4195438},
    {kBlocked, 8, kXxh3, {0x0123456789ABCDEF, 0}, 0x47918A4C047DAC83},
    {kBlocked, 8, kSipHash, {1, 2}, 0x24A4D6387B7B2163},
    {kBlocked, 10, kXxh3, {0, 0}, 0x464A536A0A1696A8},
    {kBlocked, 10, kXxh3, {0x0123456789ABCDEF, 0}, 0xDFAEA0017730ED0E},
    {kBlocked, 10, kSipHash, {1, 2}, 0xD8A220E0AC22DA0B},
    {kBlocked, 13, kXxh3, {0, 0}, 0x2D3220378C4178F6},
    {kBlocked, 13, kXxh3, {0x0123456789ABCDEF, 0}, 0x9DF325E5293AAD6B},
    {kBlocked, 13, kSipHash, {1, 2}, 0xFEC32B6C7EE006B5},
    {kBlocked, 16, kXxh3, {0, 0}, 0xF117F241764FD967},
    {kBlocked, 16, kXxh3, {0x0123456789ABCDEF, 0}, 0xD8D767876ACF8273},
    {kBlocked, 16, kSipHash, {1, 2}, 0x912B2E5C4553A727},
    {kBlocked2, 2, kXxh3, {0, 0}, 0xD6A6A77D80657CF6},
    {kBlocked2, 2, kXxh3, {0x0123456789ABCDEF, 0}, 0x24D8EB59FE0286E1},
    {kBlocked2, 2, kSipHash, {1, 2}, 0xE7CD73C6879F64FB},
    {kBlocked2, 4, kXxh3, {0, 0}, 0x7DF5D200C3C20EB1},
    {kBlocked2, 4, kXxh3, {0x0123456789ABCDEF, 0}, 0x4A3FCE5D26C3F72A},
    {kBlocked2, 4, kSipHash, {1, 2}, 0x9B3C30D143DF857C},
    {kBlocked2, 6, kXxh3, {0, 0}, 0xD116E40734D3EDAD},
    {kBlocked2, 6, kXxh3, {0x0123456789ABCDEF, 0}, 0x7FB03BCCC38EFC00},
    {kBlocked2, 6, kSipHash, {1, 2}, 0x957ABCCF87BC5078},
    {kBlocked2, 10, kXxh3, {0, 0}, 0xCEF84FC3CE99ABA6},
    {kBlocked2, 10, kXxh3, {0x0123456789ABCDEF, 0}, 0x198EE61395BE9C23},
    {kBlocked2, 10, kSipHash, {1, 2}, 0xFF46950ABC55A1C0},
    {kBlocked2, 14, kXxh3, {0, 0}, 0x149F88A7EBD88827},
    {kBlocked2, 14, kXxh3, {0x0123456789ABCDEF, 0}, 0x82F99F6FB996617C},
    {kBlocked2, 14, kSipHash, {1, 2}, 0x81C1955FDBB5C1E7},
    {kBlocked2, 20, kXxh3, {0, 0}, 0xC167E823AFE3881F},
    {kBlocked2, 20, kXxh3, {0x0123456789ABCDEF, 0}, 0xFCDE65AE9589DEF4},
    {kBlocked2, 20, kSipHash, {1, 2}, 0x5B0C39F580888B89},
    {kBlocked2, 32, kXxh3, {0, 0}, 0x76F67CE6F43AF704},
    {kBlocked2, 32, kXxh3, {0x0123456789ABCDEF, 0}, 0x92659BA839A3A991},
    {kBlocked2, 32, kSipHash, {1, 2}, 0xBEF5E843123B3292},
    {kStandard, 1, kXxh3, {0, 0}, 0x7E1E71A8FA1E2849},
    {kStandard, 1, kXxh3, {0x0123456789ABCDEF, 0}, 0xD8975F265BA20B42},
    {kStandard, 1, kSipHash, {1, 2}, 0x1CE0D3FD6CB3B6C2},
    {kStandard, 2, kXxh3, {0, 0}, 0x4DE747CB8E80FB4F},
    {kStandard, 2, kXxh3, {0x0123456789ABCDEF, 0}, 0x63904C46260580B6},
    {kStandard, 2, kSipHash, {1, 2}, 0x024F48ECBF1A39FB},
    {kStandard, 3, kXxh3, {0, 0}, 0xE8D0ADDDCD34D8A3},
    {kStandard, 3, kXxh3, {0x0123456789ABCDEF, 0}, 0x219B7434AEE054B8},
    {kStandard, 3, kSipHash, {1, 2}, 0x94D4D64461502F4D},
    {kStandard, 7, kXxh3, {0, 0}, 0x265F728B61B21C5F},
    {kStandard, 7, kXxh3, {0x0123456789ABCDEF, 0}, 0xDE721D43994261E3},
    {kStandard, 7, kSipHash, {1, 2}, 0xFF51BF8A1E997000},
    {kStandard, 10, kXxh3, {0, 0}, 0x209C43B9A1265E9F},
    {kStandard, 10, kXxh3, {0x0123456789ABCDEF, 0}, 0x729CDA907020EAED},
    {kStandard, 10, kSipHash, {1, 2}, 0xA1C26A5A4E66A3CA},
    {kStandard, 16, kXxh3, {0, 0}, 0x60BD5C26692AF5BC},
    {kStandard, 16, kXxh3, {0x0123456789ABCDEF, 0}, 0xC83478C4A2FC27D4},
    {kStandard, 16, kSipHash, {1, 2}, 0x3AB3C7CB87BDCA88},
    {kStandard, 33, kXxh3, {0, 0}, 0xF2EF04EA1C83881F},
    {kStandard, 33, kXxh3, {0x0123456789ABCDEF, 0}, 0x02F99B525E7ED7CD},
    {kStandard, 33, kSipHash, {1, 2}, 0xFA64C1C6CAA34169},
    {kStandard, 64, kXxh3, {0, 0}, 0x9055B9573DF35642},
    {kStandard, 64, kXxh3, {0x0123456789ABCDEF, 0}, 0x1647A6EDCF2CA539},
    {kStandard, 64, kSipHash, {1, 2}, 0xE8658039E5BCC6E7},
    {kFour, 1, kXxh3, {0, 0}, 0x9FFB2B62E3377E07},
    {kFour, 1, kXxh3, {0x0123456789ABCDEF, 0}, 0x752B6E0CF669EE92},
    {kFour, 1, kSipHash, {1, 2}, 0x5DA89E3FAC9586F2},
    {kFour, 2, kXxh3, {0, 0}, 0x81A88EBC465D423C},
    {kFour, 2, kXxh3, {0x0123456789ABCDEF, 0}, 0xC9A2CFAC0A789934},
    {kFour, 2, kSipHash, {1, 2}, 0x0DE44A086580F5A2},
    {kFour, 3, kXxh3, {0, 0}, 0xD141678B0866647F},
    {kFour, 3, kXxh3, {0x0123456789ABCDEF, 0}, 0xDE4D90F789823D7B},
    {kFour, 3, kSipHash, {1, 2}, 0x33A83359F9B94961},
    {kFour, 5, kXxh3, {0, 0}, 0x47883684CE48A026},
    {kFour, 5, kXxh3, {0x0123456789ABCDEF, 0}, 0x5293AF28045F3586},
    {kFour, 5, kSipHash, {1, 2}, 0x18469FA29E64FA9F},
    {kFour, 6, kXxh3, {0, 0}, 0xB5BC082D540FEC60},
    {kFour, 6, kXxh3, {0x0123456789ABCDEF, 0}, 0xA1876BA055C603F6},
    {kFour, 6, kSipHash, {1, 2}, 0xBFC4346DB572EE72},
    {kFour, 8, kXxh3, {0, 0}, 0xC200FF24CCB458B8},
    {kFour, 8, kXxh3, {0x0123456789ABCDEF, 0}, 0xC95996C40835DB95},
    {kFour, 8, kSipHash, {1, 2}, 0xA96B2335BFE0DDF6},
    {kFour, 11, kXxh3, {0, 0}, 0xC08C222943B451D5},
    {kFour, 11, kXxh3, {0x0123456789ABCDEF, 0}, 0x39825CB9520A6184},
    {kFour, 11, kSipHash, {1, 2}, 0xA9FCD46B5C6D1424},
    {kFour, 16, kXxh3, {0, 0}, 0x56ACD5E0BC9B787C},
    {kFour, 16, kXxh3, {0x0123456789ABCDEF, 0}, 0x5A64DC6A3DA72E96},
    {kFour, 16, kSipHash, {1, 2}, 0x8F05A66E263CC250},
    {kEight, 1, kXxh3, {0, 0}, 0x79FD22DADCA2B829},
    {kEight, 1, kXxh3, {0x0123456789ABCDEF, 0}, 0x76D0E6B02EB0F100},
    {kEight, 1, kSipHash, {1, 2}, 0x171AA67EEB9BB93F},
    {kEight, 2, kXxh3, {0, 0}, 0x80F90FF3102A05B3},
    {kEight, 2, kXxh3, {0x0123456789ABCDEF, 0}, 0x377DEFBA42F2C784},
    {kEight, 2, kSipHash, {1, 2}, 0x92FC2245FC318D23},
    {kEight, 3, kXxh3, {0, 0}, 0x6DFE95BBACB87034},
    {kEight, 3, kXxh3, {0x0123456789ABCDEF, 0}, 0x6552C538B163662D},
    {kEight, 3, kSipHash, {1, 2}, 0xC915733A9D857361},
    {kEight, 5, kXxh3, {0, 0}, 0x10A2CC9C50952519},
    {kEight, 5, kXxh3, {0x0123456789ABCDEF, 0}, 0x1ED854E2C90CDE21},
    {kEight, 5, kSipHash, {1, 2}, 0xBD74DA9C9232AAA4},
    {kEight, 6, kXxh3, {0, 0}, 0xD8E99881C3684656},
    {kEight, 6, kXxh3, {0x0123456789ABCDEF, 0}, 0x335E7F027E90D0DD},
    {kEight, 6, kSipHash, {1, 2}, 0xC2BF74E6DA8BBD6E},
    {kEight, 8, kXxh3, {0, 0}, 0x826C564F3C93FF5E},
    {kEight, 8, kXxh3, {0x0123456789ABCDEF, 0}, 0x1695EFF21772E9B4},
    {kEight, 8, kSipHash, {1, 2}, 0x54B4AE6FD11FB34E},
    {kEight, 11, kXxh3, {0, 0}, 0x5389F6A8128153C2},
    {kEight, 11, kXxh3, {0x0123456789ABCDEF, 0}, 0x4DAFE63298CE4B11},
    {kEight, 11, kSipHash, {1, 2}, 0x6FBFED95DCDA6B9C},
    {kEight, 16, kXxh3, {0, 0}, 0x83682A1AF9B2DE4E},
    {kEight, 16, kXxh3, {0x0123456789ABCDEF, 0}, 0x958B7542EE241B53},
    {kEight, 16, kSipHash, {1, 2}, 0x500FBA2A5EF0C29D},
};

template <class Target>
void insert_keys(Target& target, const Hasher& hasher) {
  for (std::uint64_t i = 0; i < 3000; ++i) {
    target.insert(hasher(i));
    target.insert(hasher(std::string_view("key " + std::to_string(i))));
  }
}

template <class View>
struct ByHash {
  View& view;
  void insert(Hash128 hash) { view.insert_hash(hash); }
  void remove(Hash128 hash) { view.remove_hash(hash); }
};

std::string name_of(const Golden& golden) {
  return std::string(to_string(golden.layout)) + " k " + std::to_string(golden.hashes) +
         (golden.family == kXxh3 ? " xxh3 seed " : " siphash seed ") +
         std::to_string(golden.seed.low);
}

// The bytes of a filter, and of the naive one, after `work` on each of them.
template <class Filter, class Naive>
void expect_golden(const Golden& golden, auto work) {
  const Plan plan{golden.layout, 1009 * 512, golden.hashes, 6000, 0.01};
  const Hasher hasher(golden.family, golden.seed);
  Filter filter(plan, hasher);
  ByHash<Filter> target{filter};
  work(target, hasher);
  EXPECT_EQ(digest(filter.bytes()), golden.digest)
      << name_of(golden) << ": 0x" << std::hex << digest(filter.bytes());
  if (hurried()) return;  // it is none of the library's code
  Naive naive(plan);
  work(naive, hasher);
  EXPECT_EQ(digest(naive.bytes()), golden.digest) << "naive " << name_of(golden);
}

TEST(GoldenBits, ArraysOfEveryLayout) {
  for (const Golden& golden : kGolden)
    expect_golden<Filter, NaiveFilter>(
        golden, [](auto& target, const Hasher& hasher) { insert_keys(target, hasher); });
}

// XXH3-64 of the counters of 1,009 blocks of bits with the same keys: "key i" is inserted
// i % 20 times, and removed once if i % 7 == 3.
constexpr Golden kGoldenCounters[] = {
    {kFour, 1, kXxh3, {0, 0}, 0xBC719BA8B3997E20},
    {kFour, 1, kXxh3, {0x0123456789ABCDEF, 0}, 0x23910A8BF58AD0ED},
    {kFour, 1, kSipHash, {1, 2}, 0x48369FEF2CD80B78},
    {kFour, 2, kXxh3, {0, 0}, 0x11F7756EA1C2A988},
    {kFour, 2, kXxh3, {0x0123456789ABCDEF, 0}, 0x59E32FCD5DB1AB66},
    {kFour, 2, kSipHash, {1, 2}, 0x81E84E2B2759F70C},
    {kFour, 3, kXxh3, {0, 0}, 0x3BAB6FB944F3F7D2},
    {kFour, 3, kXxh3, {0x0123456789ABCDEF, 0}, 0x163069B15591B233},
    {kFour, 3, kSipHash, {1, 2}, 0xE42B3302B825C3B7},
    {kFour, 5, kXxh3, {0, 0}, 0x29E907DCF955501F},
    {kFour, 5, kXxh3, {0x0123456789ABCDEF, 0}, 0xB25AF59983DF86F7},
    {kFour, 5, kSipHash, {1, 2}, 0x6CF9EE830697B721},
    {kFour, 6, kXxh3, {0, 0}, 0x42068447A679515B},
    {kFour, 6, kXxh3, {0x0123456789ABCDEF, 0}, 0x71A0B1A1F762C3DC},
    {kFour, 6, kSipHash, {1, 2}, 0x7092334169C8AC0C},
    {kFour, 8, kXxh3, {0, 0}, 0x224FBBC831F61506},
    {kFour, 8, kXxh3, {0x0123456789ABCDEF, 0}, 0xE7002CF8F24BAAB7},
    {kFour, 8, kSipHash, {1, 2}, 0x7E7082C380B20735},
    {kFour, 11, kXxh3, {0, 0}, 0x3A8C2657321AD0E5},
    {kFour, 11, kXxh3, {0x0123456789ABCDEF, 0}, 0x5B2DCBABD0014A18},
    {kFour, 11, kSipHash, {1, 2}, 0xA644C19F1ACEFD50},
    {kFour, 16, kXxh3, {0, 0}, 0x81405D31EDBCFC8D},
    {kFour, 16, kXxh3, {0x0123456789ABCDEF, 0}, 0x97EFFC200939E426},
    {kFour, 16, kSipHash, {1, 2}, 0xAEEC5FE36E740BCE},
    {kEight, 1, kXxh3, {0, 0}, 0x40E8A73E88F2154E},
    {kEight, 1, kXxh3, {0x0123456789ABCDEF, 0}, 0x72E304C45D2C538B},
    {kEight, 1, kSipHash, {1, 2}, 0x12B53A5EFEF6B98E},
    {kEight, 2, kXxh3, {0, 0}, 0xC2DCA3FF70902697},
    {kEight, 2, kXxh3, {0x0123456789ABCDEF, 0}, 0x774E6592FB3402D0},
    {kEight, 2, kSipHash, {1, 2}, 0x89A78B917B8B2991},
    {kEight, 3, kXxh3, {0, 0}, 0xFD4F516C801896F4},
    {kEight, 3, kXxh3, {0x0123456789ABCDEF, 0}, 0x7746D21FA5CDEB65},
    {kEight, 3, kSipHash, {1, 2}, 0x71A0DBB71BA705B9},
    {kEight, 5, kXxh3, {0, 0}, 0x3C96D0EF831AE0D5},
    {kEight, 5, kXxh3, {0x0123456789ABCDEF, 0}, 0xBE0E9C8A13E6B25A},
    {kEight, 5, kSipHash, {1, 2}, 0x3566DD7FC76A215B},
    {kEight, 6, kXxh3, {0, 0}, 0xD336BE19DB980F0D},
    {kEight, 6, kXxh3, {0x0123456789ABCDEF, 0}, 0x6D35F90C4955DB4F},
    {kEight, 6, kSipHash, {1, 2}, 0x7422EA9B7DBFB940},
    {kEight, 8, kXxh3, {0, 0}, 0x6E1A81BBACAE0ADE},
    {kEight, 8, kXxh3, {0x0123456789ABCDEF, 0}, 0xD87D4BD8E855131A},
    {kEight, 8, kSipHash, {1, 2}, 0xF677EE63498DD68A},
    {kEight, 11, kXxh3, {0, 0}, 0xF112796D22961DD9},
    {kEight, 11, kXxh3, {0x0123456789ABCDEF, 0}, 0xB959A63E51B9303C},
    {kEight, 11, kSipHash, {1, 2}, 0xB91ADF3AA6CDCCBD},
    {kEight, 16, kXxh3, {0, 0}, 0xB6317F30DC77118C},
    {kEight, 16, kXxh3, {0x0123456789ABCDEF, 0}, 0x46FC66CEAB463C34},
    {kEight, 16, kSipHash, {1, 2}, 0x0A5E38FAB0C7ABF0},
    {kTwoOfFour, 2, kXxh3, {0, 0}, 0x2D9F73BDD34818C5},
    {kTwoOfFour, 2, kXxh3, {0x0123456789ABCDEF, 0}, 0xC163D97AAD51349A},
    {kTwoOfFour, 2, kSipHash, {1, 2}, 0x4006211F179F46AE},
    {kTwoOfFour, 6, kXxh3, {0, 0}, 0xF51FB3E7689FE60A},
    {kTwoOfFour, 6, kXxh3, {0x0123456789ABCDEF, 0}, 0x3DF5882B2FF17D92},
    {kTwoOfFour, 6, kSipHash, {1, 2}, 0x4ACA5659D6CDC38D},
    {kTwoOfFour, 10, kXxh3, {0, 0}, 0x683972E8AA927A9F},
    {kTwoOfFour, 10, kXxh3, {0x0123456789ABCDEF, 0}, 0x57D0AA38DDD76AE3},
    {kTwoOfFour, 10, kSipHash, {1, 2}, 0xA8807F708F9998F2},
    {kTwoOfFour, 14, kXxh3, {0, 0}, 0x0423A8D4723B6531},
    {kTwoOfFour, 14, kXxh3, {0x0123456789ABCDEF, 0}, 0x208189C93F034A56},
    {kTwoOfFour, 14, kSipHash, {1, 2}, 0x895707C7D97E7CC0},
    {kTwoOfFour, 20, kXxh3, {0, 0}, 0x4FE5C2019FCCC895},
    {kTwoOfFour, 20, kXxh3, {0x0123456789ABCDEF, 0}, 0x3BEF5C23845C05C8},
    {kTwoOfFour, 20, kSipHash, {1, 2}, 0xE7806388C9A6B31A},
    {kTwoOfFour, 26, kXxh3, {0, 0}, 0x67475373D2E865BD},
    {kTwoOfFour, 26, kXxh3, {0x0123456789ABCDEF, 0}, 0x8712E347B70116C7},
    {kTwoOfFour, 26, kSipHash, {1, 2}, 0x63ACA7C4C56A3BD0},
    {kTwoOfFour, 32, kXxh3, {0, 0}, 0x2455EDD7D1D8F194},
    {kTwoOfFour, 32, kXxh3, {0x0123456789ABCDEF, 0}, 0xE8F5A3B873234740},
    {kTwoOfFour, 32, kSipHash, {1, 2}, 0x80AE2EE333C4F0C0},
    {kTwoOfEight, 2, kXxh3, {0, 0}, 0x1326D530429A4CED},
    {kTwoOfEight, 2, kXxh3, {0x0123456789ABCDEF, 0}, 0x6742D4E77848936B},
    {kTwoOfEight, 2, kSipHash, {1, 2}, 0x03E0E24AF5C5E292},
    {kTwoOfEight, 6, kXxh3, {0, 0}, 0x720B4DC0C0A3CE3B},
    {kTwoOfEight, 6, kXxh3, {0x0123456789ABCDEF, 0}, 0xAEBED68EE1480C86},
    {kTwoOfEight, 6, kSipHash, {1, 2}, 0x0D62FBCCF56EA1FE},
    {kTwoOfEight, 10, kXxh3, {0, 0}, 0xA04DB115A1160A50},
    {kTwoOfEight, 10, kXxh3, {0x0123456789ABCDEF, 0}, 0x763BC10A420E6590},
    {kTwoOfEight, 10, kSipHash, {1, 2}, 0x42BC694540F1E057},
    {kTwoOfEight, 14, kXxh3, {0, 0}, 0x103BE75B4F8DE400},
    {kTwoOfEight, 14, kXxh3, {0x0123456789ABCDEF, 0}, 0xBD0AE021ECFD3F43},
    {kTwoOfEight, 14, kSipHash, {1, 2}, 0xA2E04210513DDE63},
    {kTwoOfEight, 20, kXxh3, {0, 0}, 0xE4E78AC7AD2530CD},
    {kTwoOfEight, 20, kXxh3, {0x0123456789ABCDEF, 0}, 0xB125D3FA5A711D47},
    {kTwoOfEight, 20, kSipHash, {1, 2}, 0xC49DF35FB55837DF},
    {kTwoOfEight, 26, kXxh3, {0, 0}, 0xA4BA3A7E8BECF035},
    {kTwoOfEight, 26, kXxh3, {0x0123456789ABCDEF, 0}, 0xA0A3DDF1CC40B6E4},
    {kTwoOfEight, 26, kSipHash, {1, 2}, 0xA10A6ADB9A12DF14},
    {kTwoOfEight, 32, kXxh3, {0, 0}, 0x65F15657BF982CF5},
    {kTwoOfEight, 32, kXxh3, {0x0123456789ABCDEF, 0}, 0xC748607576CA9260},
    {kTwoOfEight, 32, kSipHash, {1, 2}, 0x2D19803214BA2962},
};

template <class Target>
void count_keys(Target& target, const Hasher& hasher) {
  insert_keys(target, hasher);
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const Hash128 hash = hasher(std::string_view("key " + std::to_string(i)));
    for (std::uint64_t times = 1; times < i % 20; ++times) target.insert(hash);
    if (i % 20 == 0 || i % 7 == 3) target.remove(hash);
  }
}

TEST(GoldenBits, CountersOfEveryWidth) {
  for (const Golden& golden : kGoldenCounters)
    expect_golden<CountingFilter, NaiveCounting>(
        golden, [](auto& target, const Hasher& hasher) { count_keys(target, hasher); });
}

TEST(GoldenBits, ThereAreSomeOfEveryLayout) {
  for (const Layout layout : detail::kAllLayouts) {
    const auto is_of = [&](const Golden& golden) { return golden.layout == layout; };
    EXPECT_TRUE(std::ranges::any_of(kGolden, is_of) || std::ranges::any_of(kGoldenCounters, is_of))
        << to_string(layout);
  }
}

// Counter i is byte i, or a half of byte i / 2, the lower half first, whatever the machine's order.
TEST(GoldenBits, OneCountedKeyByHand) {
  const Hash128 hash{0x8000000000000000, 0x4400000000000001};  // start 1, stride 3
  for (const Layout layout : {kFour, kEight}) {
    CountingFilter filter(Plan{layout, 512, 3, 10, 0.01});
    for (int times = 0; times < 3; ++times) filter.insert_hash(hash);
    filter.remove_hash(hash);
    const bool four = layout == kFour;
    // Words 1, 4 and 7 of the block in the middle, of four or of eight blocks.
    std::vector<std::byte> expected(four ? 256 : 512);
    const auto count_two = [&](unsigned word, std::uint32_t product) {
      const unsigned counter = product >> (four ? 29 : 30);
      const unsigned at = (four ? 2 : 4) * 64 + 4 * word;
      if (four)
        expected[at + counter / 2] |= std::byte{2} << (counter % 2 * 4);
      else
        expected[at + counter] = std::byte{2};
    };
    count_two(1, 0x44000000U * 0x6E789E6BU);
    count_two(4, 0x00000001U * 0x1B39896BU);
    count_two(7, 0x44000000U * 0xC584133BU);
    EXPECT_TRUE(
        std::equal(expected.begin(), expected.end(), filter.bytes().begin(), filter.bytes().end()));
  }
}

// Position i of the array is bit i % 8 of byte i / 8, whatever the machine's order.
TEST(GoldenBits, OneKeyByHand) {
  const Hash128 hash{0x8000000000000000, 0x4400000000000001};  // start 1, stride 3
  Filter filter(Plan{Layout::blocked, 4 * 512, 3, 10, 0.01});
  EXPECT_TRUE(filter.insert_hash(hash));
  // Words 1, 4 and 7 of block 2; the odd ones by the upper half of low, the even one by the lower.
  std::vector<std::byte> expected(256);
  const auto turn_on = [&](unsigned word, unsigned bit) {
    expected[2 * 64 + 4 * word + bit / 8] |= std::byte{1} << (bit % 8);
  };
  turn_on(1, (0x44000000U * 0x6E789E6BU) >> 27);
  turn_on(4, (0x00000001U * 0x1B39896BU) >> 27);
  turn_on(7, (0x44000000U * 0xC584133BU) >> 27);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), filter.bytes().begin()));
}

}  // namespace
}  // namespace bloomery::test
