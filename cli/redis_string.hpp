// Filters in plain Redis strings as key filters.
#pragma once

#include "redis_places.hpp"

#include <bloomery/redis_filter.hpp>
#include <bloomery/redis_url.hpp>

namespace bloomery::cli {

[[nodiscard]] std::unique_ptr<KeyFilter> redis_string_filter(const Options& options,
                                                             const RedisUrl& url, Mode mode);

// "12.3 %", or "12.3 % +- 0.02 %, from a sample" with two standard errors.
[[nodiscard]] std::string fill_text(const RedisFill& fill);
// What JSON has of a fill besides the state.
void add_fill(Json& json, const RedisFill& fill);

}  // namespace bloomery::cli
