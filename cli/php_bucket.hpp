// The buckets of PHP classes in Redis as key filters.
#pragma once

#include "redis_places.hpp"

#include <bloomery/redis_url.hpp>

namespace bloomery::cli {

// Of the scheme that the options name; with --rotating the older generation is asked too.
[[nodiscard]] std::unique_ptr<KeyFilter> php_bucket_filter(const Options& options,
                                                           const RedisUrl& url, Mode mode);

}  // namespace bloomery::cli
