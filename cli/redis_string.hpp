// Filters in plain Redis strings as key filters.
#pragma once

#include "redis_places.hpp"

#include <bloomery/redis_url.hpp>

namespace bloomery::cli {

[[nodiscard]] std::unique_ptr<KeyFilter> redis_string_filter(const Options& options,
                                                             const RedisUrl& url, Mode mode);

}  // namespace bloomery::cli
