// A RedisFilter behind the flags of the tool.
#include "redis_string.hpp"

#include "force.hpp"
#include "kinds.hpp"
#include "seen.hpp"
#include "seen_file.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <bloomery/rotating_redis_filter.hpp>

#include <optional>

namespace bloomery::cli {

namespace {

class RedisString : public KeyFilter {
 public:
  RedisString(std::string name, RedisFilter filter)
      : name_(std::move(name)), filter_(std::move(filter)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  std::size_t insert(Keys keys, std::span<bool> fresh) override {
    return filter_.insert_many(keys, fresh);
  }
  std::size_t may_contain(Keys keys, std::span<bool> found) override {
    return filter_.may_contain_many(keys, found);
  }
  [[nodiscard]] std::size_t acknowledged() const noexcept override {
    return filter_.acknowledged();
  }

  [[nodiscard]] std::string made() const override { return plan_text(state_of({})); }
  [[nodiscard]] Standing standing(const std::string& mend) override {
    const RedisFill fill = filter_.watch();
    const FilterState state = state_of(fill);
    Standing standing = standing_of(state, mend);
    add_fill(standing.json, fill);
    if (fill.sampled) standing.line += " (estimated from a sample)";
    if (fill.overfull && !state.overfull)
      standing.warning = fmt::format(
          "warning: {} of the bits are ones, more than half: the false-positive rate is now {}; {}",
          share_text(fill.ones), rate_text(fill.rate_now), mend);
    return standing;
  }

  [[nodiscard]] std::string verified() override {
    return "its header and its length are right; the bits in a Redis string carry no checksums";
  }
  [[nodiscard]] Rows rows() override {
    const Plan& plan = filter_.plan();
    const RedisFill fill = filter_.watch();
    const FilterState state = state_of(fill);
    return {
        {"filter", name_},
        {"kind", "plain, in a Redis string"},
        {"layout", fmt::format("{}, {} hashes", to_string(plan.layout), plan.hashes)},
        {"bits", fmt::format("{} ({})", group_digits(plan.bits),
                             bytes_text(static_cast<double>(plan.bytes())))},
        {"made for",
         fmt::format("{} keys at {}", group_digits(plan.capacity), rate_text(plan.rate))},
        {"hash", hash_text(filter_.hasher())},
        {"estimated items", group_digits(state.estimated_items)},
        {"fill", fill_text(fill)},
        {"rate now", rate_text(state.rate_now)},
        {"room left", group_digits(state.room_left())},
    };
  }

 private:
  [[nodiscard]] FilterState state_of(const RedisFill& fill) const {
    const auto capacity = static_cast<double>(filter_.plan().capacity);
    return {filter_.plan(), filter_.hasher().family(),
            fill.ones,      fill.estimated_items,
            fill.rate_now,  fill.overfull && fill.estimated_items > capacity};
  }

  std::string name_;
  RedisFilter filter_;
};

// Two generations, as one filter for both.
class RotatingString : public KeyFilter {
 public:
  RotatingString(std::string name, RotatingRedisFilter filter)
      : name_(std::move(name)), filter_(std::move(filter)) {}

  [[nodiscard]] std::string name() const override { return name_; }
  std::size_t insert(Keys keys, std::span<bool> fresh) override {
    return filter_.insert_many(keys, fresh);
  }
  std::size_t may_contain(Keys keys, std::span<bool> found) override {
    return filter_.may_contain_many(keys, found);
  }
  [[nodiscard]] std::size_t acknowledged() const noexcept override {
    return filter_.acknowledged();
  }
  [[nodiscard]] std::string made() const override {
    return "two generations of " + plan_text(state_of({}));
  }
  [[nodiscard]] Standing standing(const std::string&) override {
    const RotatingRedisFilter::Fill fill = filter_.watch();
    const FilterState state = state_of(fill.newer);
    Standing standing = standing_of(state, "rotate it, or create a larger one");
    add_fill(standing.json, fill.newer);
    standing.json["generation"] = filter_.generation();
    standing.json["rate"] = filter_.rate();
    standing.json["rate_now"] = fill.rate_now;
    standing.json["older"] =
        Json{{"estimated_items", fill.older.estimated_items}, {"rate_now", fill.older.rate_now}};
    add_fill(standing.json["older"], fill.older);
    standing.line = fmt::format("{} (of the newer of two generations; of both {})", standing.line,
                                rate_text(fill.rate_now));
    return standing;
  }
  [[nodiscard]] std::string verified() override {
    filter_.verify();
    return "the headers and lengths of both generations are right; the bits in a Redis string "
           "carry no checksums";
  }
  [[nodiscard]] Rows rows() override {
    const Plan& plan = filter_.plan();
    const RotatingRedisFilter::Fill fill = filter_.watch();
    return {
        {"filter", name_},
        {"kind", "rotating, in two Redis strings"},
        {"layout", fmt::format("{}, {} hashes", to_string(plan.layout), plan.hashes)},
        {"bits", fmt::format("2 x {} ({})", group_digits(plan.bits),
                             bytes_text(static_cast<double>(plan.bytes()) * 2))},
        {"made for", fmt::format("{} keys a generation at {}", group_digits(plan.capacity),
                                 rate_text(filter_.rate()))},
        {"hash", hash_text(filter_.hasher())},
        {"generation", group_digits(filter_.generation())},
        {"newer", generation_text(fill.newer)},
        {"older", generation_text(fill.older)},
        {"rate now", rate_text(fill.rate_now)},
    };
  }

 private:
  [[nodiscard]] static std::string generation_text(const RedisFill& fill) {
    return fmt::format("about {} keys, fill {}", group_digits(fill.estimated_items),
                       fill_text(fill));
  }
  [[nodiscard]] FilterState state_of(const RedisFill& fill) const {
    return {filter_.plan(), filter_.hasher().family(),
            fill.ones,      fill.estimated_items,
            fill.rate_now,  fill.overfull};
  }

  std::string name_;
  RotatingRedisFilter filter_;
};

// Plain is the only kind that a string holds.
Plan plan_for(const Options& options, const std::string& name) {
  if (options.kind && *options.kind != Kind::plain)
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: a filter in a Redis string is plain, not {}; name a filter of the "
                            "module with redis+module://, or a file",
                            name, to_string(*options.kind)));
  return std::get<Plan>(options.verb == Verb::dedup ? dedup_plan(options) : file_plan(options));
}

RotatingRedisFilter create_rotating(const Options& options, const RedisUrl& url) {
  const double rate = options.rate.value_or(options.verb == Verb::dedup ? kDedupRate : 0);
  if (!options.items || rate == 0 || options.bits || options.hashes || options.kind)
    throw Error(ErrorCode::invalid_argument,
                "--rotating takes -n, the keys of one generation, and -p, the rate of both "
                "together, and no --bits, --hashes or --kind");
  const auto make = [&] {
    return RotatingRedisFilter::create(url.address, url.key, *options.items, rate, options.hasher(),
                                       options.layout, options.force);
  };
  return naming_force(url.text(), make, options.force);
}

// The rotating filter that is there; nothing: what is there does not rotate, or nothing is.
std::optional<RotatingRedisFilter> find_rotating(const Options& options, const RedisUrl& url) {
  try {
    RotatingRedisFilter filter = RotatingRedisFilter::open(url.address, url.key);
    check_asked(options, url.text(), {filter.capacity(), filter.rate(), filter.plan().layout},
                filter.hasher());
    return filter;
  } catch (const Error& error) {
    const bool other = error.code() == ErrorCode::wrong_kind && !options.rotating;
    if (!other && error.code() != ErrorCode::missing) throw;
    return std::nullopt;
  }
}

RedisFilter create(const Options& options, const RedisUrl& url) {
  const Plan plan = plan_for(options, url.text());
  const auto make = [&] {
    return RedisFilter::create(url.address, url.key, plan, options.hasher(), options.force);
  };
  return naming_force(url.text(), make, options.force);
}

RedisFilter open_or_create(const Options& options, const RedisUrl& url) {
  try {
    RedisFilter filter = RedisFilter::open(url.address, url.key);
    if (options.kind) (void)plan_for(options, url.text());
    const Plan& plan = filter.plan();
    check_asked(options, url.text(), {plan.capacity, plan.rate, plan.layout}, filter.hasher());
    return filter;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::missing) throw;
    if (!options.items)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{} does not exist; -n N (and -p P) would create it", url.text()));
  }
  try {
    return create(options, url);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::exists) throw;
    return RedisFilter::open(url.address, url.key);  // another run has made it meanwhile
  }
}

RedisFilter filter_of(const Options& options, const RedisUrl& url, Mode mode) {
  switch (mode) {
    case Mode::create:
      return create(options, url);
    case Mode::open_or_create:
      return open_or_create(options, url);
    case Mode::read:
    case Mode::write:
      break;
  }
  return RedisFilter::open(url.address, url.key);
}

}  // namespace

std::unique_ptr<KeyFilter> redis_string_filter(const Options& options, const RedisUrl& url,
                                               Mode mode) {
  if (mode != Mode::create)
    if (auto rotating = find_rotating(options, url))
      return std::make_unique<RotatingString>(url.text(), std::move(*rotating));
  if (options.rotating && (mode == Mode::create || (mode == Mode::open_or_create && options.items)))
    return std::make_unique<RotatingString>(url.text(), create_rotating(options, url));
  return std::make_unique<RedisString>(url.text(), filter_of(options, url, mode));
}

std::string fill_text(const RedisFill& fill) {
  if (!fill.sampled) return share_text(fill.ones);
  return fmt::format("{} +- {:.2g} %, estimated from a sample", share_text(fill.ones),
                     200 * fill.error);
}

void add_fill(Json& json, const RedisFill& fill) {
  json["fill"] = fill.ones;
  json["fill_is_sampled"] = fill.sampled;
  json["fill_standard_error"] = fill.error;
  json["overfull"] = fill.overfull;
}

}  // namespace bloomery::cli
