// A RedisFilter behind the flags of the tool.
#include "redis_string.hpp"

#include "force.hpp"
#include "kinds.hpp"
#include "redis_fill.hpp"
#include "seen.hpp"
#include "seen_file.hpp"
#include "text.hpp"

#include <fmt/format.h>
#include <bloomery/rotating_redis_filter.hpp>

#include <optional>

namespace bloomery::cli {

namespace {

class RedisString : public KeyFilterOver<RedisFilter> {
 public:
  using KeyFilterOver::KeyFilterOver;

  [[nodiscard]] std::string made() const override {
    return plan_text(state_of(filter_.plan(), filter_.hasher(), {}));
  }
  [[nodiscard]] Standing standing(const std::string& mend) override {
    return standing_of(filter_.plan(), filter_.hasher(), filter_.watch(), mend);
  }
  [[nodiscard]] std::string verified() override {
    return "its header and its length are right; the bits in a Redis string carry no checksums";
  }
  [[nodiscard]] Rows rows() override {
    return plain_rows({{"filter", name_}, {"kind", "plain, in a Redis string"}}, filter_.plan(),
                      filter_.hasher(), filter_.watch());
  }
};

// Two generations, as one filter for both.
class RotatingString : public KeyFilterOver<RotatingRedisFilter> {
 public:
  using KeyFilterOver::KeyFilterOver;

  [[nodiscard]] std::string made() const override {
    return "two generations of " + plan_text(state_of(filter_.plan(), filter_.hasher(), {}));
  }
  [[nodiscard]] Standing standing(const std::string&) override {
    const RotatingRedisFilter::Fill fill = filter_.watch();
    Standing standing = standing_of(filter_.plan(), filter_.hasher(), fill.newer,
                                    "rotate it, or create a larger one");
    standing.json["generation"] = filter_.generation();
    standing.json["fpr"] = filter_.fpr();
    standing.json["current_fpr"] = fill.current_fpr;
    standing.json["older"] = Json{{"estimated_items", fill.older.estimated_items},
                                  {"current_fpr", fill.older.current_fpr}};
    add_fill(standing.json["older"], fill.older);
    standing.line = fmt::format("{} (of the newer of two generations; of both {})", standing.line,
                                fpr_text(fill.current_fpr));
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
                                 fpr_text(filter_.fpr()))},
        {"hash", hash_text(filter_.hasher())},
        {"generation", group_digits(filter_.generation())},
        {"newer", generation_text(fill.newer)},
        {"older", generation_text(fill.older)},
        {"current fpr", fpr_text(fill.current_fpr)},
    };
  }

 private:
  [[nodiscard]] static std::string generation_text(const RedisFill& fill) {
    return fmt::format("about {} keys, fill {}", group_digits(fill.estimated_items),
                       fill_text(fill));
  }
};

// Plain is the only kind that a string holds.
Plan plan_for(const Options& options, const std::string& name) {
  if (options.kind && *options.kind != Kind::plain)
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: a filter in a Redis string is plain, not {}; name a filter of the "
                            "module with redis+module://, or a file",
                            name, to_string(*options.kind)));
  return std::get<Plan>(options.verb == Verb::dedup ? dedup_plan(options) : plan(options.spec()));
}

RotatingRedisFilter create_rotating(const Options& options, const RedisUrl& url) {
  const double fpr = options.fpr.value_or(options.verb == Verb::dedup ? kDedupFpr : 0);
  if (!options.items || fpr == 0 || options.bits || options.hashes || options.kind)
    throw Error(ErrorCode::invalid_argument,
                "--rotating takes -n, the keys of one generation, and -p, the rate of both "
                "together, and no --bits, --hashes or --kind");
  const auto make = [&] {
    return RotatingRedisFilter::create(url.address, url.key, *options.items, fpr, options.hasher(),
                                       options.layout, options.force);
  };
  return naming_force(url.text(), options.force, make);
}

// The rotating filter that is there; nothing: what is there does not rotate, or nothing is.
std::optional<RotatingRedisFilter> find_rotating(const Options& options, const RedisUrl& url) {
  try {
    RotatingRedisFilter filter = RotatingRedisFilter::open(url.address, url.key);
    check_asked(options, url.text(), {filter.capacity(), filter.fpr(), filter.plan().layout},
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
  return naming_force(url.text(), options.force, make);
}

RedisFilter open_or_create(const Options& options, const RedisUrl& url) {
  try {
    RedisFilter filter = RedisFilter::open(url.address, url.key);
    if (options.kind) (void)plan_for(options, url.text());
    const Plan& plan = filter.plan();
    check_asked(options, url.text(), {plan.capacity, plan.fpr, plan.layout}, filter.hasher());
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

}  // namespace bloomery::cli
