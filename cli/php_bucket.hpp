// The buckets of PHP classes in Redis as key filters.
#pragma once

#include "redis_places.hpp"

#include <bloomery/redis_url.hpp>

#include <memory>
#include <string>

namespace bloomery::cli {

// Of the scheme that the options name; with --rotating the older generation is asked too.
[[nodiscard]] std::unique_ptr<KeyFilter> php_bucket_filter(const Options& options,
                                                           const RedisUrl& url, Mode mode);

// Rotates one, and says what was done. Where nothing has come into it since the last rotation it
// stays as it is: a job that runs twice would make it forget everything, and a bucket that was evicted
// looks the same. Error{missing}: it was never there.
[[nodiscard]] std::string rotate_php_bucket_at(const Options& options, const RedisUrl& url);

}  // namespace bloomery::cli
