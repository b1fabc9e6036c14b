// A ModuleFilter behind the flags of the tool.
#include "redis_module.hpp"

#include "seen.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <bloomery/module_filter.hpp>

namespace bloomery::cli {

namespace {

class RedisModule : public KeyFilterOver<ModuleFilter> {
 public:
  using KeyFilterOver::KeyFilterOver;

  std::size_t remove(Keys keys, std::span<bool> removed) override {
    return filter_.remove_many(keys, removed);
  }
  [[nodiscard]] std::string made() const override { return made_; }
  void set_made(std::string text) { made_ = std::move(text); }
  [[nodiscard]] Standing standing(const std::string& mend) override {
    const ModuleInfo info = filter_.info();
    Standing standing;
    const bool full = !info.expansion && info.items > info.capacity;
    standing.json = {{"kind", "module"},        {"capacity", info.capacity}, {"bytes", info.bytes},
                     {"filters", info.filters}, {"items", info.items},       {"expansion", nullptr},
                     {"over_capacity", full}};
    if (info.expansion) standing.json["expansion"] = *info.expansion;
    standing.line = fmt::format("filter: of a module, {}, {} of {} keys",
                                bytes_text(static_cast<double>(info.bytes)),
                                group_digits(info.items), group_digits(info.capacity));
    if (full)
      standing.warning = fmt::format(
          "warning: {} keys were new to a filter for {}; if they are all "
          "still in it, {}",
          group_digits(info.items), group_digits(info.capacity), mend);
    return standing;
  }
  [[nodiscard]] std::string verified() override {
    return "the module holds it; its bits are as whole as the server's data";
  }
  [[nodiscard]] Rows rows() override {
    const ModuleInfo info = filter_.info();
    return {
        {"filter", name_},
        {"kind", "of a Redis module"},
        {"bytes", bytes_text(static_cast<double>(info.bytes))},
        {"room for", fmt::format("{} keys", group_digits(info.capacity))},
        {"inserted", group_digits(info.items)},
        {"filters", group_digits(info.filters)},
        {"grows by", info.expansion ? group_digits(*info.expansion) : std::string("nothing")},
    };
  }

 private:
  std::string made_;
};

ModuleReserve reserve_of(const Options& options, const std::string& name) {
  const auto refuse = [&](std::string_view what) {
    throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", name, what));
  };
  if (options.bits || options.hashes || options.hash || options.seed || options.random_seed)
    refuse("the module chooses bits, hashes, hash and seed itself; give -n and -p");
  if (options.force) refuse("a filter of the module is not replaced; UNLINK it first");
  if (options.rotating) refuse("a filter of the module does not rotate; --window makes one forget");
  ModuleReserve reserve;
  const bool lines = options.window && options.window->unit == WindowUnit::insertions;
  if (!options.items && !lines) refuse("-n is missing: how many different lines to expect");
  reserve.capacity = options.items ? *options.items : options.window->length;
  if (!options.fpr && options.verb != Verb::dedup) refuse("-p is missing: the false-positive rate");
  reserve.fpr = options.fpr.value_or(kDedupFpr);
  if (options.layout == Layout::blocked2) refuse("the module has the layouts blocked and standard");
  if (options.layout) reserve.layout = options.layout == Layout::blocked ? "native" : "redisbloom";
  switch (options.kind.value_or(Kind::scalable)) {
    case Kind::plain:
      reserve.expansion = 0;
      break;
    case Kind::scalable:
      reserve.expansion = options.growth.value_or(2);
      break;
    case Kind::counting:
      reserve.kind = ModuleReserve::Kind::counting;
      reserve.counter_bits = options.counter_bits.value_or(4);
      break;
    case Kind::window:
      reserve.kind = ModuleReserve::Kind::window;
      reserve.window = options.window->length;
      reserve.seconds = !lines;
      reserve.slices = options.slices.value_or(8);
      break;
  }
  return reserve;
}

std::unique_ptr<RedisModule> created(const Options& options, const RedisUrl& url) {
  const ModuleReserve reserve = reserve_of(options, url.text());
  auto filter = std::make_unique<RedisModule>(url.text(),
                                              ModuleFilter::create(url.address, url.key, reserve));
  filter->set_made(fmt::format("a {} filter of the module, for {} keys at {}",
                               to_string(options.kind.value_or(Kind::scalable)),
                               group_digits(reserve.capacity), fpr_text(reserve.fpr)));
  return filter;
}

}  // namespace

std::unique_ptr<KeyFilter> redis_module_filter(const Options& options, const RedisUrl& url,
                                               Mode mode) {
  if (options.scheme)
    throw Error(ErrorCode::invalid_argument,
                "--scheme is about bits in plain strings; name them with redis://");
  if (mode == Mode::create) return created(options, url);
  try {
    return std::make_unique<RedisModule>(url.text(), ModuleFilter::open(url.address, url.key));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::missing || mode != Mode::open_or_create || !options.items) throw;
  }
  return created(options, url);
}

}  // namespace bloomery::cli
