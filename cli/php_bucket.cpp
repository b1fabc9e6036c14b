// A RedisPhpFilter, or two of them, behind the flags of the tool.
#include "php_bucket.hpp"

#include "scheme.hpp"

#include <fmt/format.h>
#include <bloomery/error.hpp>
#include <bloomery/redis_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <memory>
#include <optional>

namespace bloomery::cli {

namespace {

class PhpBucket : public KeyFilter {
 public:
  PhpBucket(std::string name, RedisPhpFilter filter, std::optional<RedisPhpFilter> older)
      : name_(std::move(name)), filter_(std::move(filter)), older_(std::move(older)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  std::size_t insert(Keys keys, std::span<bool> fresh) override {
    if (!older_) return filter_.insert_many(keys, fresh);
    // The older afterwards: a rotation in between has it say "there" of what we have just inserted,
    // and never "new" of what was there. The next keys then find the bucket gone, or shorter than
    // it was, which is an error: whether PHP rotated it or it was evicted cannot be told.
    const auto added = std::make_unique<bool[]>(keys.size());
    filter_.insert_many(keys, std::span<bool>(added.get(), keys.size()));
    const auto found = std::make_unique<bool[]>(keys.size());
    older_->may_contain_many(keys, std::span<bool>(found.get(), keys.size()));
    std::size_t count = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool is_new = added[i] && !found[i];
      if (!fresh.empty()) fresh[i] = is_new;
      count += is_new ? 1 : 0;
    }
    return count;
  }
  // The newer first: a rotation in between moves what it had to where the older is asked. The next
  // keys then are an error, as above.
  std::size_t may_contain(Keys keys, std::span<bool> found) override {
    if (!older_) return filter_.may_contain_many(keys, found);
    const auto newer = std::make_unique<bool[]>(keys.size());
    filter_.may_contain_many(keys, std::span<bool>(newer.get(), keys.size()));
    const auto older = std::make_unique<bool[]>(keys.size());
    older_->may_contain_many(keys, std::span<bool>(older.get(), keys.size()));
    std::size_t count = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool either = newer[i] || older[i];
      if (!found.empty()) found[i] = either;
      count += either ? 1 : 0;
    }
    return count;
  }
  [[nodiscard]] std::size_t acknowledged() const noexcept override {
    return filter_.acknowledged();
  }
  [[nodiscard]] std::string made() const override { return filter_.scheme().description(); }
  [[nodiscard]] Standing standing(const std::string&) override {
    return php_standing(filter_.scheme(), fill());
  }
  [[nodiscard]] std::string verified() override { return kPhpVerified; }
  [[nodiscard]] Rows rows() override { return php_rows(name_, filter_.scheme(), fill()); }

 private:
  [[nodiscard]] PhpFill fill() {
    const RedisFill now = filter_.watch();
    return {now.ones, now.error, now.sampled};
  }

  std::string name_;
  RedisPhpFilter filter_;
  std::optional<RedisPhpFilter> older_;
};

// A bucket that has been rotated begins absent, as PHP's do; one that has not must be there, or a key
// that is spelled wrongly would be a new filter.
RedisPhpFilter opened(const RedisUrl& url, const PhpScheme& scheme, Mode mode, bool rotating) {
  if (mode == Mode::create) return RedisPhpFilter::make(url.address, url.key, scheme);
  if (rotating) return RedisPhpFilter::create(url.address, url.key, scheme);
  return RedisPhpFilter::open(url.address, url.key, scheme);
}

bool is_there(const RedisAddress& address, const std::string& key, const PhpScheme& scheme) {
  try {
    (void)RedisPhpFilter::open(address, key, scheme);
    return true;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::missing) throw;
    return false;
  }
}

}  // namespace

std::string rotate_php_bucket_at(const Options& options, const RedisUrl& url) {
  const PhpScheme scheme = php_scheme(options);
  const std::string older = older_redis_key(url.key);
  const bool was_rotated = is_there(url.address, older, scheme);
  if (!was_rotated) (void)RedisPhpFilter::open(url.address, url.key, scheme);
  (void)RedisPhpFilter::create(url.address, url.key, scheme);
  if (!rotate_php_bucket(url.address, url.key))
    return fmt::format("nothing has come into {} since its last rotation; '{}' stays", url.text(),
                       older);
  return fmt::format("what {} held is under '{}' now; what that held is gone", url.text(), older);
}

std::unique_ptr<KeyFilter> php_bucket_filter(const Options& options, const RedisUrl& url,
                                             Mode mode) {
  const PhpScheme scheme = php_scheme(options);
  RedisPhpFilter filter = opened(url, scheme, mode, options.rotating);
  std::optional<RedisPhpFilter> older;
  if (options.rotating)
    older = RedisPhpFilter::create(url.address, older_redis_key(url.key), scheme);
  return std::make_unique<PhpBucket>(url.text(), std::move(filter), std::move(older));
}

}  // namespace bloomery::cli
