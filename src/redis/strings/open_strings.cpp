#include "redis/strings/open_strings.hpp"

#include <utility>

#include "redis/strings/header_io.hpp"

namespace bloomery::detail {

std::variant<RedisFilter, RotatingRedisFilter> OpenStrings::at(const RedisPlace& place) {
  Cluster cluster(place);
  const RedisHeader header = header_at(cluster, place);
  if (header.generation == 0) return RedisFilter::open(place, header, std::move(cluster));
  return RotatingRedisFilter::open(place, header, std::move(cluster));
}

}  // namespace bloomery::detail
