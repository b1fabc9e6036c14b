// Encodes and decodes headers; the decoder checks every field.
#include "redis/strings/redis_header.hpp"

#include <bloomery/error.hpp>
#include <bloomery/redis_url.hpp>

#include <algorithm>
#include <bit>
#include <span>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "redis/shards/shard_keys.hpp"

namespace bloomery::detail {
namespace {

constexpr std::array<unsigned char, 8> kMagic = {0x89, 'B', 'L', 'R', '\r', '\n', 0x1A, '\n'};
constexpr std::uint16_t kOneString = 1;
constexpr std::uint16_t kShard = 2;
constexpr std::uint16_t kGeneration = 3;
constexpr std::uint16_t kGenerationOfShard = 4;
enum Field : std::size_t {
  magic_at = 0,
  version_at = 8,
  family_at = 10,
  layout_at = 11,
  hashes_at = 12,
  bits_at = 16,
  capacity_at = 24,
  fpr_at = 32,
  seed_low_at = 40,
  seed_high_at = 48,
  shard_at = 56,
  shards_at = 60,
  checksum_at = 120,
};

// The offset of the identity of the whole filter: after the identity of the shard, or after the generation.
constexpr std::size_t whole_at(bool rotates) noexcept {
  return rotates ? kRedisGenerationAt + 8 : kRedisGenerationAt;
}

std::uint64_t sum_of(std::string_view header) {
  return checksum(std::as_bytes(std::span(header.data(), checksum_at)));
}

}  // namespace

std::array<char, 8> string_identity(const RedisHeader& header) {
  return header.shards == 0 ? header.identity : identity_of_shard(header.identity, header.shard);
}

bool begins_with_redis_header(std::string_view start) noexcept {
  return start.size() >= kRedisHeaderBytes &&
         std::equal(kMagic.begin(), kMagic.end(), start.begin(),
                    [](unsigned char a, char b) { return a == static_cast<unsigned char>(b); });
}

std::string encode_redis_header(const RedisHeader& header) {
  std::string out(kRedisHeaderBytes, '\0');
  char* p = out.data();
  std::copy(kMagic.begin(), kMagic.end(), p + magic_at);
  const bool sharded = header.shards != 0;
  const bool rotates = header.generation != 0;
  store_le(p + version_at, sharded   ? rotates ? kGenerationOfShard : kShard
                           : rotates ? kGeneration
                                     : kOneString);
  p[family_at] = static_cast<char>(header.hasher.family());
  p[layout_at] = static_cast<char>(header.plan.layout);
  store_le(p + hashes_at, header.plan.hashes);
  store_le64(p + bits_at, header.plan.bits);
  store_le64(p + capacity_at, header.plan.capacity);
  store_le64(p + fpr_at, std::bit_cast<std::uint64_t>(header.plan.fpr));
  store_le64(p + seed_low_at, header.hasher.seed().low);
  store_le64(p + seed_high_at, header.hasher.seed().high);
  const std::array<char, 8> identity = string_identity(header);
  std::copy(identity.begin(), identity.end(), p + kRedisIdentityAt);
  if (sharded) {
    store_le(p + shard_at, header.shard);
    store_le(p + shards_at, header.shards);
    std::copy(header.identity.begin(), header.identity.end(), p + whole_at(rotates));
  }
  if (rotates) store_le64(p + kRedisGenerationAt, header.generation);
  store_le64(p + checksum_at, sum_of(out));
  return out;
}

static_assert(kMaxRedisBits % kBlockBits == 0);

RedisHeader decode_redis_header(std::string_view start, const std::string& name) {
  const auto refuse = [&](ErrorCode code, const std::string& text) {
    throw Error(code, name + " " + text);
  };
  const char* p = start.data();
  if (!begins_with_redis_header(start))
    refuse(ErrorCode::not_a_filter,
           "is a string without a filter's header; check the key, or open it as a PHP bucket");
  const auto version = load_le<std::uint16_t>(p + version_at);
  if (version > kGenerationOfShard)
    refuse(ErrorCode::newer_format,
           "is of format " + std::to_string(version) + ", this program reads up to " +
               std::to_string(kGenerationOfShard) + "; use a newer bloomery");
  const auto corrupt = [&](const std::string& what) {
    refuse(ErrorCode::corrupt, "has a damaged header: " + what + "; build the filter again");
  };
  if (version == 0 || sum_of(start) != load_le64(p + checksum_at)) corrupt("its sum is wrong");
  const auto any_set = [&](std::size_t from, std::size_t to) {
    return std::any_of(p + from, p + to, [](char c) { return c != 0; });
  };
  RedisHeader header;
  const bool sharded = version == kShard || version == kGenerationOfShard;
  const bool rotates = version == kGeneration || version == kGenerationOfShard;
  const std::size_t end = kRedisGenerationAt + 8 * (std::size_t{sharded} + std::size_t{rotates});
  if (any_set(end, checksum_at) || (!sharded && any_set(shard_at, kRedisIdentityAt)))
    corrupt("unknown fields");
  if (rotates) {
    header.generation = load_le64(p + kRedisGenerationAt);
    if (header.generation == 0) corrupt("a generation that no filter has");
  }
  if (sharded) {
    header.shard = load_le<std::uint32_t>(p + shard_at);
    header.shards = load_le<std::uint32_t>(p + shards_at);
    if (header.shards == 0 || header.shards > kMaxRedisShards || header.shard >= header.shards)
      corrupt("a number of shards that no filter has");
  }
  header.plan.layout = static_cast<Layout>(p[layout_at]);
  header.plan.hashes = load_le<std::uint32_t>(p + hashes_at);
  header.plan.bits = load_le64(p + bits_at);
  header.plan.capacity = load_le64(p + capacity_at);
  header.plan.fpr = std::bit_cast<double>(load_le64(p + fpr_at));
  try {
    validate(header.plan);
    header.hasher =
        Hasher(static_cast<HashFamily>(p[family_at]),
               {.low = load_le64(p + seed_low_at), .high = load_le64(p + seed_high_at)});
  } catch (const Error& error) {
    corrupt(error.what());
  }
  const std::uint64_t strings = std::max(header.shards, 1U);
  if (header.plan.bits % (kBlockBits * strings) != 0) corrupt("bits that its shards cannot share");
  if (header.plan.bits / strings > kMaxRedisBits) corrupt("more bits than a string holds");
  std::copy_n(p + (sharded ? whole_at(rotates) : kRedisIdentityAt), header.identity.size(),
              header.identity.begin());
  const std::array<char, 8> identity = string_identity(header);
  if (header.identity == std::array<char, 8>{} || identity == std::array<char, 8>{})
    corrupt("it has no identity");
  if (!std::equal(identity.begin(), identity.end(), p + kRedisIdentityAt))
    corrupt("the identity of another shard");
  return header;
}

}  // namespace bloomery::detail
