// Filters on Redis servers: filters in strings, and the buckets of PHP classes.
#include <bloomery/redis_filter.hpp>
#include <bloomery/redis_php_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <array>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <variant>

#include "handle/on_server.hpp"
#include "redis/shards/shard_plan.hpp"
#include "redis/strings/open_strings.hpp"

namespace bloomery::detail {

namespace {

using Operation = AnyFilter::Operation;

// Filters whose keys are hashed by this client.
template <class Filter>
class InStrings : public OnServer<Filter> {
 public:
  using OnServer<Filter>::OnServer;
  [[nodiscard]] const Hasher* hasher() const noexcept final { return &this->filter_.hasher(); }
  std::size_t apply(Operation operation, std::span<const Hash128> hashes,
                    std::span<bool> answers) final {
    return this->run(
        operation, [&] { return this->filter_.insert_hashes(hashes, answers); },
        [&] { return this->filter_.may_contain_hashes(hashes, answers); }, this->no_removal);
  }
  using AnyFilter::Impl::apply;
};

class RedisStrings final : public InStrings<RedisFilter> {
 public:
  using InStrings::InStrings;
  [[nodiscard]] FilterSpec spec() const override { return spec_of(filter_.plan()); }
  [[nodiscard]] std::optional<FilterPlan> plan() const override { return filter_.plan(); }
  [[nodiscard]] FilterPlan plan_here(const FilterPlan& plan) const override {
    const Plan* const plain = std::get_if<Plan>(&plan);
    if (plain == nullptr || !filter_.shards()) return plan;
    return plan_for_shards(*plain, *filter_.shards());
  }
  [[nodiscard]] FilterStats stats(Precision) override {
    FilterStats stats = stats_of(filter_.plan(), filter_.stats());
    if (filter_.shards()) stats.shards = {.count = *filter_.shards(), .nodes = filter_.nodes()};
    return stats;
  }
  [[nodiscard]] VerifyReport verify() override {
    const std::string what =
        filter_.shards() ? fill_in("the headers and lengths of its {} shards", *filter_.shards())
                         : std::string("its header and its length");
    return said(what + " are right; the bits in a Redis string carry no checksums");
  }
};

class Rotating final : public InStrings<RotatingRedisFilter> {
 public:
  using InStrings::InStrings;
  [[nodiscard]] FilterSpec spec() const override {
    FilterSpec spec = spec_of(filter_.plan());
    spec.fpr = filter_.fpr();
    return spec;
  }
  [[nodiscard]] FilterStats stats(Precision) override {
    const RotatingRedisFilter::BothStats both = filter_.stats();
    FilterStats stats = stats_of(filter_.plan(), both.newer);
    stats.fpr = filter_.fpr();
    stats.current_fpr = both.current_fpr;
    if (filter_.shards()) stats.shards = {.count = *filter_.shards(), .nodes = filter_.nodes()};
    stats.generations = {.newer = filter_.generation(), .older = both.older};
    return stats;
  }
  [[nodiscard]] VerifyReport verify() override {
    filter_.verify();
    return said(
        "the headers and lengths of both generations are right; the bits in a Redis string "
        "carry no checksums");
  }
};

// A new filter in strings; close() puts it into its place.
class Rebuild final : public AnyFilter::Impl {
 public:
  Rebuild(const RedisUrl& url, RedisFilterWriter writer)
      : Impl(url.text()), writer_(std::move(writer)) {}
  [[nodiscard]] const Hasher* hasher() const noexcept override { return &writer_.hasher(); }
  std::size_t apply(Operation operation, std::span<const Hash128> hashes,
                    std::span<bool> answers) override {
    if (operation != Operation::insert)
      refuse(ErrorCode::wrong_kind, "a filter that is being rebuilt only takes keys");
    return writer_.insert_hashes(hashes, answers);
  }
  using Impl::apply;
  [[nodiscard]] FilterSpec spec() const override { return spec_of(writer_.plan()); }
  [[nodiscard]] std::optional<FilterPlan> plan() const override { return writer_.plan(); }
  [[nodiscard]] FilterStats stats(Precision) override {
    return stats_of(writer_.plan(), writer_.stats());
  }
  [[nodiscard]] VerifyReport verify() override { return said("it is being rebuilt"); }
  void keep_alive() override { writer_.keep_alive(); }
  [[nodiscard]] bool on_server() const noexcept override { return true; }
  void close() override { writer_.publish(); }

 private:
  RedisFilterWriter writer_;
};

class PhpBucket final : public OnServer<RedisPhpFilter> {
 public:
  using OnServer::apply;
  using OnServer::OnServer;
  [[nodiscard]] const Hasher* hasher() const noexcept final { return nullptr; }
  std::size_t apply(Operation operation, AnyFilter::Keys keys, std::span<bool> answers) override {
    return run(
        operation, [&] { return filter_.insert_many(keys, answers); },
        [&] { return filter_.may_contain_many(keys, answers); }, no_removal);
  }
  std::size_t insert_bits(std::string_view key, std::span<bool> before) override {
    return at_edge(name(), [&] { return filter_.insert_bits(key, before); });
  }
  [[nodiscard]] FilterSpec spec() const override { return {}; }
  [[nodiscard]] FilterStats stats(Precision) override {
    return stats_of(filter_.scheme(), filter_.stats());
  }
  [[nodiscard]] VerifyReport verify() override { return said(kPhpVerified); }
};

// ---- strings --------------------------------------------------------------------------------------

AnyImpl impl_of(const RedisUrl& url, RedisFilter filter) {
  return std::make_unique<RedisStrings>(url, std::move(filter));
}
AnyImpl impl_of(const RedisUrl& url, RotatingRedisFilter filter) {
  return std::make_unique<Rotating>(url, std::move(filter));
}

AnyImpl in_strings(const RedisUrl& url, Opening how, const FilterSpec& spec,
                   const AnyOptions& options) {
  if (how == Opening::create) {
    if (spec.kind.value_or(Kind::plain) != Kind::plain)
      refuse(
          ErrorCode::wrong_kind, url,
          fill_in("a filter in a Redis string is plain, not {}; {}name a filter of the module "
                  "with redis+module://, or a file",
                  to_string(*spec.kind),
                  *spec.kind == Kind::window ? "make it rotating, so that it forgets, or " : ""));
    if (options.rotating && (!spec.capacity || !spec.fpr || spec.bits || spec.hashes))
      throw PlanError(ErrorCode::invalid_argument, PlanField::capacity,
                      "two generations take {capacity}, the keys of one of them, and {fpr}, the "
                      "rate of both together, and no {bits}, {hashes} or {kind}");
    const Plan plan = std::get<Plan>(bloomery::plan(spec));  // refuses numbers of other kinds
    if (!options.rotating)
      return impl_of(url, RedisFilter::create(url, plan, options.hasher(), options.replace));
    return impl_of(url,
                   RotatingRedisFilter::create(url, *spec.capacity, *spec.fpr, options.hasher(),
                                               spec.layout, options.replace));
  }
  if (options.rotating) return impl_of(url, RotatingRedisFilter::open(url));
  return std::visit([&](auto filter) { return impl_of(url, std::move(filter)); },
                    OpenStrings::at(url));
}

// ---- buckets of PHP classes -----------------------------------------------------------------------

// With the option `rotating` a bucket may be absent, as after a rotation by the PHP classes. Without it a bucket must
// exist, or a mistyped key would become a new filter.
AnyImpl php_bucket(const RedisUrl& url, Opening how, const AnyOptions& options) {
  RedisPhpFilter filter = how == Opening::create ? RedisPhpFilter::make(url, *options.scheme)
                          : options.rotating     ? RedisPhpFilter::create(url, *options.scheme)
                                                 : RedisPhpFilter::open(url, *options.scheme);
  if (options.rotating) filter.ask_older();
  return std::make_unique<PhpBucket>(url, std::move(filter));
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

// A bucket into which nothing was inserted since the last rotation is not rotated: otherwise a job that runs twice
// would make the filter forget everything, and a bucket that was evicted looks the same. Error{missing}: there never
// was a bucket.
AnyFilter::Rotation rotate_php_bucket(const RedisUrl& url, const PhpScheme& scheme) {
  RedisPlace older = url;
  older.key = older_redis_key(url.key);
  if (!is_there(older, scheme)) (void)RedisPhpFilter::open(url, scheme);
  (void)RedisPhpFilter::create(url, scheme);
  return {.done = RedisPhpFilter::rotate(url), .older_key = older.key};
}

RedisUrl under_one_key(const RedisUrl& url) {
  if (url.shards)
    refuse(ErrorCode::wrong_kind, url,
           "the bits of a PHP class are under one key; name it with redis://");
  return url;
}

// The password from the environment, or from the first line of a file that the environment names; empty if there is
// none. A password on a command line could be seen by every user of the machine.
std::string password_of_environment() {
  if (const char* const password = std::getenv("BLOOMERY_REDIS_PASSWORD")) return password;
  const char* const file = std::getenv("BLOOMERY_REDIS_PASSWORD_FILE");
  if (file == nullptr) return {};
  std::array<char, 4'096> bytes;
  std::ifstream in(file);
  in.read(bytes.data(), bytes.size());
  std::string_view line(bytes.data(), static_cast<std::size_t>(in.gcount()));
  const bool ends = in.eof() || line.find('\n') != std::string_view::npos;
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!ends || in.bad() || line.empty() || line.find('\0') != std::string_view::npos)
    throw Error(ErrorCode::invalid_argument,
                std::string("BLOOMERY_REDIS_PASSWORD_FILE: the first line of '") + file +
                    "' is not a password, or cannot be read");
  return std::string(line);
}

RedisUrl with_password(RedisUrl url) {
  if (url.address.password.empty()) url.address.password = password_of_environment();
  if (!url.address.user.empty() && url.address.password.empty())
    throw Error(ErrorCode::invalid_argument,
                "the address names a user and no password; write it after the user and a colon, "
                "or set BLOOMERY_REDIS_PASSWORD or BLOOMERY_REDIS_PASSWORD_FILE");
  return url;
}

}  // namespace

RedisUrl redis_url(const std::string& location) { return with_password(parse_redis_url(location)); }
RedisUrl redis_pattern(const std::string& location) {
  return with_password(parse_redis_pattern(location));
}

AnyImpl redis_filter(const RedisUrl& url, Opening how, const FilterSpec& spec,
                     const AnyOptions& options) {
  return at_edge(url.text(), [&] {
    if (url.shards && options.scheme)
      refuse(ErrorCode::invalid_argument, url,
             "schemes are for filters under one key; name them with redis://");
    if (url.module) return module_filter(url, how, spec, options);
    if (options.scheme) return php_bucket(url, how, options);
    return in_strings(url, how, spec, options);
  });
}

AnyFilter::Rotation redis_rotate(const RedisUrl& url, const AnyOptions& options) {
  if (url.module)
    throw PlanError(ErrorCode::wrong_kind, PlanField::window,
                    ": a filter of the module does not rotate; create one with a {window}, which "
                    "forgets by itself",
                    url.text());
  if (options.scheme) return rotate_php_bucket(under_one_key(url), *options.scheme);
  auto filter = RotatingRedisFilter::open(url);
  const std::uint64_t from = filter.generation();
  const bool done = filter.rotate(from);
  return {.done = done, .generation = from + 1, .older_key = filter.older_key()};
}

AnyImpl redis_rebuild(const RedisUrl& url, const FilterPlan& plan, const Hasher& hasher) {
  require_strings(url);
  if (kind_of(plan) != Kind::plain)
    throw PlanError(ErrorCode::wrong_kind, PlanField::kind,
                    ": a Redis string holds a plain filter; leave {kind} out", url.text());
  return std::make_unique<Rebuild>(
      url, RedisFilterWriter::of_keys(url, std::get<Plan>(plan), hasher, true));
}

PhpFilter load_php_bucket(const RedisUrl& url, const PhpScheme& scheme) {
  return RedisPhpFilter::open(under_one_key(url), scheme).load();
}

void store_php_bucket(const RedisUrl& url, const PhpFilter& filter) {
  RedisPhpFilter::store(under_one_key(url), filter);
}

}  // namespace bloomery::detail
