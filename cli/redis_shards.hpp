// Filters in shards, of plain strings or of a module, as key filters.
#pragma once

#include "redis_places.hpp"

#include <bloomery/redis_url.hpp>

namespace bloomery::cli {

[[nodiscard]] std::unique_ptr<KeyFilter> redis_shards_filter(const Options& options,
                                                             const RedisUrl& url, Mode mode);

// A filter of a module in shards, with the keys of others.
void merge_module_shards(const RedisUrl& out, std::span<const RedisUrl> sources, bool force);

}  // namespace bloomery::cli
