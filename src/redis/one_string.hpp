// What all filters in one string share: finding the header, and a key's bits behind it.
#pragma once

#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "redis/redis_bits.hpp"
#include "redis/redis_header.hpp"

namespace bloomery::detail {

// Error{too_large}: no string holds so many bits; and those of validate.
void require_string_fits(const Plan& plan);

// Error{missing, corrupt, not_a_filter, newer_format}, also where the string has another length than
// its header says.
[[nodiscard]] RedisHeader read_redis_header(Connection& connection, std::string_view key);

// The bits of hashes as SETBIT counts them, behind a header.
[[nodiscard]] RedisBits::OffsetsOf offsets_of(const Plan& plan, std::span<const Hash128> hashes);

}  // namespace bloomery::detail
