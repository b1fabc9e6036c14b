// The two data types: RedisBloom's own, `MBbloom--`, for filters of its scheme, and `bloomery-`.
//
// A filter of RedisBloom's scheme stays RedisBloom's: its RDB files and DUMP payloads go both
// ways. Ours have a name of their own, so that RedisBloom never takes them for something else.
#pragma once

#include "api.hpp"
#include "value.hpp"

namespace bloomery::server {

// False: another module (RedisBloom) has them already.
[[nodiscard]] bool register_types(Context* context) noexcept;

[[nodiscard]] bool is_ours(const Type* type) noexcept;  // either of the two
[[nodiscard]] Type* type_of(const Value& value) noexcept;

}  // namespace bloomery::server
