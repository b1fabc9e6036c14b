// RedisFilter and RedisFilterWriter as sources and sinks of bits, and as what `rebuild` fills.
#include "force.hpp"
#include "redis_places.hpp"
#include "redis_stats.hpp"

#include <fmt/format.h>
#include <bloomery/error.hpp>
#include <bloomery/redis_filter.hpp>

#include <algorithm>
#include <utility>

#include "redis/shards/shard_plan.hpp"
#include "redis/strings/ones_sample.hpp"

namespace bloomery::cli {

namespace {

class Source : public PlainSource {
 public:
  explicit Source(const RedisUrl& url) : filter_(RedisFilter::open(url)) {}
  [[nodiscard]] PlainShape shape() const override {
    return {filter_.plan(), filter_.hasher(),
            filter_.is_one_piece() ? 1 : filter_.shards().value_or(1)};
  }
  void read(std::uint64_t from, std::span<std::byte> out) override { filter_.read(from, out); }
  [[nodiscard]] double estimated_items() override { return filter_.stats().estimated_items; }

 private:
  RedisFilter filter_;
};

class Sink : public PlainSink {
 public:
  Sink(const RedisUrl& url, const PlainShape& shape, bool force)
      : name_(url.text()), force_(force), writer_(naming_force(name_, force, [&] {
          return RedisFilterWriter::of_bits(url, shape.plan, shape.hasher, force);
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
  RedisFilterWriter writer_;
};

class Rebuild : public RedisRebuild {
 public:
  explicit Rebuild(RedisFilterWriter writer) : writer_(std::move(writer)) {}
  [[nodiscard]] const Hasher& hasher() const noexcept override { return writer_.hasher(); }
  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override {
    fresh += writer_.insert_hashes(hashes);
    std::ranges::fill(answers, false);  // no line is printed
  }
  void settle(const std::function<void()>&) override { writer_.keep_alive(); }
  [[nodiscard]] FilterState state() override {
    return state_of(writer_.plan(), writer_.hasher(), writer_.stats());
  }
  void publish() override { writer_.publish(); }

 private:
  RedisFilterWriter writer_;
};

// The bits of a module's filter are not given out as they are.
RedisUrl strings_at(const std::string& name) {
  RedisUrl url = redis_place(name);
  if (url.module && url.shards) refuse_module_shards(url);
  if (url.module)
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: a filter of the module is merged by BF.MERGE on its server, and "
                            "moved by bloomery convert; build a new one with create and add",
                            url.text()));
  return url;
}

}  // namespace

FilterState state_in(const PlainShape& shape, double fill) {
  return state_of(shape.plan, shape.hasher, detail::stats_of(shape.plan, {.ones = fill}));
}

std::unique_ptr<PlainSource> redis_source(const std::string& name) {
  return std::make_unique<Source>(strings_at(name));
}

std::unique_ptr<PlainSink> redis_sink(const std::string& name, const PlainShape& shape,
                                      bool force) {
  RedisUrl url = strings_at(name);
  if (!url.shards) {
    require_one_part(url.text(), shape);
  } else if (!detail::one_block_per_key(shape.plan.layout)) {
    if (*url.shards == 0) url.shards = shape.parts;
    require_same_shape(shape, {shape.plan, shape.hasher, *url.shards});
  }
  return std::make_unique<Sink>(url, shape, force);
}

std::unique_ptr<RedisRebuild> redis_rebuild(const std::string& name, const Plan& plan,
                                            const Hasher& hasher) {
  return std::make_unique<Rebuild>(
      RedisFilterWriter::of_keys(strings_at(name), plan, hasher, true));
}

}  // namespace bloomery::cli
