// The search for the tags: numbers in order, until every window has one.
#include "redis/shard_keys.hpp"

#include <bloomery/error.hpp>

#include "redis/slot.hpp"

namespace bloomery::detail {
namespace {

std::string key_of(std::string_view name, std::string_view tag) {
  return std::string(name).append(":{").append(tag).append("}");
}

void check_name(std::string_view name) {
  if (name.find('{') != std::string_view::npos)
    throw Error(ErrorCode::invalid_argument,
                "the name '" + std::string(name) +
                    "' has a brace, which would put all shards into one slot; choose one without");
}

}  // namespace

std::string first_shard_key(std::string_view name) {
  check_name(name);
  return key_of(name, "0");
}

std::vector<std::string> shard_keys(std::string_view name, std::uint32_t shards) {
  check_name(name);
  if (shards == 0 || shards > kMostShards)
    throw Error(ErrorCode::invalid_argument, std::to_string(shards) +
                                                 " shards are out of range; a filter has 1 to " +
                                                 std::to_string(kMostShards));
  const auto window_of = [shards](std::string_view tag) {
    return std::uint32_t{slot_of(tag)} * shards / kSlots;
  };
  const std::uint32_t first = window_of("0");
  std::vector<std::string> keys(shards);
  std::uint32_t left = shards;
  for (std::uint32_t number = 0; left > 0; ++number) {
    const std::string tag = std::to_string(number);
    std::string& key = keys[(window_of(tag) + shards - first) % shards];
    if (!key.empty()) continue;
    key = key_of(name, tag);
    --left;
  }
  return keys;
}

}  // namespace bloomery::detail
