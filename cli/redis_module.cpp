// ModuleFilter behind the flags of the tool.
#include "redis_filters.hpp"
#include "redis_stats.hpp"
#include "seen.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <bloomery/module_filter.hpp>

namespace bloomery::cli {

namespace {

class RedisModule : public KeyFilterOver<ModuleFilter> {
 public:
  RedisModule(std::string name, ModuleFilter filter, std::string made = {})
      : KeyFilterOver(std::move(name), std::move(filter)), made_(std::move(made)) {}

  std::size_t remove(Keys keys, std::span<bool> removed) override {
    if (filter_.shards()) return KeyFilter::remove(keys, removed);
    return filter_.remove_many(keys, removed);
  }
  [[nodiscard]] std::string made() const override { return made_; }
  [[nodiscard]] Standing standing(const std::string& advice) override {
    const ModuleInfo info = filter_.info();
    const bool full = !info.expansion && info.items > info.capacity;
    Standing standing;
    standing.json = {{"kind", "module"}, {"capacity", info.capacity}};
    if (filter_.shards()) {
      standing.json.update(Json{{"items", info.items},
                                {"fpr", info.fpr},
                                {"over_capacity", full},
                                {"shards", *filter_.shards()},
                                {"nodes", filter_.nodes()}});
    } else {
      standing.json.update(Json{{"bytes", info.bytes},
                                {"filters", info.filters},
                                {"items", info.items},
                                {"expansion", nullptr},
                                {"over_capacity", full}});
      if (info.expansion) standing.json["expansion"] = *info.expansion;
    }
    standing.line = fmt::format("filter: of a module, {}, {} of {} keys",
                                filter_.shards() ? fmt::format("in {} shards", *filter_.shards())
                                                 : bytes_text(static_cast<double>(info.bytes)),
                                group_digits(info.items), group_digits(info.capacity));
    if (full)
      standing.warning =
          fmt::format("warning: {} keys were new to a filter for {}; {}{}",
                      group_digits(info.items), group_digits(info.capacity),
                      filter_.shards() ? "" : "if they are all still in it, ", advice);
    return standing;
  }
  [[nodiscard]] std::string verified() override {
    if (!filter_.shards()) return "the module holds it; its bits are as whole as the server's data";
    return fmt::format("its {} shards are there, and are what its record says", *filter_.shards());
  }
  [[nodiscard]] Rows rows() override {
    const ModuleInfo info = filter_.info();
    const std::string grows_by =
        info.expansion ? group_digits(*info.expansion) : std::string("nothing");
    if (filter_.shards())
      return {
          {"filter", name_},
          {"kind", "of a Redis module, in shards"},
          {"shards", shards_text(*filter_.shards(), filter_.nodes())},
          {"made for",
           fmt::format("{} keys at {}", group_digits(info.capacity), fpr_text(info.fpr))},
          {"inserted", group_digits(info.items)},
          {"grows by", grows_by},
      };
    return {
        {"filter", name_},
        {"kind", "of a Redis module"},
        {"bytes", bytes_text(static_cast<double>(info.bytes))},
        {"room for", fmt::format("{} keys", group_digits(info.capacity))},
        {"inserted", group_digits(info.items)},
        {"filters", group_digits(info.filters)},
        {"grows by", grows_by},
    };
  }

 private:
  std::string made_;
};

[[noreturn]] void refuse(ErrorCode code, const RedisUrl& url, std::string_view what) {
  throw Error(code, fmt::format("{}: {}", url.text(), what));
}

ModuleReserve reserve_of(const Options& options, const RedisUrl& url) {
  const auto invalid = [&](std::string_view what) {
    refuse(ErrorCode::invalid_argument, url, what);
  };
  const Kind kind = options.kind.value_or(Kind::scalable);
  if (url.shards && options.force)
    refuse(ErrorCode::exists, url,
           "a filter of a module in shards is not replaced by an empty one; UNLINK its record, "
           "'name:{0}:shards', and its keys, or choose another name");
  if (options.force) invalid("a filter of the module is not replaced; UNLINK it first");
  if (options.rotating)
    invalid("a filter of the module does not rotate; --window makes one forget");
  if (url.shards && options.layout)
    invalid("the module chooses bits, hashes, layout and seed itself; give -n and -p");
  if (options.bits || options.hashes || options.hash || options.seed || options.random_seed)
    invalid("the module chooses bits, hashes, hash and seed itself; give -n and -p");
  if (url.shards && kind != Kind::plain && kind != Kind::scalable)
    refuse(ErrorCode::wrong_kind, url, "filters of the module in shards are plain or scalable");
  const bool lines = options.window && options.window->unit == WindowUnit::insertions;
  if (!options.items && !lines) invalid("-n is missing: how many different lines to expect");
  if (!options.fpr && options.verb != Verb::dedup)
    invalid("-p is missing: the false-positive rate");
  if (options.layout == Layout::blocked2)
    invalid("the module has the layouts blocked and standard");
  ModuleReserve reserve{.kind = kind,
                        .capacity = options.items ? *options.items : options.window->length,
                        .fpr = options.fpr.value_or(kDedupFpr),
                        .expansion = options.growth.value_or(2),
                        .counter_bits = options.counter_bits.value_or(4),
                        .slices = options.slices.value_or(8)};
  if (options.layout && (kind == Kind::plain || kind == Kind::scalable))
    reserve.layout = options.layout == Layout::blocked ? "native" : "redisbloom";
  if (kind == Kind::window) {
    reserve.window = options.window->length;
    reserve.seconds = !lines;
  }
  return reserve;
}

std::unique_ptr<KeyFilter> create(const Options& options, const RedisUrl& url) {
  const ModuleReserve reserve = reserve_of(options, url);
  ModuleFilter filter = ModuleFilter::create(url, reserve);
  const std::string what = filter.shards()
                               ? fmt::format("{} filters of the module", *filter.shards())
                               : fmt::format("a {} filter of the module", to_string(reserve.kind));
  return std::make_unique<RedisModule>(
      url.text(), std::move(filter),
      fmt::format("{}, for {} keys at {}", what, group_digits(reserve.capacity),
                  fpr_text(reserve.fpr)));
}

std::unique_ptr<KeyFilter> open(const Options& options, const RedisUrl& url, bool asked) {
  ModuleFilter filter = ModuleFilter::open(url);
  if (asked && filter.shards()) {
    const ModuleInfo info = filter.info();
    if ((options.items && *options.items != info.capacity) ||
        (options.fpr && *options.fpr != info.fpr))
      refuse(ErrorCode::mismatch, url,
             fmt::format("it was made for {} keys at {}; leave -n and -p out, or choose another "
                         "name",
                         group_digits(info.capacity), fpr_text(info.fpr)));
  }
  return std::make_unique<RedisModule>(url.text(), std::move(filter));
}

}  // namespace

std::unique_ptr<KeyFilter> redis_module_filter(const Options& options, const RedisUrl& url,
                                               Mode mode) {
  if (options.scheme)
    throw Error(ErrorCode::invalid_argument,
                "--scheme is about bits in plain strings; name them with redis://");
  return filter_in_mode(
      options, url, mode, [&](bool asked) { return open(options, url, asked); },
      [&] { return create(options, url); });
}

}  // namespace bloomery::cli
