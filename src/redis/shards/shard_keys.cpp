// Tries numbers in order until every range of hash slots has one.
#include "redis/shards/shard_keys.hpp"

#include <bloomery/error.hpp>
#include <bloomery/redis_url.hpp>

#include "base/endian.hpp"
#include "redis/cluster/slots.hpp"

namespace bloomery::detail {
namespace {

// An odd number near 2^64 / the golden ratio, which keeps the identities of 1,024 shards far apart.
constexpr std::uint64_t kShardStep = 0x9E3779B97F4A7C15;

std::uint64_t number_of_shard(std::uint64_t whole, std::uint32_t shard) {
  return whole + (shard + std::uint64_t{1}) * kShardStep;
}

std::string key_of(std::string_view name, std::string_view tag) {
  return std::string(name).append(":{").append(tag).append("}");
}

void check_name(std::string_view name) {
  if (name.find('{') != std::string_view::npos)
    throw Error(
        ErrorCode::invalid_argument,
        "the name " + quoted_key(name) +
            " has a brace, which would put all shards into one slot; choose a name without");
}

}  // namespace

std::string first_shard_key(std::string_view name) {
  check_name(name);
  return key_of(name, "0");
}

std::string name_of_shards(std::string_view key) {
  return std::string(key.substr(0, key.find(":{")));
}

std::vector<std::string> shard_keys(std::string_view name, std::uint32_t shards) {
  check_name(name);
  if (shards == 0 || shards > kMaxRedisShards)
    throw Error(ErrorCode::invalid_argument, std::to_string(shards) +
                                                 " shards are out of range; a filter has 1 to " +
                                                 std::to_string(kMaxRedisShards));
  const auto range_of = [shards](std::string_view tag) {
    return std::uint32_t{slot_of(tag)} * shards / kSlots;
  };
  const std::uint32_t first = range_of("0");
  std::vector<std::string> keys(shards);
  std::uint32_t left = shards;
  for (std::uint32_t number = 0; left > 0; ++number) {
    const std::string tag = std::to_string(number);
    std::string& key = keys[(range_of(tag) + shards - first) % shards];
    if (!key.empty()) continue;
    key = key_of(name, tag);
    --left;
  }
  return keys;
}

std::array<char, 8> identity_of_shard(const std::array<char, 8>& whole, std::uint32_t shard) {
  std::array<char, 8> identity;
  store_le64(identity.data(), number_of_shard(load_le64(whole.data()), shard));
  return identity;
}

std::array<char, 8> new_identity() {
  const auto good = [&](std::uint64_t whole) {
    for (std::uint32_t shard = 0; shard < kMaxRedisShards; ++shard)
      if (number_of_shard(whole, shard) == 0) return false;
    return whole != 0;
  };
  std::uint64_t whole = 0;
  do whole = random_seed(HashFamily::xxh3).low;
  while (!good(whole));
  std::array<char, 8> identity;
  store_le64(identity.data(), whole);
  return identity;
}

}  // namespace bloomery::detail
