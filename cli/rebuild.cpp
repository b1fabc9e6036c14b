// `bloomery rebuild`: all lines into a new filter, which takes the file's place at once.
#include "add_lines.hpp"
#include "inputs.hpp"
#include "key_filter.hpp"
#include "kinds.hpp"
#include "output.hpp"
#include "redis_places.hpp"
#include "statistics.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter_file.hpp>

#include <optional>
#include <vector>

namespace bloomery::cli {

namespace {

struct Made {
  FilterPlan plan;
  Hasher hasher;
};

// What is there already, and the flags with what they leave open taken from it.
struct Existing {
  Made made;
  Options with;
};

Existing existing_file(const Options& options) {
  const FilterFile file = FilterFile::open(options.files.front());
  return {{plan_of(file), file.hasher()}, completed(options, file)};
}

Existing existing_in_redis(const Options& options) {
  const PlainShape shape = redis_source(options.files.front())->shape();
  return {{shape.plan, shape.hasher}, completed(options, shape.plan)};
}

// What the flags say, and FILE's own word where they say nothing. --bits gives the rate, so
// FILE's does not go with it.
Made as_existing(const Options& options, Existing existing) {
  const bool resized = options.items || options.fpr || options.bits || options.hashes ||
                       options.layout || options.kind || options.counter_bits || options.growth ||
                       options.window || options.slices;
  Made made = existing.made;
  if (resized) made.plan = plan(existing.with.spec());
  if (options.hash || options.seed || options.random_seed) {
    existing.with.hash = options.hash.value_or(made.hasher.family());
    made.hasher = existing.with.hasher();
  }
  return made;
}

Made made_of(const Options& options, Existing (*look)(const Options&)) {
  std::optional<Existing> existing;
  try {
    existing = look(options);
  } catch (const Error& error) {
    // What cannot be read can be rebuilt by one who says how large.
    const bool sized = options.items && (options.fpr || options.bits);
    if (!sized && !(options.bits && options.fpr) && !(options.window && options.fpr))
      throw Error(error.code(),
                  fmt::format("{}; or say with -n and -p what to build", error.what()));
  }
  if (existing) return as_existing(options, *existing);
  return {plan(options.spec()), options.hasher()};
}

int rebuilt(const Options& options, const StreamResult& stream, std::uint64_t fresh,
            const FilterState& state) {
  if (!options.quiet) {
    remark_stream(stream, fmt::format("{} new, {} repeats", group_digits(fresh),
                                      group_digits(stream.lines - fresh)));
    remark_state(state);
  }
  warn_if_overfull(state, "rebuild it with a larger -n");
  return kExitFound;
}

int stopped(const std::string& path, int signal) {
  remark(fmt::format("{} is as it was: a part of the lines makes no filter of all", path));
  return kExitSignal + signal;
}

int rebuild_in_redis(const Options& options, const std::vector<Input>& inputs) {
  const std::string& path = options.files.front();
  const std::string name = shown(path);
  if (options.kind && *options.kind != Kind::plain)
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: a Redis string holds a plain filter; leave --kind out", name));
  const Made made = made_of(options, existing_in_redis);
  const auto filter = redis_rebuild(path, std::get<Plan>(made.plan), made.hasher);
  const StreamResult stream = run_stream(options, inputs, {}, *filter);
  if (stream.signal != 0) return stopped(name, stream.signal);
  const FilterState state = filter->state();
  filter->publish();
  return rebuilt(options, stream, filter->fresh, state);
}

}  // namespace

int run_rebuild(const Options& options) {
  const std::vector<Input> inputs = find_inputs({options.files.begin() + 1, options.files.end()});
  if (is_redis_address(options.files.front())) return rebuild_in_redis(options, inputs);
  const std::string& path = options.files.front();
  const Made made = made_of(options, existing_file);
  FilterFile file = FilterFile::rebuild(
      path, made.plan, {.hasher = made.hasher, .durability = Durability::process, .replace = true});
  AddLines sink(file);
  const StreamResult stream = run_stream(options, inputs, {}, sink);
  const FilterState state(file);
  if (stream.signal != 0) return stopped(path, stream.signal);
  file.close();
  return rebuilt(options, stream, sink.fresh(), state);
}

}  // namespace bloomery::cli
