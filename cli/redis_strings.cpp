// RedisFilter and RotatingRedisFilter behind the flags of the tool.
#include "force.hpp"
#include "kinds.hpp"
#include "redis_filters.hpp"
#include "redis_stats.hpp"
#include "seen.hpp"
#include "seen_file.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <bloomery/redis_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <optional>

namespace bloomery::cli {

namespace {

class RedisStrings : public KeyFilterOver<RedisFilter> {
 public:
  using KeyFilterOver::KeyFilterOver;

  [[nodiscard]] std::string made() const override {
    const std::string plan = plan_text(state_of(filter_.plan(), filter_.hasher(), {}));
    return filter_.shards() ? fmt::format("{}, in {} shards", plan, *filter_.shards()) : plan;
  }
  [[nodiscard]] Standing standing(const std::string& advice) override {
    Standing standing = standing_of(filter_.plan(), filter_.hasher(), filter_.stats(), advice);
    if (filter_.shards()) {
      standing.json["shards"] = *filter_.shards();
      standing.json["nodes"] = filter_.nodes();
    }
    return standing;
  }
  [[nodiscard]] std::string verified() override {
    if (!filter_.shards())
      return "its header and its length are right; the bits in a Redis string carry no checksums";
    return fmt::format(
        "the headers and lengths of its {} shards are right; the bits in a Redis string carry no "
        "checksums",
        *filter_.shards());
  }
  [[nodiscard]] Rows rows() override {
    Rows rows{{"filter", name_}, {"kind", "plain, in a Redis string"}};
    if (filter_.shards())
      rows = {{"filter", name_},
              {"kind", "plain, in shards of Redis strings"},
              {"shards", shards_text(*filter_.shards(), filter_.nodes())}};
    return plain_rows(rows, filter_.plan(), filter_.hasher(), filter_.stats());
  }
};

// Two generations, as one filter for both.
class RotatingStrings : public KeyFilterOver<RotatingRedisFilter> {
 public:
  using KeyFilterOver::KeyFilterOver;

  [[nodiscard]] std::string made() const override {
    return "two generations of " + plan_text(state_of(filter_.plan(), filter_.hasher(), {}));
  }
  [[nodiscard]] Standing standing(const std::string&) override {
    const RotatingRedisFilter::BothStats stats = filter_.stats();
    Standing standing = standing_of(filter_.plan(), filter_.hasher(), stats.newer,
                                    "rotate it, or create a larger one");
    standing.json["generation"] = filter_.generation();
    standing.json["fpr"] = filter_.fpr();
    standing.json["current_fpr"] = stats.current_fpr;
    standing.json["older"] = Json{{"estimated_items", stats.older.estimated_items},
                                  {"current_fpr", stats.older.current_fpr}};
    add_fill(standing.json["older"], stats.older);
    standing.line = fmt::format("{} (of the newer of two generations; of both {})", standing.line,
                                fpr_text(stats.current_fpr));
    return standing;
  }
  [[nodiscard]] std::string verified() override {
    filter_.verify();
    return "the headers and lengths of both generations are right; the bits in a Redis string "
           "carry no checksums";
  }
  [[nodiscard]] Rows rows() override {
    const Plan& plan = filter_.plan();
    const RotatingRedisFilter::BothStats stats = filter_.stats();
    return {
        {"filter", name_},
        {"kind", "rotating, in two Redis strings"},
        {"layout", fmt::format("{}, {} hashes", to_string(plan.layout), plan.hashes)},
        {"bits", fmt::format("2 x {} ({})", group_digits(plan.bits),
                             bytes_text(static_cast<double>(plan.bytes()) * 2))},
        {"made for", fmt::format("{} keys a generation at {}", group_digits(plan.capacity),
                                 fpr_text(filter_.fpr()))},
        {"hash", hash_text(filter_.hasher())},
        {"generation", group_digits(filter_.generation())},
        {"newer", generation_text(stats.newer)},
        {"older", generation_text(stats.older)},
        {"current fpr", fpr_text(stats.current_fpr)},
    };
  }

 private:
  [[nodiscard]] static std::string generation_text(const Stats& stats) {
    return fmt::format("about {} keys, fill {}", group_digits(stats.estimated_items),
                       fill_text(stats));
  }
};

// Plain is the only kind that strings hold.
void require_plain(const Options& options, const RedisUrl& url) {
  if (options.kind && *options.kind != Kind::plain)
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: a filter in a Redis string is plain, not {}; name a filter of the "
                            "module with redis+module://, or a file",
                            url.text(), to_string(*options.kind)));
}

std::unique_ptr<KeyFilter> create_rotating(const Options& options, const RedisUrl& url) {
  const double fpr = options.fpr.value_or(options.verb == Verb::dedup ? kDedupFpr : 0);
  if (!options.items || fpr == 0 || options.bits || options.hashes || options.kind)
    throw Error(ErrorCode::invalid_argument,
                "--rotating takes -n, the keys of one generation, and -p, the rate of both "
                "together, and no --bits, --hashes or --kind");
  return std::make_unique<RotatingStrings>(url.text(), naming_force(url.text(), options.force, [&] {
                                             return RotatingRedisFilter::create(
                                                 url, *options.items, fpr, options.hasher(),
                                                 options.layout, options.force);
                                           }));
}

// The rotating filter that is there; nothing: what is there does not rotate, or nothing is there.
std::optional<RotatingRedisFilter> find_rotating(const Options& options, const RedisUrl& url) {
  try {
    RotatingRedisFilter filter = RotatingRedisFilter::open(url);
    check_asked(options, url.text(), {filter.capacity(), filter.fpr(), filter.plan().layout},
                filter.hasher());
    return filter;
  } catch (const Error& error) {
    const bool other = error.code() == ErrorCode::wrong_kind && !options.rotating;
    if (!other && error.code() != ErrorCode::missing) throw;
    return std::nullopt;
  }
}

std::unique_ptr<KeyFilter> create(const Options& options, const RedisUrl& url) {
  require_plain(options, url);
  const auto plan = std::get<Plan>(options.verb == Verb::dedup ? dedup_plan(options)
                                                               : bloomery::plan(options.spec()));
  return std::make_unique<RedisStrings>(url.text(), naming_force(url.text(), options.force, [&] {
                                          return RedisFilter::create(url, plan, options.hasher(),
                                                                     options.force);
                                        }));
}

std::unique_ptr<KeyFilter> open(const Options& options, const RedisUrl& url, bool asked) {
  RedisFilter filter = RedisFilter::open(url);
  if (asked) {
    require_plain(options, url);
    const Plan& plan = filter.plan();
    check_asked(options, url.text(), {plan.capacity, plan.fpr, plan.layout}, filter.hasher());
  }
  return std::make_unique<RedisStrings>(url.text(), std::move(filter));
}

}  // namespace

std::unique_ptr<KeyFilter> redis_strings_filter(const Options& options, const RedisUrl& url,
                                                Mode mode) {
  if (!url.shards) {
    if (mode != Mode::create)
      if (auto rotating = find_rotating(options, url))
        return std::make_unique<RotatingStrings>(url.text(), std::move(*rotating));
    if (options.rotating &&
        (mode == Mode::create || (mode == Mode::open_or_create && options.items)))
      return create_rotating(options, url);
  }
  return filter_in_mode(
      options, url, mode, [&](bool asked) { return open(options, url, asked); },
      [&] { return create(options, url); });
}

}  // namespace bloomery::cli
