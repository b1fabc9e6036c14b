// From an address and the flags to the filter that they mean.
#include "redis_places.hpp"

#include "force.hpp"
#include "redis_filters.hpp"

#include <fmt/format.h>
#include <bloomery/module_filter.hpp>
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
  if (url.shards && (options.scheme || options.rotating))
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}: --scheme and --rotating are about filters under one key; name them "
                    "with redis://",
                    url.text()));
  if (url.module) return redis_module_filter(options, url, mode);
  if (options.scheme) return php_bucket_filter(options, url, mode);
  return redis_strings_filter(options, url, mode);
}

std::string rotate_in_redis(const Options& options, const std::string& name) {
  const RedisUrl url = redis_place(name);
  if (url.shards)
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: a filter in shards does not rotate; make a new one under another "
                            "name, feed both for as long as keys matter, and UNLINK the old one",
                            url.text()));
  if (url.module)
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: a filter of the module does not rotate; create --window makes one "
                            "that forgets by itself",
                            url.text()));
  if (options.scheme) return rotate_php_bucket(options, url);
  auto filter = RotatingRedisFilter::open(url);
  const std::uint64_t from = filter.generation();
  if (!filter.rotate(from))
    return fmt::format("{} was rotated by another client at the same time; nothing is changed",
                       url.text());
  return fmt::format("{} is in generation {} now; generation {} is forgotten", url.text(), from + 1,
                     from - 1);
}

bool names_module_shards(const std::string& name) {
  const RedisUrl url = redis_place(name);
  return url.module && url.shards;
}

void merge_module_shards(const std::string& out, std::span<const std::string> sources, bool force) {
  std::vector<ModuleFilter> filters;
  std::vector<ModuleFilter*> each;
  for (const std::string& source : sources)
    filters.push_back(ModuleFilter::open(redis_place(source)));
  for (ModuleFilter& filter : filters) each.push_back(&filter);
  const RedisUrl url = redis_place(out);
  naming_force(url.text(), force, [&] { ModuleFilter::store(url, each, force); });
}

std::string shown(const std::string& name) {
  return is_redis_address(name) ? redis_place(name).text() : name;
}

}  // namespace bloomery::cli
