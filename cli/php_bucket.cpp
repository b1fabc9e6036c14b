// A RedisPhpFilter behind the flags of the tool.
#include "redis_filters.hpp"
#include "scheme.hpp"

#include <fmt/format.h>
#include <bloomery/error.hpp>
#include <bloomery/redis_php_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <memory>

namespace bloomery::cli {

namespace {

class PhpBucket : public KeyFilterOver<RedisPhpFilter> {
 public:
  using KeyFilterOver::KeyFilterOver;

  [[nodiscard]] std::string made() const override { return filter_.scheme().description(); }
  [[nodiscard]] Standing standing(const std::string&) override {
    return php_standing(filter_.scheme(), fill());
  }
  [[nodiscard]] std::string verified() override { return kPhpVerified; }
  [[nodiscard]] Rows rows() override { return php_rows(name_, filter_.scheme(), fill()); }

 private:
  [[nodiscard]] PhpFill fill() {
    const Stats now = filter_.stats();
    return {now.fill, now.fill_error, now.sampled};
  }
};

RedisUrl under_one_key(const RedisUrl& url) {
  if (url.module || url.shards)
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: the bits of a PHP class are under one key; name it with redis://",
                            url.text()));
  return url;
}

bool is_there(const RedisPlace& place, const PhpScheme& scheme) {
  try {
    (void)RedisPhpFilter::open(place, scheme);
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::missing) throw;
    return false;
  }
}

}  // namespace

std::string rotate_php_bucket(const Options& options, const RedisUrl& url) {
  const PhpScheme scheme = php_scheme(options);
  RedisPlace older = url;
  older.key = older_redis_key(url.key);
  const bool was_rotated = is_there(older, scheme);
  if (!was_rotated) (void)RedisPhpFilter::open(url, scheme);
  (void)RedisPhpFilter::create(url, scheme);
  if (!RedisPhpFilter::rotate(url))
    return fmt::format("nothing has come into {} since its last rotation; '{}' stays", url.text(),
                       older.key);
  return fmt::format("what {} held is under '{}' now; what that held is gone", url.text(),
                     older.key);
}

std::unique_ptr<KeyFilter> php_bucket_filter(const Options& options, const RedisUrl& url,
                                             Mode mode) {
  const PhpScheme scheme = php_scheme(options);
  // A bucket that has been rotated begins absent, as PHP's do; another one must be there, or a
  // misspelled key would be a new filter.
  RedisPhpFilter filter = mode == Mode::create ? RedisPhpFilter::make(url, scheme)
                          : options.rotating   ? RedisPhpFilter::create(url, scheme)
                                               : RedisPhpFilter::open(url, scheme);
  if (options.rotating) filter.ask_older();
  return std::make_unique<PhpBucket>(url.text(), std::move(filter));
}

PhpFilter load_bucket(const std::string& name, const PhpScheme& scheme) {
  return RedisPhpFilter::open(under_one_key(redis_place(name)), scheme).load();
}

void store_bucket(const std::string& name, const PhpFilter& filter) {
  RedisPhpFilter::store(under_one_key(redis_place(name)), filter);
}

}  // namespace bloomery::cli
