// The header of a filter in a Redis string: 128 bytes that precede the bits and describe them.
//
// Little-endian, like everything that Bloomery writes; docs/format.md has the table. Format 1 is a filter in one
// string, format 2 a shard of a filter in several strings, format 3 a generation of a rotating filter, format 4 a
// generation of a shard of a rotating filter.
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
constexpr std::size_t kRedisIdentityAt = 64;    // 8 bytes, random, never zero
constexpr std::size_t kRedisGenerationAt = 72;  // 8 bytes, of a rotating filter

// A shard ends with its identity again. No key has bits there, so an insert into a shard that was cut short never
// extends it to its full length.
constexpr std::size_t kShardEndBytes = 8;

// The offset of a filter's bit for SETBIT and BITFIELD: they count from the most significant bit of a byte, and
// filters from the least significant bit.
[[nodiscard]] constexpr std::uint64_t redis_offset(std::uint64_t position) noexcept {
  return kRedisHeaderBytes * 8 + (position ^ 7);
}

struct RedisHeader {
  Plan plan;  // of the whole filter
  Hasher hasher;
  std::array<char, 8> identity{};  // of the whole filter
  std::uint32_t shard = 0;
  std::uint32_t shards = 0;      // 0: the filter is in one string
  std::uint64_t generation = 0;  // from 1 on, all with one identity; 0: the filter does not rotate

  [[nodiscard]] std::uint64_t string_bytes() const noexcept {
    if (shards == 0) return kRedisHeaderBytes + plan.bytes();
    return kRedisHeaderBytes + plan.bytes() / shards + kShardEndBytes;
  }
};

// The 8 bytes at kRedisIdentityAt: the identity of the whole filter, or an identity of the shard that is derived from
// it, so that a shard under the key of another shard is detected.
[[nodiscard]] std::array<char, 8> string_identity(const RedisHeader& header);
// Whether a string that starts like this is to have a header; its fields may be wrong.
[[nodiscard]] bool begins_with_redis_header(std::string_view start) noexcept;
[[nodiscard]] std::string encode_redis_header(const RedisHeader& header);
// Checks every field. Error{not_a_filter, newer_format, corrupt}; messages call the key `name`.
[[nodiscard]] RedisHeader decode_redis_header(std::string_view start, const std::string& name);

}  // namespace bloomery::detail
