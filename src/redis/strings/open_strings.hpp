// Opens the filter in a place, whichever it is, over the connection that has read its header.
#pragma once

#include <bloomery/redis_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <utility>
#include <variant>

#include "redis/strings/header_io.hpp"

namespace bloomery::detail {

// A struct, since the two classes name it as their friend.
struct OpenStrings {
  // Errors as RedisFilter::open; filters that rotate are none.
  [[nodiscard]] static std::variant<RedisFilter, RotatingRedisFilter> at(const RedisPlace& place) {
    Cluster cluster(place);
    const RedisHeader header = header_at(cluster, place);
    if (header.generation == 0) return RedisFilter::open(place, header, std::move(cluster));
    return RotatingRedisFilter::open(place, header, std::move(cluster));
  }
};

}  // namespace bloomery::detail
