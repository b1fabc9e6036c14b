// The library's filters and writers in Redis strings as sources and sinks.
#include "redis_plain.hpp"

#include "force.hpp"
#include "redis_fill.hpp"

#include <fmt/format.h>
#include <bloomery/error.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/sharded_redis_filter.hpp>
#include <bloomery/sharded_redis_writer.hpp>

#include <algorithm>
#include <utility>

#include "redis/fill.hpp"
#include "redis/shard_plan.hpp"

namespace bloomery::cli {

namespace {

template <class Filter>
class Source : public PlainSource {
 public:
  Source(Filter filter, std::uint32_t parts) : filter_(std::move(filter)), parts_(parts) {}
  [[nodiscard]] PlainShape shape() const override {
    return {filter_.plan(), filter_.hasher(), parts_};
  }
  void read(std::uint64_t from, std::span<std::byte> out) override { filter_.read(from, out); }
  [[nodiscard]] double estimated_items() override { return filter_.watch().estimated_items; }

 private:
  Filter filter_;
  std::uint32_t parts_;
};

class StringSink : public PlainSink {
 public:
  StringSink(const RedisUrl& url, const PlainShape& shape, bool force)
      : name_(url.text()), force_(force), writer_(url.address, url.key, shape.plan, shape.hasher) {}
  void write(std::uint64_t at, std::span<const std::byte> bytes) override {
    writer_.write(at, bytes);
  }
  void publish() override {
    naming_force(name_, force_, [&] { writer_.publish(force_); });
  }

 private:
  std::string name_;
  bool force_;
  RedisFilterWriter writer_;
};

class ShardsSink : public PlainSink {
 public:
  ShardsSink(const RedisUrl& url, const PlainShape& shape, std::uint32_t shards, bool force)
      : name_(url.text()), force_(force), writer_(naming_force(name_, force, [&] {
          return ShardedRedisWriter::of_bits(url.address, url.key, shape.plan, shape.hasher,
                                             {.shards = shards, .replace = force});
        })) {}
  void write(std::uint64_t at, std::span<const std::byte> bytes) override {
    writer_.write(at, bytes);
  }
  void publish() override {
    naming_force(name_, force_, [&] { writer_.publish(); });
  }

 private:
  std::string name_;
  bool force_;
  ShardedRedisWriter writer_;
};

void no_line(std::span<bool> answers) { std::fill(answers.begin(), answers.end(), false); }

class StringRebuild : public RedisRebuild {
 public:
  StringRebuild(const RedisUrl& url, const Plan& plan, const Hasher& hasher)
      : url_(url), filter_(plan, hasher) {}
  [[nodiscard]] const Hasher& hasher() const noexcept override { return filter_.hasher(); }
  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override {
    fresh += filter_.insert_hashes(hashes);
    no_line(answers);
  }
  [[nodiscard]] FilterState state() override { return FilterState(filter_); }
  void publish() override { RedisFilter::store(url_.address, url_.key, filter_, true); }

 private:
  RedisUrl url_;
  Filter filter_;
};

class ShardsRebuild : public RedisRebuild {
 public:
  explicit ShardsRebuild(ShardedRedisWriter writer) : writer_(std::move(writer)) {}
  [[nodiscard]] const Hasher& hasher() const noexcept override { return writer_.hasher(); }
  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override {
    fresh += writer_.insert_hashes(hashes);
    no_line(answers);
  }
  void settle(const std::function<void()>&) override { writer_.keep_alive(); }
  [[nodiscard]] FilterState state() override {
    return state_of(writer_.plan(), writer_.hasher(), writer_.watch());
  }
  void publish() override { writer_.publish(); }

 private:
  ShardedRedisWriter writer_;
};

ShardedRedisFilter open_shards(const RedisUrl& url) {
  auto filter = ShardedRedisFilter::open(url.address, url.key);
  check_shards(url, filter.keys().size());
  return filter;
}

}  // namespace

FilterState state_in(const PlainShape& shape, double fill) {
  return state_of(shape.plan, shape.hasher, detail::fill_of(shape.plan, {.ones = fill}));
}

std::unique_ptr<PlainSource> string_source(const RedisUrl& url) {
  return std::make_unique<Source<RedisFilter>>(RedisFilter::open(url.address, url.key), 1);
}

std::unique_ptr<PlainSource> shards_source(const RedisUrl& url) {
  ShardedRedisFilter filter = open_shards(url);
  const auto shards = static_cast<std::uint32_t>(filter.keys().size());
  const std::uint32_t parts = detail::one_block_per_key(filter.plan().layout) ? 1 : shards;
  return std::make_unique<Source<ShardedRedisFilter>>(std::move(filter), parts);
}

std::unique_ptr<PlainSink> string_sink(const RedisUrl& url, const PlainShape& shape, bool force) {
  require_one_part(url.text(), shape);
  return std::make_unique<StringSink>(url, shape, force);
}

std::unique_ptr<PlainSink> shards_sink(const RedisUrl& url, const PlainShape& shape, bool force) {
  std::uint32_t shards = url.shards;
  if (!detail::one_block_per_key(shape.plan.layout)) {
    if (shards == 0) shards = shape.parts;
    require_same_shape(shape, {shape.plan, shape.hasher, shards});
  }
  return std::make_unique<ShardsSink>(url, shape, shards, force);
}

std::unique_ptr<RedisRebuild> string_rebuild(const RedisUrl& url, const Plan& plan,
                                             const Hasher& hasher) {
  return std::make_unique<StringRebuild>(url, plan, hasher);
}

std::unique_ptr<RedisRebuild> shards_rebuild(const RedisUrl& url, const Plan& plan,
                                             const Hasher& hasher) {
  return std::make_unique<ShardsRebuild>(ShardedRedisWriter::of_keys(
      url.address, url.key, plan, hasher, {.shards = url.shards, .replace = true}));
}

void check_shards(const RedisUrl& url, std::size_t shards) {
  if (url.shards != 0 && url.shards != shards)
    throw Error(ErrorCode::mismatch,
                fmt::format("{}: it has {} shards; leave &shards out, or choose another name",
                            url.text(), shards));
}

}  // namespace bloomery::cli
