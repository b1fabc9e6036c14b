// Filters of a Redis module as key filters.
#pragma once

#include "redis_places.hpp"

#include <bloomery/redis_url.hpp>

namespace bloomery::cli {

[[nodiscard]] std::unique_ptr<KeyFilter> redis_module_filter(const Options& options,
                                                             const RedisUrl& url, Mode mode);

}  // namespace bloomery::cli
