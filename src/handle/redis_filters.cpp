// Filters on Redis servers: in strings, of a module, and the buckets of PHP classes.
#include <bloomery/module_filter.hpp>
#include <bloomery/redis_filter.hpp>
#include <bloomery/redis_php_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <cstdlib>
#include <utility>

#include "base/file.hpp"
#include "handle/places.hpp"

namespace bloomery::detail {

namespace {

using Operation = AnyFilter::Operation;

[[noreturn]] void refuse(ErrorCode code, const RedisUrl& url, const std::string& what) {
  throw Error(code, url.text() + ": " + what);
}

// What those whose filter class takes many keys do alike.
template <class Filter>
class OnServer : public AnyFilter::Impl {
 public:
  OnServer(const RedisUrl& url, Filter filter) : Impl(url.text()), filter_(std::move(filter)) {}
  [[nodiscard]] std::size_t acknowledged() const noexcept final {
    return asked_ ? filter_.acknowledged() : 0;
  }

 protected:
  // Keys or hashes, as `insert` and `contain` take them, and `remove` where keys can be removed.
  template <class Insert, class Contain, class Remove>
  std::size_t run(Operation operation, Insert insert, Contain contain, Remove remove) {
    asked_ = false;
    return at_edge(name(), [&]() -> std::size_t {
      if (operation == Operation::insert_absent) refuse_insert_absent();
      if (operation == Operation::remove) require_removal();
      asked_ = true;
      return operation == Operation::insert    ? insert()
             : operation == Operation::contain ? contain()
                                               : remove();
    });
  }
  static std::size_t no_removal() { return 0; }  // require_removal() has thrown
  Filter filter_;

 private:
  bool asked_ = false;  // whether the last call has come to the filter, which counts from there
};

// Those whose keys are hashed here.
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

// A new filter in strings, which close() puts into its place.
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
  void close() override {
    if (!std::exchange(published_, true)) writer_.publish();
  }

 private:
  RedisFilterWriter writer_;
  bool published_ = false;
};

class OfModule final : public OnServer<ModuleFilter> {
 public:
  OfModule(const RedisUrl& url, ModuleFilter filter, FilterSpec spec)
      : OnServer(url, std::move(filter)), spec_(spec) {}
  std::size_t apply(Operation operation, AnyFilter::Keys keys, std::span<bool> answers) override {
    return run(
        operation, [&] { return filter_.insert_many(keys, answers); },
        [&] { return filter_.may_contain_many(keys, answers); },
        [&] { return filter_.remove_many(keys, answers); });
  }
  [[nodiscard]] FilterSpec spec() const override { return spec_; }
  void require_removal() const override {
    if (filter_.shards()) Impl::require_removal();  // else its server knows
  }
  [[nodiscard]] FilterStats stats(Precision) override {
    const ModuleInfo info = filter_.info();
    FilterStats stats;
    stats.over_capacity = !info.expansion && info.items > info.capacity;
    stats.kind = spec_.kind;
    stats.capacity = info.capacity;
    stats.fpr = spec_.fpr.value_or(0);
    stats.bytes = info.bytes;
    stats.inserted = info.items;
    stats.growth = info.expansion;
    stats.module_arrays = info.filters;
    if (filter_.shards()) stats.shards = {.count = *filter_.shards(), .nodes = filter_.nodes()};
    return stats;
  }
  [[nodiscard]] VerifyReport verify() override {
    return said(
        filter_.shards()
            ? fill_in("its {} shards are there, and are what its record says", *filter_.shards())
            : "the module holds it; its bits are as whole as the server's data");
  }

 private:
  FilterSpec spec_;
};

class PhpBucket final : public OnServer<RedisPhpFilter> {
 public:
  using OnServer::OnServer;
  std::size_t apply(Operation operation, AnyFilter::Keys keys, std::span<bool> answers) override {
    return run(
        operation, [&] { return filter_.insert_many(keys, answers); },
        [&] { return filter_.may_contain_many(keys, answers); }, no_removal);
  }
  [[nodiscard]] FilterSpec spec() const override { return {}; }
  [[nodiscard]] FilterStats stats(Precision) override {
    return stats_of(filter_.scheme(), filter_.stats());
  }
  [[nodiscard]] VerifyReport verify() override { return said(kPhpVerified); }
};

// ---- strings --------------------------------------------------------------------------------------

// The rotating filter that is there; null: what is there does not rotate, or nothing is there.
AnyImpl find_rotating(const RedisUrl& url, const AnyOptions& options) {
  try {
    return std::make_unique<Rotating>(url, RotatingRedisFilter::open(url));
  } catch (const Error& error) {
    if (error.code() == ErrorCode::wrong_kind && !options.rotating) return nullptr;
    throw;
  }
}

AnyImpl in_strings(const RedisUrl& url, Opening how, const FilterSpec& spec,
                   const AnyOptions& options) {
  if (how == Opening::create) {
    if (spec.kind.value_or(Kind::plain) != Kind::plain)
      refuse(ErrorCode::wrong_kind, url,
             fill_in("a filter in a Redis string is plain, not {}; name a filter of the module "
                     "with redis+module://, or a file",
                     to_string(*spec.kind)));
    if (!options.rotating)
      return std::make_unique<RedisStrings>(
          url, RedisFilter::create(url, std::get<Plan>(bloomery::plan(spec)), options.hasher(),
                                   options.replace));
    if (!spec.capacity || !spec.fpr || spec.bits || spec.hashes)
      throw PlanError(ErrorCode::invalid_argument, PlanField::capacity,
                      "two generations take {capacity}, the keys of one of them, and {fpr}, the "
                      "rate of both together, and no {bits}, {hashes} or {kind}");
    return std::make_unique<Rotating>(
        url, RotatingRedisFilter::create(url, *spec.capacity, *spec.fpr, options.hasher(),
                                         spec.layout, options.replace));
  }
  if (!url.shards)
    if (AnyImpl rotating = find_rotating(url, options)) return rotating;
  return std::make_unique<RedisStrings>(url, RedisFilter::open(url));
}

// ---- modules --------------------------------------------------------------------------------------

ModuleReserve reserve_of(const RedisUrl& url, const FilterSpec& spec, const AnyOptions& options) {
  const auto invalid = [&](PlanField field, const std::string& what) {
    throw PlanError(ErrorCode::invalid_argument, field, ": " + what, url.text());
  };
  const Kind kind = spec.kind.value_or(Kind::scalable);
  if (options.replace)
    refuse(ErrorCode::exists, url,
           url.shards
               ? "a filter of a module in shards is not replaced by an empty one; UNLINK its "
                 "record, 'name:{0}:shards', and its keys, or choose another name"
               : "a filter of the module is not replaced; UNLINK it first");
  if (options.rotating)
    invalid(PlanField::window, "a filter of the module does not rotate; {window} makes one forget");
  if (spec.bits || spec.hashes || options.hash || options.seed || options.random_seed)
    invalid(PlanField::bits,
            "the module chooses bits, hashes, hash and seed itself; give {capacity} and {fpr}");
  if (url.shards && spec.layout)
    invalid(PlanField::layout,
            "the module chooses bits, hashes, layout and seed itself; give "
            "{capacity} and {fpr}");
  if (url.shards && kind != Kind::plain && kind != Kind::scalable)
    refuse(ErrorCode::wrong_kind, url, "filters of the module in shards are plain or scalable");
  const bool lines = spec.window && spec.window->unit == WindowUnit::insertions;
  if (!spec.capacity && !lines)
    invalid(PlanField::capacity, "{capacity} is missing: how many different keys to expect");
  if (!spec.fpr) invalid(PlanField::fpr, "{fpr} is missing: the false-positive rate");
  if (spec.layout && spec.layout != Layout::blocked && spec.layout != Layout::standard)
    invalid(PlanField::layout, "the module has the layouts blocked and standard");
  ModuleReserve reserve{.kind = kind,
                        .capacity = spec.capacity ? *spec.capacity : spec.window->length,
                        .fpr = *spec.fpr,
                        .expansion = spec.growth.value_or(2),
                        .counter_bits = spec.counter_bits.value_or(4),
                        .slices = spec.slices.value_or(8)};
  if (spec.layout && (kind == Kind::plain || kind == Kind::scalable))
    reserve.layout = spec.layout == Layout::blocked ? "native" : "redisbloom";
  if (kind == Kind::window && spec.window) {
    reserve.window = spec.window->length;
    reserve.seconds = !lines;
  }
  return reserve;
}

// The reverse of reserve_of.
FilterSpec spec_of(const ModuleReserve& reserve) {
  FilterSpec spec{.kind = reserve.kind, .capacity = reserve.capacity, .fpr = reserve.fpr};
  if (!reserve.layout.empty())
    spec.layout = reserve.layout == "native" ? Layout::blocked : Layout::standard;
  if (reserve.kind == Kind::counting) spec.counter_bits = reserve.counter_bits;
  if (reserve.kind == Kind::scalable) spec.growth = reserve.expansion;
  if (reserve.kind == Kind::window) {
    spec.window =
        Window{reserve.seconds ? WindowUnit::seconds : WindowUnit::insertions, reserve.window};
    spec.slices = reserve.slices;
  }
  return spec;
}

// Of RedisBloom only what BF.INFO says: a filter grows or is plain, and the capacity of one that grows is
// what it has grown to.
FilterSpec spec_there(ModuleFilter& filter) {
  if (const auto reserved = filter.reserved()) return spec_of(*reserved);
  const ModuleInfo info = filter.info();
  if (!info.expansion) return {.kind = Kind::plain, .capacity = info.capacity};
  return {.kind = Kind::scalable, .growth = static_cast<std::uint32_t>(*info.expansion)};
}

AnyImpl of_module(const RedisUrl& url, Opening how, const FilterSpec& spec,
                  const AnyOptions& options) {
  if (options.scheme)
    refuse(ErrorCode::invalid_argument, url,
           "a scheme is about bits in plain strings; name them with redis://");
  if (how == Opening::create) {
    const ModuleReserve reserve = reserve_of(url, spec, options);
    return std::make_unique<OfModule>(url, ModuleFilter::create(url, reserve), spec_of(reserve));
  }
  // A server says neither, so a difference could not be found.
  if (options.rotating || options.hash || options.seed || options.random_seed)
    refuse(ErrorCode::invalid_argument, url,
           "the module chooses hash and seed itself, and its filters do not rotate");
  ModuleFilter filter = ModuleFilter::open(url);
  FilterSpec there = spec_there(filter);
  // A module may grant a lower rate than such a high one.
  if (spec.fpr && there.fpr && *there.fpr >= 0.25 && *spec.fpr > *there.fpr) there.fpr.reset();
  return std::make_unique<OfModule>(url, std::move(filter), there);
}

// ---- buckets of PHP classes -----------------------------------------------------------------------

// A bucket that has been rotated begins absent, as PHP's do; another one must be there, or a misspelled
// key would be a new filter.
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

// A bucket into which nothing has come since the last rotation stays as it is: a job that runs twice would
// make it forget everything, and a bucket that was evicted looks the same. Error{missing}: there never was
// one.
AnyFilter::Rotation rotate_php_bucket(const RedisUrl& url, const PhpScheme& scheme) {
  RedisPlace older = url;
  older.key = older_redis_key(url.key);
  if (!is_there(older, scheme)) (void)RedisPhpFilter::open(url, scheme);
  (void)RedisPhpFilter::create(url, scheme);
  return {.done = RedisPhpFilter::rotate(url), .older_key = older.key};
}

RedisUrl under_one_key(const RedisUrl& url) {
  if (url.module || url.shards)
    refuse(ErrorCode::wrong_kind, url,
           "the bits of a PHP class are under one key; name it with redis://");
  return url;
}

}  // namespace

// A password on a command line is seen by every user of the machine, so it may come another way.
RedisUrl redis_url(const std::string& location) {
  RedisUrl url = parse_redis_url(location);
  const char* const password = std::getenv("BLOOMERY_REDIS_PASSWORD");
  if (url.address.password.empty() && password != nullptr) url.address.password = password;
  if (!url.address.user.empty() && url.address.password.empty())
    throw Error(ErrorCode::invalid_argument,
                "the address names a user and no password; add it, as in redis://user:pass@host, "
                "or set BLOOMERY_REDIS_PASSWORD");
  return url;
}

AnyImpl redis_filter(const RedisUrl& url, Opening how, const FilterSpec& spec,
                     const AnyOptions& options) {
  return at_edge(url.text(), [&] {
    if (url.shards && (options.scheme || options.rotating))
      refuse(ErrorCode::invalid_argument, url,
             "schemes and generations are for filters under one key; name them with redis://");
    if (url.module) return of_module(url, how, spec, options);
    if (options.scheme) return php_bucket(url, how, options);
    return in_strings(url, how, spec, options);
  });
}

AnyFilter::Rotation redis_rotate(const RedisUrl& url, const AnyOptions& options) {
  if (url.shards)
    refuse(
        ErrorCode::wrong_kind, url,
        "a filter in shards does not rotate; make a new one under another name, feed both for as "
        "long as keys matter, and UNLINK the old one");
  if (url.module)
    throw PlanError(ErrorCode::wrong_kind, PlanField::window,
                    ": a filter of the module does not rotate; create one with a {window}, which "
                    "forgets by itself",
                    url.text());
  if (options.scheme) return rotate_php_bucket(url, *options.scheme);
  auto filter = RotatingRedisFilter::open(url);
  const std::uint64_t from = filter.generation();
  const bool done = filter.rotate(from);
  return {.done = done, .generation = from + 1, .older_key = older_redis_key(url.key)};
}

AnyImpl redis_rebuild(const RedisUrl& url, const Plan& plan, const Hasher& hasher) {
  if (url.module && url.shards) refuse_module_shards(url);
  if (url.module)
    refuse(ErrorCode::wrong_kind, url,
           "a filter of the module is merged by BF.MERGE on its server, and moved by bloomery "
           "convert; build a new one with create and add");
  return std::make_unique<Rebuild>(url, RedisFilterWriter::of_keys(url, plan, hasher, true));
}

PhpFilter load_php_bucket(const RedisUrl& url, const PhpScheme& scheme) {
  return RedisPhpFilter::open(under_one_key(url), scheme).load();
}

void store_php_bucket(const RedisUrl& url, const PhpFilter& filter) {
  RedisPhpFilter::store(under_one_key(url), filter);
}

}  // namespace bloomery::detail
