// From an address and the flags to the filter that is meant.
#include "redis_places.hpp"

#include "php_bucket.hpp"
#include "redis_module.hpp"
#include "redis_plain.hpp"
#include "redis_shards.hpp"
#include "redis_string.hpp"

#include <fmt/format.h>
#include <bloomery/redis_url.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <cstdlib>
#include <vector>

namespace bloomery::cli {

namespace {

// A password on a command line is seen by every user of the machine, so it may come another way.
void take_password(RedisUrl& url) {
  const char* password = std::getenv("BLOOMERY_REDIS_PASSWORD");
  if (url.address.password.empty() && password != nullptr) url.address.password = password;
  if (!url.address.user.empty() && url.address.password.empty())
    throw Error(
        ErrorCode::invalid_argument,
        "the address names a user and no password; add it, as in redis://user:pass@host, or "
        "set BLOOMERY_REDIS_PASSWORD");
}

// For what is done with a filter under one key.
void refuse_shards(const RedisUrl& url, std::string_view why) {
  if (url.cluster) throw Error(ErrorCode::wrong_kind, fmt::format("{}: {}", url.text(), why));
}

constexpr std::string_view kOneBucket =
    "the bits of a PHP class are under one key; name it with redis://";

// For what is done with a filter as a whole: the module does not give its bits as they are.
RedisUrl strings_url_of(const std::string& name) {
  RedisUrl url = redis_place(name);
  if (url.holds == RedisUrl::Holds::module && url.cluster) refuse_module_shards(url);
  if (url.holds == RedisUrl::Holds::module)
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: a filter of the module is merged by BF.MERGE on its server, and "
                            "moved by bloomery convert; build a new one with create and add",
                            url.text()));
  return url;
}

}  // namespace

RedisUrl redis_place(const std::string& name) {
  RedisUrl url = parse_redis_url(name);
  take_password(url);
  return url;
}

void refuse_module_shards(const RedisUrl& url) {
  throw Error(ErrorCode::wrong_kind,
              fmt::format("{}: each shard is a filter of the module of its own, and together they "
                          "go into shards of a module alone, by bloomery convert and merge; "
                          "build a new one with create and add",
                          url.text()));
}

std::unique_ptr<KeyFilter> redis_key_filter(const Options& options, const std::string& name,
                                            Mode mode) {
  const RedisUrl url = redis_place(name);
  if (url.cluster) return redis_shards_filter(options, url, mode);
  if (url.holds == RedisUrl::Holds::module) return redis_module_filter(options, url, mode);
  if (options.scheme) return php_bucket_filter(options, url, mode);
  return redis_string_filter(options, url, mode);
}

std::string rotate_in_redis(const Options& options, const std::string& name) {
  const RedisUrl url = redis_place(name);
  refuse_shards(url,
                "a filter in shards does not rotate; make a new one under another name, feed both "
                "for as long as keys matter, and UNLINK the old one");
  if (url.holds == RedisUrl::Holds::module)
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: a filter of the module does not rotate; create --window makes one "
                            "that forgets by itself",
                            url.text()));
  if (options.scheme) return rotate_php_bucket_at(options, url);
  auto filter = RotatingRedisFilter::open(url.address, url.key);
  const std::uint64_t from = filter.generation();
  if (!filter.rotate(from))
    return fmt::format("{} was rotated by another client at the same time; nothing is changed",
                       url.text());
  return fmt::format("{} is in generation {} now; generation {} is forgotten", url.text(), from + 1,
                     from - 1);
}

std::unique_ptr<PlainSource> redis_source(const std::string& name) {
  const RedisUrl url = strings_url_of(name);
  return url.cluster ? shards_source(url) : string_source(url);
}

std::unique_ptr<PlainSink> redis_sink(const std::string& name, const PlainShape& shape,
                                      bool force) {
  const RedisUrl url = strings_url_of(name);
  return url.cluster ? shards_sink(url, shape, force) : string_sink(url, shape, force);
}

std::unique_ptr<RedisRebuild> redis_rebuild(const std::string& name, const Plan& plan,
                                            const Hasher& hasher) {
  const RedisUrl url = strings_url_of(name);
  return url.cluster ? shards_rebuild(url, plan, hasher) : string_rebuild(url, plan, hasher);
}

bool names_module_shards(const std::string& name) {
  const RedisUrl url = redis_place(name);
  return url.cluster && url.holds == RedisUrl::Holds::module;
}

void merge_module_shards(const std::string& out, std::span<const std::string> sources, bool force) {
  std::vector<RedisUrl> urls;
  urls.reserve(sources.size());
  for (const std::string& source : sources) urls.push_back(redis_place(source));
  merge_module_shards(redis_place(out), urls, force);
}

PhpFilter load_bucket(const std::string& name, const PhpScheme& scheme) {
  const RedisUrl url = strings_url_of(name);
  refuse_shards(url, kOneBucket);
  return RedisPhpFilter::open(url.address, url.key, scheme).load();
}

void store_bucket(const std::string& name, const PhpFilter& filter) {
  const RedisUrl url = strings_url_of(name);
  refuse_shards(url, kOneBucket);
  RedisPhpFilter::store(url.address, url.key, filter);
}

std::string shown(const std::string& name) {
  return is_redis_address(name) ? redis_place(name).text() : name;
}

}  // namespace bloomery::cli
