// `bloomery rebuild`: all lines into a new filter, which takes the place of the old one at once.
#include "input/inputs.hpp"
#include "output/output.hpp"
#include "output/statistics.hpp"
#include "output/text.hpp"
#include "stream/filter_lines.hpp"
#include "verbs/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace bloomery::cli {

namespace {

struct Made {
  FilterPlan plan;
  Hasher hasher;
};

bool says_size(const FilterSpec& spec) noexcept {
  return spec.capacity || spec.fpr || spec.bits || spec.hashes || spec.layout || spec.kind ||
         spec.counter_bits || spec.growth || spec.window || spec.slices || spec.delta;
}

// Takes what the flags leave open from the existing filter. --bits determines the rate, so the rate of
// that filter is not taken then.
FilterSpec completed(FilterSpec spec, AnyFilter& filter) {
  const FilterSpec there = spec_of(*filter.plan());
  const bool same = !spec.kind || spec.kind == there.kind;
  if (!spec.kind) spec.kind = there.kind;
  const bool new_window = spec.window && spec.window->unit == WindowUnit::insertions;
  // A scalable filter: as many keys as it has room for now, since a rebuild should reduce its sub-filters
  // to one. A new window of insertions gives its number of keys itself, and never has more.
  if (!spec.capacity && !(spec.bits && spec.fpr) && !(new_window && there.kind == Kind::window)) {
    spec.capacity = there.kind == Kind::scalable ? filter.stats().capacity : there.capacity;
    if (new_window && spec.capacity) spec.capacity = std::min(*spec.capacity, spec.window->length);
  }
  if (!spec.fpr && !spec.bits) spec.fpr = there.fpr;
  if (!same) return spec;
  if (!spec.layout && spec.kind != Kind::counting) spec.layout = there.layout;
  if (!spec.counter_bits) spec.counter_bits = there.counter_bits;
  if (!spec.growth) spec.growth = there.growth;
  if (!spec.window) spec.window = there.window;
  if (!spec.slices) spec.slices = there.slices;
  if (!spec.delta) spec.delta = there.delta;
  return spec;
}

std::optional<Made> as_existing(const Options& options) {
  std::optional<AnyFilter> there;
  try {
    there = AnyFilter::open(options.files.front());
  } catch (const Error& error) {
    // A server may answer the next question, so it is not known yet what to build like.
    if (error.code() == ErrorCode::unavailable || error.code() == ErrorCode::denied) throw;
    // A filter that cannot be read can be rebuilt if the flags give its size.
    const bool sized = (options.spec.capacity || options.spec.kind == Kind::frozen) &&
                       (options.spec.fpr || options.spec.bits);
    if (!sized && !(options.spec.bits && options.spec.fpr) &&
        !(options.spec.window && options.spec.fpr)) {
      // A size does not help.
      if (error.code() == ErrorCode::io || error.code() == ErrorCode::invalid_argument) throw;
      throw Error(error.code(),
                  fmt::format("{}; or say with -n and -p what to build", error.what()));
    }
    return std::nullopt;
  }
  if (!there->plan() || there->hasher() == nullptr) {
    if (there->hasher() == nullptr)
      (void)AnyFilter::rebuild(options.files.front(), Plan{});  // its place says why not
    throw Error(
        ErrorCode::wrong_kind,
        fmt::format("{}: two generations are not rebuilt; rotate them, or make a new filter "
                    "with create and add",
                    there->name()));
  }
  Made made{*there->plan(), *there->hasher()};
  if (says_size(options.spec)) made.plan = plan(completed(options.spec, *there));
  if (options.hash || options.seed || options.random_seed) {
    AnyOptions hash = options.place();
    if (!hash.hash) hash.hash = made.hasher.family();
    made.hasher = hash.hasher();
  }
  return made;
}

}  // namespace

int fill(AnyFilter& filter, const Options& options, const std::vector<Input>& inputs) {
  filter.use_threads(options.threads);
  ApplyLines sink(filter, AnyFilter::Operation::insert, {}, false, 0, 0);
  const StreamResult stream = run_stream(options, inputs, {.whole = true}, sink);
  if (stream.signal != 0) {
    remark(fmt::format("{} is unchanged: the run stopped before the last line", filter.name()));
    return kExitFound;
  }
  FilterStats stats = filter.stats();
  filter.close();
  std::uint64_t keys = sink.changed();
  if (stats.kind == Kind::frozen) {  // only now it is known which lines came twice
    stats = filter.stats();
    keys = stats.inserted.value_or(0);
  }
  if (!options.quiet) {
    remark_stream(stream, fmt::format("{} new, {} repeats", group_digits(keys),
                                      group_digits(stream.lines - keys)));
    remark(filter_text(stats));
  }
  warn_if_over_capacity(stats, "rebuild it with a larger -n");
  return kExitFound;
}

int run_rebuild(const Options& options) {
  const std::vector<Input> inputs =
      find_inputs({options.files.begin() + 1, options.files.end()}, options.raw);
  std::optional<Made> made = as_existing(options);
  if (!made) made = Made{plan(options.spec), options.place().hasher()};
  AnyFilter filter =
      AnyFilter::rebuild(options.files.front(), made->plan, made->hasher, sources_of(inputs));
  return fill(filter, options, inputs);
}

}  // namespace bloomery::cli
