// The 128 bytes before the bits of a filter in a Redis string: what the bits mean.
//
// Little-endian, as everything that Bloomery writes; docs/format.md has the table.
#pragma once

#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bloomery::detail {

constexpr std::size_t kRedisHeaderBytes = 128;
constexpr std::size_t kRedisIdentityAt = 64;  // 8 bytes, random, never zero

struct RedisHeader {
  Plan plan;
  Hasher hasher;
  std::array<char, 8> identity{};
};

[[nodiscard]] std::string encode_redis_header(const RedisHeader& header);
// Believes nothing. Error{not_a_filter, newer_format, corrupt}; `name` names the key in it.
[[nodiscard]] RedisHeader decode_redis_header(std::string_view start, const std::string& name);

}  // namespace bloomery::detail
