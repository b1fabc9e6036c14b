// Opens the filter in a place, whichever it is, over the connection that has read its header.
#pragma once

#include <bloomery/redis_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <variant>

namespace bloomery::detail {

struct OpenStrings {
  // Errors as RedisFilter::open, but for filters that rotate.
  [[nodiscard]] static std::variant<RedisFilter, RotatingRedisFilter> at(const RedisPlace& place);
};

}  // namespace bloomery::detail
