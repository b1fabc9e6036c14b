// ShardedRedisFilter and ShardedModuleFilter behind the flags of the tool.
#include "redis_shards.hpp"

#include "force.hpp"
#include "kinds.hpp"
#include "redis_fill.hpp"
#include "redis_plain.hpp"
#include "seen.hpp"
#include "seen_file.hpp"
#include "text.hpp"

#include <bloomery/sharded_module_filter.hpp>
#include <bloomery/sharded_redis_filter.hpp>
#include <bloomery/sharded_redis_writer.hpp>

#include <fmt/format.h>

#include <vector>

namespace bloomery::cli {

namespace {

std::string spread(std::size_t shards, std::size_t nodes) {
  return fmt::format("{} on {} {}", group_digits(shards), group_digits(nodes),
                     nodes == 1 ? "server" : "nodes");
}

class StringShards : public KeyFilterOver<ShardedRedisFilter> {
 public:
  using KeyFilterOver::KeyFilterOver;

  [[nodiscard]] std::string made() const override {
    return fmt::format("{}, in {} shards",
                       plan_text(state_of(filter_.plan(), filter_.hasher(), {})),
                       filter_.keys().size());
  }
  [[nodiscard]] Standing standing(const std::string& mend) override {
    Standing standing = standing_of(filter_.plan(), filter_.hasher(), filter_.watch(), mend);
    standing.json["shards"] = filter_.keys().size();
    standing.json["nodes"] = filter_.nodes();
    return standing;
  }
  [[nodiscard]] std::string verified() override {
    return fmt::format(
        "the headers and lengths of its {} shards are right; the bits in a Redis string carry no "
        "checksums",
        filter_.keys().size());
  }
  [[nodiscard]] Rows rows() override {
    return plain_rows({{"filter", name_},
                       {"kind", "plain, in shards of Redis strings"},
                       {"shards", spread(filter_.keys().size(), filter_.nodes())}},
                      filter_.plan(), filter_.hasher(), filter_.watch());
  }
};

class ModuleShards : public KeyFilterOver<ShardedModuleFilter> {
 public:
  using KeyFilterOver::KeyFilterOver;

  [[nodiscard]] std::string made() const override {
    const ModulePlan& plan = filter_.plan();
    return fmt::format("{} filters of the module, for {} keys at {}", filter_.keys().size(),
                       group_digits(plan.capacity), fpr_text(plan.fpr));
  }
  [[nodiscard]] Standing standing(const std::string& mend) override {
    const ModulePlan& plan = filter_.plan();
    const std::uint64_t items = filter_.items();
    const bool full = plan.expansion == 0 && items > plan.capacity;
    Standing standing;
    standing.json = {{"kind", "module"},        {"capacity", plan.capacity},
                     {"items", items},          {"fpr", plan.fpr},
                     {"over_capacity", full},   {"shards", filter_.keys().size()},
                     {"nodes", filter_.nodes()}};
    standing.line =
        fmt::format("filter: of a module, in {} shards, {} of {} keys", filter_.keys().size(),
                    group_digits(items), group_digits(plan.capacity));
    if (full)
      standing.warning = fmt::format("warning: {} keys were new to a filter for {}; {}",
                                     group_digits(items), group_digits(plan.capacity), mend);
    return standing;
  }
  [[nodiscard]] std::string verified() override {
    return fmt::format("its {} shards are there, and are what its record says",
                       filter_.keys().size());
  }
  [[nodiscard]] Rows rows() override {
    const ModulePlan& plan = filter_.plan();
    return {
        {"filter", name_},
        {"kind", "of a Redis module, in shards"},
        {"shards", spread(filter_.keys().size(), filter_.nodes())},
        {"made for", fmt::format("{} keys at {}", group_digits(plan.capacity), fpr_text(plan.fpr))},
        {"inserted", group_digits(filter_.items())},
        {"grows by", plan.expansion != 0 ? std::to_string(plan.expansion) : std::string("nothing")},
    };
  }
};

[[noreturn]] void refuse(ErrorCode code, const RedisUrl& url, std::string_view what) {
  throw Error(code, fmt::format("{}: {}", url.text(), what));
}

std::unique_ptr<KeyFilter> create(const Options& options, const RedisUrl& url) {
  if (url.holds == RedisUrl::Holds::string) {
    if (options.kind && *options.kind != Kind::plain)
      refuse(ErrorCode::wrong_kind, url, "a filter in Redis strings is plain");
    const auto plan = std::get<Plan>(options.verb == Verb::dedup ? dedup_plan(options)
                                                                 : bloomery::plan(options.spec()));
    const auto make = [&] {
      if (!options.force)
        return ShardedRedisFilter::create(url.address, url.key, plan, url.shards, options.hasher());
      ShardedRedisWriter::of_keys(url.address, url.key, plan, options.hasher(),
                                  {.shards = url.shards, .replace = true})
          .publish();
      return ShardedRedisFilter::open(url.address, url.key);
    };
    return std::make_unique<StringShards>(url.text(),
                                          naming_force(url.text(), options.force, make));
  }
  if (options.force)
    refuse(ErrorCode::exists, url,
           "a filter of a module in shards is not replaced by an empty one; UNLINK its record, "
           "'name:{0}:shards', and its keys, or choose another name");
  if (options.bits || options.hashes || options.hash || options.seed || options.random_seed ||
      options.layout)
    refuse(ErrorCode::invalid_argument, url,
           "the module chooses bits, hashes, layout and seed itself; give -n and -p");
  const Kind kind = options.kind.value_or(Kind::scalable);
  if (kind != Kind::plain && kind != Kind::scalable)
    refuse(ErrorCode::wrong_kind, url, "filters of the module in shards are plain or scalable");
  if (!options.items) refuse(ErrorCode::invalid_argument, url, "-n is missing: how many keys");
  if (!options.fpr && options.verb != Verb::dedup)
    refuse(ErrorCode::invalid_argument, url, "-p is missing: the false-positive rate");
  const ModulePlan plan{.capacity = *options.items,
                        .fpr = options.fpr.value_or(kDedupFpr),
                        .expansion = kind == Kind::plain ? 0 : options.growth.value_or(2)};
  return std::make_unique<ModuleShards>(
      url.text(), ShardedModuleFilter::create(url.address, url.key, plan, url.shards));
}

std::unique_ptr<KeyFilter> open(const Options& options, const RedisUrl& url, bool asked) {
  if (url.holds == RedisUrl::Holds::module) {
    auto filter = ShardedModuleFilter::open(url.address, url.key);
    check_shards(url, filter.keys().size());
    const ModulePlan& plan = filter.plan();
    if (asked && ((options.items && *options.items != plan.capacity) ||
                  (options.fpr && *options.fpr != plan.fpr)))
      refuse(ErrorCode::mismatch, url,
             fmt::format("it was made for {} keys at {}; leave -n and -p out, or choose another "
                         "name",
                         group_digits(plan.capacity), fpr_text(plan.fpr)));
    return std::make_unique<ModuleShards>(url.text(), std::move(filter));
  }
  auto filter = ShardedRedisFilter::open(url.address, url.key);
  check_shards(url, filter.keys().size());
  const Plan& plan = filter.plan();
  if (asked)
    check_asked(options, url.text(), {plan.capacity, plan.fpr, plan.layout}, filter.hasher());
  return std::make_unique<StringShards>(url.text(), std::move(filter));
}

}  // namespace

void merge_module_shards(const RedisUrl& out, std::span<const RedisUrl> sources, bool force) {
  std::vector<ShardedModuleFilter> filters;
  std::vector<ShardedModuleFilter*> each;
  filters.reserve(sources.size());
  for (const RedisUrl& source : sources) {
    filters.push_back(ShardedModuleFilter::open(source.address, source.key));
    check_shards(source, filters.back().keys().size());
  }
  if (out.shards != 0 && out.shards != filters.front().keys().size())
    refuse(ErrorCode::wrong_kind, out,
           fmt::format("a module's filter keeps its {} shards, for a key's place in them follows "
                       "from their number; create one of {} and add the keys",
                       filters.front().keys().size(), out.shards));
  each.reserve(filters.size());
  for (ShardedModuleFilter& filter : filters) each.push_back(&filter);
  naming_force(out.text(), force,
               [&] { ShardedModuleFilter::store(out.address, out.key, each, force); });
}

std::unique_ptr<KeyFilter> redis_shards_filter(const Options& options, const RedisUrl& url,
                                               Mode mode) {
  if (options.scheme || options.rotating)
    refuse(ErrorCode::invalid_argument, url,
           "--scheme and --rotating are about filters under one key; name them with redis://");
  if (mode == Mode::create) return create(options, url);
  if (mode != Mode::open_or_create) return open(options, url, false);
  try {
    return open(options, url, true);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::missing) throw;
    if (!options.items)
      refuse(ErrorCode::invalid_argument, url, "does not exist; -n N (and -p P) would create it");
  }
  try {
    return create(options, url);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::exists) throw;
    return open(options, url, true);  // another run has made it meanwhile
  }
}

}  // namespace bloomery::cli
