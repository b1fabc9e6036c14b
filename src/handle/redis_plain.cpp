// RedisFilter and RedisFilterWriter as sources and sinks of bits; and shards of modules, which can only be copied as
// a whole.
#include <bloomery/error.hpp>
#include <bloomery/module_filter.hpp>
#include <bloomery/redis_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <vector>

#include "handle/on_server.hpp"
#include "handle/plain_bits.hpp"
#include "redis/shards/shard_plan.hpp"

namespace bloomery::detail {

namespace {

bool rotates(const RedisUrl& url) {
  try {
    (void)RotatingRedisFilter::open(url);
    return true;
  } catch (const Error&) {
    return false;
  }
}

RedisFilter one_generation(const RedisUrl& url) {
  try {
    return RedisFilter::open(url);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::wrong_kind || !rotates(url)) throw;
    refuse(ErrorCode::wrong_kind, url,
           "a filter that rotates is not converted or merged, because it has two generations; "
           "create another one that rotates, and add the keys to it");
  }
}

class Source final : public PlainSource {
 public:
  explicit Source(const RedisUrl& url) : filter_(one_generation(url)) {}
  [[nodiscard]] PlainParameters parameters() const override {
    return {filter_.plan(), filter_.hasher(),
            filter_.is_one_piece() ? 1 : filter_.shards().value_or(1)};
  }
  void read(std::uint64_t from, std::span<std::byte> out) override { filter_.read(from, out); }
  [[nodiscard]] double estimated_items() override { return filter_.stats().estimated_items; }

 private:
  RedisFilter filter_;
};

class Sink final : public PlainSink {
 public:
  Sink(const RedisUrl& url, const PlainParameters& parameters, bool replace)
      : writer_(RedisFilterWriter::of_bits(url, parameters.plan, parameters.hasher, replace)) {}
  void write(std::uint64_t at, std::span<const std::byte> bytes) override {
    writer_.write(at, bytes);
  }
  void publish() override { writer_.publish(); }

 private:
  RedisFilterWriter writer_;
};

}  // namespace

void require_strings(const RedisUrl& url) {
  if (url.module && url.shards) refuse_module_shards(url);
  if (url.module)
    refuse(ErrorCode::wrong_kind, url,
           "a filter of the module is merged by BF.MERGE on its server, and moved by bloomery "
           "convert; build a new one with create and add");
}

std::unique_ptr<PlainSource> redis_source(const RedisUrl& url) {
  require_strings(url);
  return std::make_unique<Source>(url);
}

std::unique_ptr<PlainSink> redis_sink(const RedisUrl& at, const PlainParameters& parameters,
                                      bool replace) {
  require_strings(at);
  RedisUrl url = at;
  if (!url.shards) {
    require_one_part(url.text(), parameters);
  } else if (!one_block_per_key(parameters.plan.layout)) {
    if (*url.shards == 0) url.shards = parameters.parts;
    require_same_parameters(parameters, {parameters.plan, parameters.hasher, *url.shards});
  }
  return std::make_unique<Sink>(url, parameters, replace);
}

void refuse_module_shards(const RedisUrl& url) {
  refuse(ErrorCode::wrong_kind, url,
         "the shards of a module have a hash each, so they are copied and merged only into as many "
         "shards of a module; build a new filter with create and add");
}

void merge_module_shards(const RedisUrl& out, std::span<const RedisUrl> sources, bool replace) {
  std::vector<ModuleFilter> filters;
  std::vector<ModuleFilter*> each;
  filters.reserve(sources.size());
  each.reserve(sources.size());
  for (const RedisUrl& source : sources) filters.push_back(ModuleFilter::open(source));
  for (ModuleFilter& filter : filters) each.push_back(&filter);
  ModuleFilter::store(out, each, replace);
}

}  // namespace bloomery::detail
