// Filters that RedisBloom 8.10 wrote are rebuilt to the bit, and answer as they did there.
#include "legacy/redisbloom.hpp"

#include <gtest/gtest.h>
#include <bloomery/error.hpp>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/expect_error.hpp"

namespace {

using namespace bloomery::legacy;
using bloomery::Hash128;
using nlohmann::json;

using Bytes = std::vector<std::byte>;

Bytes from_base64(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  Bytes bytes;
  std::uint32_t held = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    held = held << 6 | static_cast<std::uint32_t>(digits.find(c));
    count += 6;
    if (count >= 8) bytes.push_back(std::byte(held >> (count -= 8) & 0xFF));
  }
  return bytes;
}

// The rules of RedisBloom's filters in the plainest form.
struct Filter {
  redisbloom::Header header;
  std::vector<Bytes> bits;

  redisbloom::BitArray bit_array(std::size_t i) {
    return {bits[i].data(), header.sub_filters[i].modulus(), header.sub_filters[i].hashes};
  }
  void add_sub_filter(std::uint64_t entries, double error) {
    header.sub_filters.push_back(
        redisbloom::plan_sub_filter(entries, error, header.options).value());
    bits.emplace_back(header.sub_filters.back().bytes);
  }
  bool contains(const std::string& item) {
    const Hash128 hash = redisbloom::hash(item, header.options);
    for (std::size_t i = bits.size(); i-- > 0;)
      if (redisbloom::contains(bit_array(i), hash)) return true;
    return false;
  }
  void add(const std::string& item) {
    if (contains(item)) return;
    if (header.sub_filters.back().size >= header.sub_filters.back().entries)
      add_sub_filter(header.sub_filters.back().entries * header.growth,
                     header.sub_filters.back().error * redisbloom::kTightening);
    ASSERT_TRUE(
        redisbloom::insert(bit_array(bits.size() - 1), redisbloom::hash(item, header.options)));
    ++header.sub_filters.back().size;
    ++header.size;
  }
};

json golden() {
  std::ifstream file(BLOOMERY_GOLDEN "redisbloom-filters.json");
  return json::parse(file);
}

// The filter of a recorded dump.
Filter loaded(const json& recorded) {
  Filter filter;
  filter.header = redisbloom::decode(from_base64(recorded["scandump"][0][1]));
  Bytes all;
  for (std::size_t i = 1; i < recorded["scandump"].size(); ++i) {
    const Bytes chunk = from_base64(recorded["scandump"][i][1]);
    all.insert(all.end(), chunk.begin(), chunk.end());
  }
  auto at = all.begin();
  for (const redisbloom::SubFilter& sub_filter : filter.header.sub_filters) {
    filter.bits.emplace_back(at, at + static_cast<std::ptrdiff_t>(sub_filter.bytes));
    at += static_cast<std::ptrdiff_t>(sub_filter.bytes);
  }
  EXPECT_EQ(at, all.end());
  return filter;
}

// Filters of old versions (none is recorded) have 32-bit hashes with the seed that Apache Kafka's
// murmur2 has too: these are the vectors of its tests (UtilsTest.java).
TEST(RedisBloom, OldFiltersHave32BitHashes) {
  const auto first = [](const char* item) {
    return static_cast<std::int32_t>(redisbloom::hash(item, 0).high);
  };
  EXPECT_EQ(first("21"), -973'932'308);
  EXPECT_EQ(first("foobar"), -790'332'482);
  EXPECT_EQ(first("a-little-bit-long-string"), -985'981'536);
  EXPECT_EQ(first("a-little-bit-longer-string"), -1'486'304'829);
  EXPECT_EQ(first("lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8"), -58'897'971);
  EXPECT_EQ(first("abc"), 479'470'107);
}

TEST(RedisBloom, ItsFiltersAreRebuiltToTheBit) {
  for (const json& recorded : golden()) {
    SCOPED_TRACE(recorded["name"].get<std::string>());
    const Filter filter = loaded(recorded);
    EXPECT_EQ(redisbloom::encode(filter.header), from_base64(recorded["scandump"][0][1]));
    Filter built;
    built.header.options = filter.header.options;
    built.header.growth = filter.header.growth;
    const bool scaling = (filter.header.options & redisbloom::kNoScaling) == 0;
    built.add_sub_filter(recorded["capacity"],
                         std::stod(recorded["error_rate"].get<std::string>()) *
                             (scaling ? redisbloom::kTightening : 1));
    for (int i = 0; i < recorded["count"].get<int>(); ++i) built.add("item:" + std::to_string(i));
    EXPECT_EQ(built.header.sub_filters, filter.header.sub_filters);
    EXPECT_EQ(built.header.size, filter.header.size);
    EXPECT_EQ(built.bits, filter.bits);
  }
}

TEST(RedisBloom, AbsentItemsAreFalselyReportedWhereItFalselyReportsThem) {
  for (const json& recorded : golden()) {
    SCOPED_TRACE(recorded["name"].get<std::string>());
    Filter filter = loaded(recorded);
    std::vector<int> found;
    for (int i = 0; i < 2000; ++i)
      if (filter.contains("probe:" + std::to_string(i))) found.push_back(i);
    EXPECT_EQ(found, recorded["false_positives_among_probe_0_1999"].get<std::vector<int>>());
    for (int i = 0; i < recorded["count"].get<int>(); ++i)
      EXPECT_TRUE(filter.contains("item:" + std::to_string(i)));
  }
}

// In both widths of the hash, with both ways of rounding, with more hashes than are fetched ahead.
TEST(RedisBloom, ManyAnswersAreThoseOfOneByOne) {
  for (const std::uint32_t options : {redisbloom::kNewFilter, 0U, 3U, 4U}) {
    for (const double error : {0.1, 1e-3, 1e-12}) {
      const std::uint64_t entries = (options & redisbloom::kEntriesAreBits) != 0 ? 12 : 500;
      const auto sub_filter = redisbloom::plan_sub_filter(entries, error, options).value();
      redisbloom::check(sub_filter);
      Bytes one(sub_filter.bytes), many(sub_filter.bytes);
      const redisbloom::BitArray first{one.data(), sub_filter.modulus(), sub_filter.hashes};
      const redisbloom::BitArray second{many.data(), sub_filter.modulus(), sub_filter.hashes};
      std::vector<Hash128> hashes;
      for (int i = 0; i < 403; ++i)
        hashes.push_back(redisbloom::hash(std::to_string(i % 390), options));
      bool answers[403];
      std::size_t fresh = 0;
      std::vector<bool> expected;
      for (const Hash128 hash : hashes) expected.push_back(redisbloom::insert(first, hash));
      for (const bool value : expected) fresh += value;
      Bytes unanswered(sub_filter.bytes);
      const redisbloom::BitArray third{unanswered.data(), second.modulus, second.hashes};
      EXPECT_EQ(redisbloom::insert(third, hashes, nullptr), fresh);
      EXPECT_EQ(unanswered, one);
      EXPECT_EQ(redisbloom::insert(second, hashes, answers), fresh);
      EXPECT_EQ(std::vector<bool>(answers, answers + 403), expected);
      EXPECT_EQ(one, many);
      for (std::size_t i = 0; i < hashes.size(); ++i)
        hashes[i] = redisbloom::hash(std::to_string(1000 + i), options);
      std::size_t found = 0;
      for (const Hash128 hash : hashes) found += redisbloom::contains(first, hash);
      EXPECT_EQ(redisbloom::contains(second, hashes, answers), found);
      EXPECT_EQ(redisbloom::contains(second, hashes, nullptr), found);
    }
  }
}

// Computed apart, from RedisBloom's formulas: a power of two has room for more entries, or is what was asked for.
TEST(RedisBloom, SizesAreThoseOfItsRounding) {
  const struct {
    std::uint64_t wanted;
    double error;
    std::uint32_t options;
    redisbloom::SubFilter is;  // without the rate
  } cases[] = {
      {100, 0.01, redisbloom::kNoRound, {.bytes = 120, .entries = 100, .hashes = 7}},
      {1, 0.9, redisbloom::kNoRound, {.bytes = 8, .entries = 1, .hashes = 1}},
      {3, 0.01, 0, {.bytes = 8, .entries = 3, .hashes = 7, .exponent = 5}},
      {7, 0.01, 0, {.bytes = 16, .entries = 13, .hashes = 7, .exponent = 7}},
      {13, 0.01, 0, {.bytes = 16, .entries = 13, .hashes = 7, .exponent = 7}},
      {100, 0.01, 0, {.bytes = 128, .entries = 106, .hashes = 7, .exponent = 10}},
      {1000, 0.001, 0, {.bytes = 2048, .entries = 1139, .hashes = 10, .exponent = 14}},
      {1'000'000, 1e-6, 0, {.bytes = 4 << 20, .entries = 1'166'900, .hashes = 20, .exponent = 25}},
      {3, 0.1, redisbloom::kEntriesAreBits, {.bytes = 8, .entries = 1, .hashes = 4, .exponent = 3}},
      {10,
       0.01,
       redisbloom::kEntriesAreBits,
       {.bytes = 128, .entries = 106, .hashes = 7, .exponent = 10}},
      {40,
       0.01,
       redisbloom::kEntriesAreBits,
       {.bytes = std::uint64_t{1} << 37, .entries = 114'710'999'608, .hashes = 7, .exponent = 40}}};
  for (const auto& [wanted, error, options, is] : cases)
    for (const std::uint32_t hash : {0U, std::uint32_t{redisbloom::kForce64}}) {
      auto planned = redisbloom::plan_sub_filter(wanted, error, options | hash).value();
      EXPECT_NEAR(planned.bits_per_entry, std::log2(1 / error) / std::log(2), 1e-9);
      redisbloom::check(planned);
      redisbloom::SubFilter expected = is;
      expected.bits = 8 * is.bytes;
      expected.error = error;
      expected.bits_per_entry = planned.bits_per_entry;
      EXPECT_EQ(planned, expected) << wanted << ' ' << error << ' ' << options;
    }
}

TEST(RedisBloom, SizesItWouldRefuseAreRefused) {
  EXPECT_FALSE(redisbloom::plan_sub_filter(0, 0.01, redisbloom::kNewFilter));
  EXPECT_FALSE(redisbloom::plan_sub_filter(1, 0, redisbloom::kNewFilter));
  EXPECT_FALSE(redisbloom::plan_sub_filter(1, 1, redisbloom::kNewFilter));
  EXPECT_FALSE(redisbloom::plan_sub_filter(UINT64_MAX, 0.01, redisbloom::kNewFilter));
  EXPECT_FALSE(redisbloom::plan_sub_filter(100, 0.01, redisbloom::kEntriesAreBits));
  EXPECT_TRUE(redisbloom::plan_sub_filter(62, 0.01, redisbloom::kEntriesAreBits));
  EXPECT_FALSE(redisbloom::plan_sub_filter(63, 0.01, redisbloom::kEntriesAreBits));
  EXPECT_FALSE(redisbloom::plan_sub_filter(62, 0.9, redisbloom::kEntriesAreBits));  // 2^64 entries
  // The next power of two above less than one bit is none.
  EXPECT_FALSE(redisbloom::plan_sub_filter(4, 0.9, redisbloom::kNewFilter & ~redisbloom::kNoRound));
  EXPECT_TRUE(redisbloom::plan_sub_filter(5, 0.9, redisbloom::kNewFilter & ~redisbloom::kNoRound));
}

// RedisBloom refuses bits that do not fill the bytes. Only what it wrote before 2.2 has them.
TEST(RedisBloom, BitsFillTheirBytesButInOldFilters) {
  const auto refused = [](redisbloom::SubFilter sub_filter) {
    try {
      redisbloom::check(sub_filter);
      return false;
    } catch (const bloomery::Error& error) {
      return error.code() == bloomery::ErrorCode::corrupt;
    }
  };
  auto filter = redisbloom::plan_sub_filter(100, 0.01, redisbloom::kNewFilter).value();
  EXPECT_FALSE(refused(filter));
  for (const int less : {1, 3, 7, 8, 63, 64}) {
    auto other = filter;
    other.bits -= less;
    EXPECT_TRUE(refused(other)) << less;
  }
  ++filter.bits;
  EXPECT_TRUE(refused(filter));
  filter.bits = 958;  // 100 entries of 9.585 bits, in as few bytes as hold them
  filter.bytes = 120;
  EXPECT_FALSE(refused(filter));
  filter.bytes = 128;
  EXPECT_TRUE(refused(filter));
  // A power of two, which was not written.
  for (const int exponent : {1, 2, 5, 10}) {
    auto power = redisbloom::plan_sub_filter(exponent, 0.5, redisbloom::kEntriesAreBits).value();
    power.bits = 0;
    power.bytes = ((1 << exponent) + 7) / 8;
    EXPECT_TRUE(refused(power));
    redisbloom::fill_in_bits(power);
    EXPECT_EQ(power.bits, 1U << exponent);
    EXPECT_FALSE(refused(power)) << exponent;
    auto unwritten = power;
    unwritten.bits = 0;
    EXPECT_EQ(redisbloom::decode(redisbloom::encode({0, 4, 2, {unwritten}})).sub_filters[0], power);
    power.bytes += 1;
    EXPECT_TRUE(refused(power)) << exponent;
  }
  // 2^64 bits have no number.
  for (const std::uint8_t exponent : {63, 64, 255}) {
    redisbloom::SubFilter large;
    large.exponent = exponent;
    redisbloom::fill_in_bits(large);
    EXPECT_EQ(large.bits, exponent == 63 ? std::uint64_t{1} << 63 : 0);
  }
}

// Every byte of a header changed in turn: an error, or a header whose fields lead nowhere else.
TEST(RedisBloom, NoHeaderLeadsOutsideItsBits) {
  std::vector<redisbloom::SubFilter> sub_filters(2,
                                                 redisbloom::plan_sub_filter(10, 0.01, 5).value());
  const Bytes whole = redisbloom::encode({0, 5, 2, sub_filters});
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (int change = 1; change < 256; ++change) {
      Bytes bytes = whole;
      bytes[i] ^= std::byte(change);
      try {
        for (const auto& sub_filter : redisbloom::decode(bytes).sub_filters) {
          ASSERT_LE(sub_filter.modulus(), sub_filter.bytes * 8);
          ASSERT_GE(sub_filter.modulus(), 1U);
          ASSERT_LE(sub_filter.hashes, redisbloom::kMaxHashes);
        }
      } catch (const bloomery::Error& error) {
        ASSERT_EQ(error.code(), bloomery::ErrorCode::corrupt);
      }
    }
  }
  // Of less than its fixed fields none is read: the error is another.
  for (std::size_t size = 0; size < whole.size(); ++size)
    bloomery::test::expect_error(
        bloomery::ErrorCode::corrupt,
        {size < 20 ? "a header has at least 20 bytes" : "the length of its sub-filters"},
        [&] { (void)redisbloom::decode(std::span(whole).first(size)); });
  for (const std::size_t more : {1U, 52U, 53U}) {
    Bytes bytes = whole;
    bytes.resize(whole.size() + more);
    bloomery::test::expect_error(bloomery::ErrorCode::corrupt, {"the length of its sub-filters"},
                                 [&] { (void)redisbloom::decode(bytes); });
  }
}

// Sub-filters that are possible one by one, but not together: of the numbers of items and of the bytes, each sum
// beyond its limit by itself.
TEST(RedisBloom, SumsOfAHeaderAreOfThisWorld) {
  auto sub_filter = redisbloom::plan_sub_filter(100, 0.01, redisbloom::kNewFilter).value();
  const auto decoded = [&](std::uint64_t size) {
    return redisbloom::decode(
        redisbloom::encode({size, redisbloom::kNewFilter, 2, {sub_filter, sub_filter}}));
  };
  constexpr const char* kBeyond = "the sizes of the sub-filters are beyond any memory";
  sub_filter.size = (std::uint64_t{1} << 63) - 1;
  EXPECT_EQ(decoded(UINT64_MAX - 1).size, UINT64_MAX - 1);
  ++sub_filter.size;
  EXPECT_EQ(decoded(UINT64_MAX).size, UINT64_MAX);
  bloomery::test::expect_error(bloomery::ErrorCode::corrupt, {"do not hold the items"},
                               [&] { (void)decoded(0); });
  sub_filter.size = 0;
  sub_filter.bytes = std::uint64_t{1} << 58;
  sub_filter.bits = sub_filter.bytes * 8;
  EXPECT_EQ(decoded(0).sub_filters.size(), 2U);
  sub_filter.bytes += 8;
  sub_filter.bits = sub_filter.bytes * 8;
  bloomery::test::expect_error(bloomery::ErrorCode::corrupt, {kBeyond}, [&] { (void)decoded(0); });
}

}  // namespace
