// Filters on Redis servers as key filters; what there is of them in a tool built without hiredis.
#pragma once

#include "key_filter.hpp"
#include "plain_bits.hpp"
#include "stream.hpp"

#include <bloomery/php_filter.hpp>
#include <bloomery/redis_url.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace bloomery::cli {

enum class Mode : std::uint8_t { read, write, create, open_or_create };

// Of a redis:// address. Error: as the address and the server have them; {invalid_argument}: this
// tool was built without the Redis client.
[[nodiscard]] std::unique_ptr<KeyFilter> redis_key_filter(const Options& options,
                                                          const std::string& name, Mode mode);

// Whole plain filters in Redis strings, one or in shards, by the same addresses.
[[nodiscard]] std::unique_ptr<PlainSource> redis_source(const std::string& name);
[[nodiscard]] std::unique_ptr<PlainSink> redis_sink(const std::string& name,
                                                    const PlainShape& shape, bool force);
// How a filter stands of whose bits such a share is on.
[[nodiscard]] FilterState state_in(const PlainShape& shape, double fill);
// Keys on their way into a new filter, which takes the place of the one that is there when it is
// published, and else never.
class RedisRebuild : public HashSink {
 public:
  [[nodiscard]] virtual FilterState state() = 0;
  virtual void publish() = 0;

  std::uint64_t fresh = 0;  // lines that were certainly new
};
[[nodiscard]] std::unique_ptr<RedisRebuild> redis_rebuild(const std::string& name, const Plan& plan,
                                                          const Hasher& hasher);
// Rotates what is there, and says in a sentence what came of it.
[[nodiscard]] std::string rotate_in_redis(const Options& options, const std::string& name);
// Whether it is one of a module's filters in shards.
[[nodiscard]] bool names_module_shards(const std::string& name);
// A new one with the keys of others, of which all are that.
void merge_module_shards(const std::string& out, std::span<const std::string> sources, bool force);
// Error{wrong_kind}: for what is done with any other place.
[[noreturn]] void refuse_module_shards(const RedisUrl& url);
// The parts of an address, with the password wherever it comes from.
[[nodiscard]] RedisUrl redis_place(const std::string& name);
[[nodiscard]] PhpFilter load_bucket(const std::string& name, const PhpScheme& scheme);
void store_bucket(const std::string& name, const PhpFilter& filter);
// The name without its secrets; a file's as it is.
[[nodiscard]] std::string shown(const std::string& name);

}  // namespace bloomery::cli
