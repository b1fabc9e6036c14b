// The 128 bytes before the bits of a filter in a Redis string: what the bits mean.
//
// Little-endian, as everything that Bloomery writes; docs/format.md has the table. Format 1 is a
// filter in one string, format 2 a shard of one in several, format 3 a generation of one that
// rotates.
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
constexpr std::size_t kRedisGenerationAt = 72;  // 8 bytes, of a filter that rotates

// A shard ends with its identity once more. No key reaches so far: an insert into a shard that was
// cut short makes it longer again, but never as long as it has to be.
constexpr std::size_t kShardEndBytes = 8;

// Where a filter's bit is, as SETBIT and BITFIELD count: the bits of a byte from the most significant
// one, where filters count from the least.
[[nodiscard]] constexpr std::uint64_t redis_offset(std::uint64_t position) noexcept {
  return kRedisHeaderBytes * 8 + (position ^ 7);
}

struct RedisHeader {
  Plan plan;  // of the whole
  Hasher hasher;
  std::array<char, 8> identity{};  // of the whole
  std::uint32_t shard = 0;
  std::uint32_t shards = 0;  // 0: the filter is one string
  // From 1 on; all generations of a filter have one identity. 0: the filter does not rotate.
  std::uint64_t generation = 0;

  [[nodiscard]] std::uint64_t string_bytes() const noexcept {
    if (shards == 0) return kRedisHeaderBytes + plan.bytes();
    return kRedisHeaderBytes + plan.bytes() / shards + kShardEndBytes;
  }
};

// What stands at kRedisIdentityAt: the identity of the whole, or one of the shard that follows from
// it, so that a shard under another's key is not taken for it.
[[nodiscard]] std::array<char, 8> string_identity(const RedisHeader& header);
// A random one, of which no shard's is zero.
[[nodiscard]] std::array<char, 8> new_identity();

[[nodiscard]] bool has_redis_magic(std::string_view start) noexcept;
[[nodiscard]] std::string encode_redis_header(const RedisHeader& header);
// Believes nothing. Error{not_a_filter, newer_format, corrupt}; `name` names the key in it.
[[nodiscard]] RedisHeader decode_redis_header(std::string_view start, const std::string& name);

}  // namespace bloomery::detail
