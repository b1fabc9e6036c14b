// Filters on Redis servers as key filters; what there is of them in a tool built without hiredis.
#pragma once

#include "key_filter.hpp"

#include <bloomery/filter.hpp>
#include <bloomery/php_filter.hpp>
#include <bloomery/redis_url.hpp>

#include <memory>
#include <string>

namespace bloomery::cli {

enum class Mode : std::uint8_t { read, write, create, open_or_create };

// Of a redis:// address. Error: as the address and the server have them; {invalid_argument}: this
// tool was built without the Redis client.
[[nodiscard]] std::unique_ptr<KeyFilter> redis_key_filter(const Options& options,
                                                          const std::string& name, Mode mode);

// Whole plain filters in Redis strings, by the same addresses.
struct RedisShape {
  Plan plan;
  Hasher hasher;
};
[[nodiscard]] RedisShape shape_in_redis(const std::string& name);
[[nodiscard]] Filter load_from_redis(const std::string& name);
// `replace`: an existing filter too. It appears at once and whole.
void store_in_redis(const std::string& name, const FilterView& filter, bool replace);
// Rotates what is there, and says in a sentence what came of it.
[[nodiscard]] std::string rotate_in_redis(const Options& options, const std::string& name);
// The parts of an address, with the password wherever it comes from.
[[nodiscard]] RedisUrl redis_place(const std::string& name);
[[nodiscard]] PhpFilter load_bucket(const std::string& name, const PhpScheme& scheme);
void store_bucket(const std::string& name, const PhpFilter& filter);
// The name without its secrets.
[[nodiscard]] std::string redis_name(const std::string& name);

}  // namespace bloomery::cli
