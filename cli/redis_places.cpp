// From an address and the flags to the filter that is meant.
#include "redis_places.hpp"

#include "force.hpp"
#include "redis_string.hpp"

#include <bloomery/redis_url.hpp>

#include <cstdlib>

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

RedisUrl url_of(const std::string& name) {
  RedisUrl url = parse_redis_url(name);
  take_password(url);
  return url;
}

}  // namespace

std::unique_ptr<KeyFilter> redis_key_filter(const Options& options, const std::string& name,
                                            Mode mode) {
  const RedisUrl url = url_of(name);
  return redis_string_filter(options, url, mode);
}

RedisShape shape_in_redis(const std::string& name) {
  const RedisUrl url = url_of(name);
  const RedisFilter filter = RedisFilter::open(url.address, url.key);
  return {filter.plan(), filter.hasher()};
}

Filter load_from_redis(const std::string& name) {
  const RedisUrl url = url_of(name);
  return RedisFilter::open(url.address, url.key).load();
}

void store_in_redis(const std::string& name, const FilterView& filter, bool replace) {
  const RedisUrl url = url_of(name);
  naming_force(url.text(), [&] { RedisFilter::store(url.address, url.key, filter, replace); });
}

std::string redis_name(const std::string& name) { return url_of(name).text(); }

}  // namespace bloomery::cli
