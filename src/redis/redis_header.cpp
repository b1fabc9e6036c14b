// Encoding and distrustful decoding of a Redis string's header.
#include "redis/redis_header.hpp"

#include <bloomery/error.hpp>
#include <bloomery/redis_filter.hpp>

#include "base/checksum.hpp"
#include "base/endian.hpp"

#include <algorithm>
#include <bit>
#include <span>

namespace bloomery::detail {
namespace {

constexpr std::array<unsigned char, 8> kMagic = {0x89, 'B', 'L', 'R', '\r', '\n', 0x1A, '\n'};
constexpr std::uint16_t kVersion = 1;

enum Field : std::size_t {
  magic_at = 0,
  version_at = 8,
  family_at = 10,
  layout_at = 11,
  hashes_at = 12,
  bits_at = 16,
  capacity_at = 24,
  rate_at = 32,
  seed_low_at = 40,
  seed_high_at = 48,
  zeros_at = 56,
  more_zeros_at = 72,
  checksum_at = 120,
};

std::uint64_t sum_of(std::string_view header) {
  return checksum(std::as_bytes(std::span(header.data(), checksum_at)));
}

}  // namespace

std::string encode_redis_header(const RedisHeader& header) {
  std::string out(kRedisHeaderBytes, '\0');
  char* p = out.data();
  std::copy(kMagic.begin(), kMagic.end(), p + magic_at);
  store_le(p + version_at, kVersion);
  p[family_at] = static_cast<char>(header.hasher.family());
  p[layout_at] = static_cast<char>(header.plan.layout);
  store_le(p + hashes_at, header.plan.hashes);
  store_le64(p + bits_at, header.plan.bits);
  store_le64(p + capacity_at, header.plan.capacity);
  store_le64(p + rate_at, std::bit_cast<std::uint64_t>(header.plan.rate));
  store_le64(p + seed_low_at, header.hasher.seed().low);
  store_le64(p + seed_high_at, header.hasher.seed().high);
  std::copy(header.identity.begin(), header.identity.end(), p + kRedisIdentityAt);
  store_le64(p + checksum_at, sum_of(out));
  return out;
}

RedisHeader decode_redis_header(std::string_view start, const std::string& name) {
  const auto refuse = [&](ErrorCode code, const std::string& text) {
    throw Error(code, name + " " + text);
  };
  const char* p = start.data();
  if (start.size() < kRedisHeaderBytes ||
      !std::equal(kMagic.begin(), kMagic.end(), p,
                  [](unsigned char a, char b) { return a == static_cast<unsigned char>(b); }))
    refuse(ErrorCode::not_a_filter,
           "is a string without a filter's header; check the key, or open it as a PHP bucket");
  const auto version = load_le<std::uint16_t>(p + version_at);
  if (version > kVersion)
    refuse(ErrorCode::newer_format, "is of format " + std::to_string(version) +
                                        ", this program reads up to " + std::to_string(kVersion) +
                                        "; use a newer bloomery");
  const auto corrupt = [&](const std::string& what) {
    refuse(ErrorCode::corrupt, "has a damaged header: " + what + "; build the filter anew");
  };
  if (version == 0 || sum_of(start) != load_le64(p + checksum_at)) corrupt("its sum is wrong");
  const auto any_set = [&](std::size_t from, std::size_t to) {
    return std::any_of(p + from, p + to, [](char c) { return c != 0; });
  };
  if (any_set(zeros_at, kRedisIdentityAt) || any_set(more_zeros_at, checksum_at))
    corrupt("unknown fields");
  RedisHeader header;
  header.plan.layout = static_cast<Layout>(p[layout_at]);
  header.plan.hashes = load_le<std::uint32_t>(p + hashes_at);
  header.plan.bits = load_le64(p + bits_at);
  header.plan.capacity = load_le64(p + capacity_at);
  header.plan.rate = std::bit_cast<double>(load_le64(p + rate_at));
  try {
    validate(header.plan);
    header.hasher =
        Hasher(static_cast<HashFamily>(p[family_at]),
               {.low = load_le64(p + seed_low_at), .high = load_le64(p + seed_high_at)});
  } catch (const Error& error) {
    corrupt(error.what());
  }
  if (header.plan.bits > kMaxRedisBits) corrupt("more bits than a string holds");
  std::copy_n(p + kRedisIdentityAt, header.identity.size(), header.identity.begin());
  if (header.identity == std::array<char, 8>{}) corrupt("it has no identity");
  return header;
}

}  // namespace bloomery::detail
