// Plain filters in Redis strings as a whole: read, written and rebuilt, one string or in shards.
#pragma once

#include "redis_places.hpp"

namespace bloomery::cli {

[[nodiscard]] std::unique_ptr<PlainSource> string_source(const RedisUrl& url);
[[nodiscard]] std::unique_ptr<PlainSource> shards_source(const RedisUrl& url);

[[nodiscard]] std::unique_ptr<PlainSink> string_sink(const RedisUrl& url, const PlainShape& shape,
                                                     bool force);
[[nodiscard]] std::unique_ptr<PlainSink> shards_sink(const RedisUrl& url, const PlainShape& shape,
                                                     bool force);

[[nodiscard]] std::unique_ptr<RedisRebuild> string_rebuild(const RedisUrl& url, const Plan& plan,
                                                           const Hasher& hasher);
[[nodiscard]] std::unique_ptr<RedisRebuild> shards_rebuild(const RedisUrl& url, const Plan& plan,
                                                           const Hasher& hasher);

// That the address names as many shards as there are, or none.
void check_shards(const RedisUrl& url, std::size_t shards);

}  // namespace bloomery::cli
