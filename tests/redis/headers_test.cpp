// The bytes that say what a filter on a server is: the header of a string, and the record beside the shards of a
// module's filter. Each field is where the format has it, and no change of a byte is believed.
#include <bloomery/module_filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "redis/module/module_record.hpp"
#include "redis/server.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/strings/redis_header.hpp"
#include "support/hex.hpp"

namespace bloomery::test {
namespace {

using detail::ModuleRecord;
using detail::RedisHeader;

constexpr std::array<char, 8> kIdentity = {'i', 'd', 'e', 'n', 't', 'i', 't', 'y'};

RedisHeader header(std::uint32_t shards, std::uint64_t generation) {
  return {.plan = {Layout::blocked2, std::uint64_t{1'024} * std::max(shards, 1U), 6, 100, 0.25},
          .hasher = Hasher(HashFamily::siphash, {.low = 0x0102030405060708, .high = 9}),
          .identity = kIdentity,
          .shard = shards == 0 ? 0 : shards - 1,
          .shards = shards,
          .generation = generation};
}

const ModuleRecord kRecord = {
    .plan = {.capacity = 1'000, .fpr = 0.25, .expansion = 4}, .shards = 3, .identity = kIdentity};

// What is encoded; its bytes, in hexadecimal, without the checksum at their end; and how it is decoded,
// which says whether that is what was encoded.
struct Encoded {
  const char* name;
  std::string whole, hex;
  std::function<bool(std::string_view)> decode;
};

Encoded of_header(const char* name, const RedisHeader& header, std::string hex) {
  return {name, detail::encode_redis_header(header), std::move(hex), [header](auto bytes) {
            const RedisHeader read = detail::decode_redis_header(bytes, "it");
            return read.plan == header.plan && read.hasher.seed() == header.hasher.seed() &&
                   read.hasher.family() == header.hasher.family() &&
                   read.identity == header.identity && read.shard == header.shard &&
                   read.shards == header.shards && read.generation == header.generation;
          }};
}

class Headers : public testing::TestWithParam<Encoded> {};

INSTANTIATE_TEST_SUITE_P(
    Of, Headers,
    testing::Values(of_header("AString", header(0, 0),
                              "89424c520d0a1a0a"
                              "0100"
                              "02"
                              "02"
                              "06000000"
                              "0004000000000000"
                              "6400000000000000"
                              "000000000000d03f"
                              "0807060504030201"
                              "0900000000000000"
                              "0000000000000000"
                              "6964656e74697479"
                              "0000000000000000"
                              "0000000000000000"),
                    of_header("AShard", header(3, 0),
                              "89424c520d0a1a0a"
                              "0200"
                              "02"
                              "02"
                              "06000000"
                              "000c000000000000"
                              "6400000000000000"
                              "000000000000d03f"
                              "0807060504030201"
                              "0900000000000000"
                              "0200000003000000"
                              "a8d844eca0d61a54"
                              "6964656e74697479"
                              "0000000000000000"),
                    of_header("AGeneration", header(0, 0x102),
                              "89424c520d0a1a0a"
                              "0300"
                              "02"
                              "02"
                              "06000000"
                              "0004000000000000"
                              "6400000000000000"
                              "000000000000d03f"
                              "0807060504030201"
                              "0900000000000000"
                              "0000000000000000"
                              "6964656e74697479"
                              "0201000000000000"
                              "0000000000000000"),
                    of_header("AGenerationOfAShard", header(3, 0x102),
                              "89424c520d0a1a0a"
                              "0400"
                              "02"
                              "02"
                              "06000000"
                              "000c000000000000"
                              "6400000000000000"
                              "000000000000d03f"
                              "0807060504030201"
                              "0900000000000000"
                              "0200000003000000"
                              "a8d844eca0d61a54"
                              "0201000000000000"
                              "6964656e74697479"),
                    Encoded{"AModulesShards", detail::encode_module_record(kRecord),
                            "89424c460d0a1a0a"
                            "0100"
                            "0000"
                            "03000000"
                            "e803000000000000"
                            "000000000000d03f"
                            "04000000"
                            "00000000000000000000000000000000000000000000000000000000"
                            "6964656e74697479",
                            [](auto bytes) {
                              const ModuleRecord read = detail::decode_module_record(bytes, "it");
                              return read.plan == kRecord.plan && read.shards == kRecord.shards &&
                                     read.identity == kRecord.identity;
                            }}),
    [](const auto& param) { return std::string(param.param.name); });

TEST_P(Headers, AreStable) {
  EXPECT_EQ(to_hex(GetParam().whole.substr(0, GetParam().hex.size() / 2)), GetParam().hex);
  EXPECT_TRUE(GetParam().decode(GetParam().whole));
}

TEST_P(Headers, RefuseEveryChangedByte) {
  const std::string& whole = GetParam().whole;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    EXPECT_THROW((void)GetParam().decode(changed), Error) << i;
    EXPECT_THROW((void)GetParam().decode(whole.substr(0, i)), Error) << i;
  }
}

TEST(RedisHeader, OfANewerFormatSaysSo) {
  std::string newer = detail::encode_redis_header(header(0, 0));
  newer[8] = 5;
  error_of([&] { (void)detail::decode_redis_header(newer, "it"); }, ErrorCode::newer_format);
}

TEST(ModuleRecord, HasMarkers) {
  // 16 / log10(4) markers of 24 bytes, and room for 7 deviations more than a third.
  EXPECT_EQ(kRecord.markers(2).size(), 27U);
  EXPECT_EQ(kRecord.markers(2)[1], std::string("\x89"
                                               "BLF\r\n\x1A\nidentity\2\0\0\0\1\0\0\0",
                                               24));
  EXPECT_EQ(kRecord.capacity_of_each(), 334U + 128 + 30 + 27 + 1);
  EXPECT_EQ(kRecord.reserved_of_each(), kRecord.capacity_of_each()) << "it grows";
  ModuleRecord fixed = kRecord;
  fixed.plan.expansion = 0;
  EXPECT_EQ(fixed.reserved_of_each(), fixed.capacity_of_each() + 16 * 2 * 27)
      << "16 copies have two sets of markers each";
  ModuleRecord alone = kRecord;
  alone.shards = 1;
  EXPECT_EQ(alone.capacity_of_each(), 1'000U + 27 + 1) << "a single shard gets exactly its keys";
  EXPECT_EQ(detail::in_shard(detail::shard_hasher()("a key"), 1'000).shard, 354U);
}

TEST(ModuleRecord, OfACopyCountsItsForeignMarkers) {
  ModuleRecord record = kRecord;
  for (const std::uint64_t markers : {std::uint64_t{1}, std::uint64_t{1} << 40, kMaxCapacity}) {
    record.foreign_markers = markers;
    const auto read = detail::decode_module_record(detail::encode_module_record(record), "it");
    EXPECT_EQ(read.foreign_markers, markers);
    EXPECT_EQ(read.marker_items(), markers + 3 * read.items_when_empty());
  }
  record.foreign_markers = UINT64_MAX;
  EXPECT_THROW((void)detail::decode_module_record(detail::encode_module_record(record), "it"),
               Error);
}

// The bytes with another field, and with the sum that is right then: a sum does not protect from somebody who can write
// it.
std::string with(std::string bytes, std::size_t at, std::string_view field) {
  constexpr std::size_t kChecksumAt = 120;
  bytes.replace(at, field.size(), field);
  detail::store_le64(bytes.data() + kChecksumAt,
                     detail::checksum(std::as_bytes(std::span(bytes).first(kChecksumAt))));
  return bytes;
}

template <class Value>
std::string bytes_of(Value value) {
  std::string bytes(sizeof value, '\0');
  detail::store_le(bytes.data(), value);
  return bytes;
}
std::string bytes_of(double value) { return bytes_of(std::bit_cast<std::uint64_t>(value)); }

enum HeaderField : std::size_t {
  kVersionAt = 8,
  kFamilyAt = 10,
  kLayoutAt = 11,
  kHashesAt = 12,
  kBitsAt = 16,
  kShardAt = 56,
  kShardsAt = 60,
  kIdentityAt = 64,
  kWholeAt = 72,
  kLastZeroAt = 119
};

TEST(RedisHeader, HasOnlyWhatAFilterCanHave) {
  const auto whole = [](std::uint32_t shards, std::uint64_t generation) {
    return detail::encode_redis_header(header(shards, generation));
  };
  const std::string one = whole(0, 0), shard = whole(3, 0), generation = whole(0, 5);
  const std::string none(8, '\0');
  // The identity that a shard would derive zero from.
  const std::uint64_t step = detail::load_le64(detail::identity_of_shard({}, 0).data());
  const struct {
    std::string bytes;
    const char* says;
  } wrong[] = {
      {with(one, kVersionAt, bytes_of(std::uint16_t{0})), "its sum is wrong"},
      {with(one, kShardAt, "\1"), "unknown fields"},
      {with(one, kIdentityAt - 1, "\1"), "unknown fields"},
      {with(one, kWholeAt, "\1"), "unknown fields"},
      {with(one, kLastZeroAt, "\1"), "unknown fields"},
      {with(shard, kWholeAt + 8, "\1"), "unknown fields"},
      {with(generation, kWholeAt + 8, "\1"), "unknown fields"},
      {with(whole(3, 5), kWholeAt + 16, "\1"), "unknown fields"},
      {with(generation, kWholeAt, none), "a generation that no filter has"},
      {with(shard, kShardsAt, bytes_of(std::uint32_t{0})), "a number of shards"},
      {with(shard, kShardsAt, bytes_of(kMaxRedisShards + 1)), "a number of shards"},
      {with(shard, kShardAt, bytes_of(std::uint32_t{3})), "a number of shards"},
      {with(one, kLayoutAt, "\x63"), "layout"},
      {with(one, kFamilyAt, "\x63"), "hash"},
      {with(one, kHashesAt, bytes_of(std::uint32_t{0})), "hash"},
      {with(shard, kBitsAt, bytes_of(std::uint64_t{4 * 1'024})), "bits that its shards cannot"},
      {with(one, kBitsAt, bytes_of(kMaxRedisBits + kBlockBits)), "more bits than a string holds"},
      {with(one, kIdentityAt, none), "it has no identity"},
      {with(with(shard, kWholeAt, bytes_of(0 - 3 * step)), kIdentityAt, none),
       "it has no identity"},
      {with(shard, kIdentityAt, "another"), "the identity of another shard"},
  };
  for (const auto& each : wrong) {
    const std::string said =
        error_of([&] { (void)detail::decode_redis_header(each.bytes, "it"); }, ErrorCode::corrupt);
    EXPECT_NE(said.find(each.says), std::string::npos) << said << " and not " << each.says;
  }
  // The largest of each.
  const auto last = header(kMaxRedisShards, 0);
  EXPECT_EQ(detail::decode_redis_header(detail::encode_redis_header(last), "it").shard,
            kMaxRedisShards - 1);
  EXPECT_EQ(
      detail::decode_redis_header(with(one, kBitsAt, bytes_of(kMaxRedisBits)), "it").plan.bits,
      kMaxRedisBits);
}

TEST(ModuleRecord, HasOnlyWhatAFilterCanHave) {
  const std::string whole = detail::encode_module_record(kRecord);
  constexpr std::size_t kCapacityAt = 16, kFprAt = 24, kShardsOfRecordAt = 12;
  const auto shards = [&](std::uint32_t count) {
    return with(whole, kShardsOfRecordAt, bytes_of(count));
  };
  const auto capacity = [&](std::uint64_t keys) {
    return with(whole, kCapacityAt, bytes_of(keys));
  };
  const auto fpr = [&](double rate) { return with(whole, kFprAt, bytes_of(rate)); };
  for (const std::string& wrong :
       {with(whole, kVersionAt, bytes_of(std::uint16_t{0})), with(whole, 10, "\1"),
        with(whole, 11, "\1"), with(whole, 36, "\1"), with(whole, 63, "\1"), with(whole, 80, "\1"),
        with(whole, kLastZeroAt, "\1"), shards(0), shards(kMaxRedisShards + 1), capacity(0),
        capacity(kMaxCapacity + 1), fpr(std::nextafter(kMinFpr, 0.0)),
        fpr(std::nextafter(kMaxFpr, 1.0)), fpr(std::nan("")),
        // A record is written in one way only, so a copy has foreign markers.
        with(whole, kVersionAt, bytes_of(std::uint16_t{2}))})
    error_of([&] { (void)detail::decode_module_record(wrong, "it"); }, ErrorCode::corrupt);
  for (const std::string& right :
       {shards(1), shards(kMaxRedisShards), capacity(1), capacity(kMaxCapacity), fpr(kMinFpr),
        fpr(kMaxFpr), with(whole, kVersionAt, bytes_of(std::uint16_t{1}))})
    EXPECT_EQ(detail::decode_module_record(right, "it").identity, kIdentity);
}

}  // namespace
}  // namespace bloomery::test
