// `bloomery dedup`: each line once, the first time it comes, or only the repeats.
#include "input/inputs.hpp"
#include "output/output.hpp"
#include "output/output_file.hpp"
#include "output/statistics.hpp"
#include "output/text.hpp"
#include "stream/filter_lines.hpp"
#include "stream/growing_lines.hpp"
#include "verbs/runs.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

namespace bloomery::cli {

namespace {

constexpr double kDefaultFpr = 1e-6;
constexpr std::uint64_t kUnknownLines = 1'000'000;  // to begin with

// The filter of one run is never merged, so its seed can be random: lines that somebody made to collide for
// a known seed do not.
Hasher hasher_of_run(const Options& options) {
  AnyOptions place = options.place();
  place.random_seed = true;
  return place.hasher();
}

// A filter, and the sink for its lines.
struct Dedup {
  AnyFilter filter;
  std::unique_ptr<FilterLines> sink;
};

// The filter stays where it is: the sink refers to it.
std::unique_ptr<Dedup> make_dedup(const Options& options, const std::vector<Input>& inputs) {
  FilterSpec spec = options.spec;
  if (!spec.fpr && !options.scheme) spec.fpr = kDefaultFpr;
  const auto made = [&](AnyFilter filter) {
    const bool sync_output =
        options.durability.value_or(Durability::sync) == Durability::sync && output_is_a_file();
    auto dedup = std::make_unique<Dedup>(Dedup{std::move(filter), nullptr});
    dedup->sink = std::make_unique<DedupLines>(dedup->filter, sync_output);
    return dedup;
  };
  // The default of -p is for a new filter; an existing one has its own rate.
  if (options.filter) {
    AnyOptions place = options.place();
    place.sources = sources_of(inputs);
    return made(AnyFilter::open_or_create(*options.filter, options.spec, place, spec));
  }
  if (options.spec.kind == Kind::window || options.spec.capacity)
    return made(AnyFilter(plan(spec), hasher_of_run(options)));
  if (const auto lines = estimate_lines(inputs, {options.end, options.raw}))
    return made(AnyFilter(rarely_growing_plan(*lines, spec), hasher_of_run(options)));
  spec.capacity = kUnknownLines;
  auto dedup =
      std::make_unique<Dedup>(Dedup{AnyFilter(plan(spec), hasher_of_run(options)), nullptr});
  dedup->sink = std::make_unique<GrowingLines>(dedup->filter, spec);
  return dedup;
}

Json dedup_json(const StreamResult& stream, std::uint64_t fresh, const Json& filter) {
  Json json = stream_json(stream);
  json["new"] = fresh;
  json["repeats"] = stream.lines - fresh;
  json["filter"] = filter;
  return json;
}

}  // namespace

int run_dedup(const Options& options) {
  const std::vector<Input> inputs = find_inputs(options.files, options.raw);
  // A crash must not remove the output of a line that the filter remembers.
  OutputFile output(
      options.out, options.filter ? OutputFile::Way::in_place : OutputFile::Way::whole,
      [&](gid_t group) { return rights_of_others(inputs, options.filter.value_or(""), group); });
  if (!options.count) refuse_own_output(inputs);
  if (options.filter) refuse_output_into(*options.filter);
  refuse_filter_as_output(options.out);
  const std::unique_ptr<Dedup> dedup = make_dedup(options, inputs);
  AnyFilter& filter = dedup->filter;
  output.begin();
  const StreamResult stream =
      run_stream(options, inputs,
                 {.print = !options.count,
                  .wanted = !options.invert,
                  .whole = !options.filter && (options.count || options.out)},
                 *dedup->sink);
  const FilterStats stats = filter.stats();
  filter.close();
  keep_output(output, stream);

  const std::uint64_t fresh = options.invert ? stream.lines - stream.wanted : stream.wanted;
  const bool json_on_stderr = options.json && !options.count;
  if (options.count && options.json) {
    print_json(dedup_json(stream, fresh, filter_json(stats, filter.hasher())));
  } else if (options.count) {
    print_result(fmt::format("{}\n", stream.wanted));
  } else if (json_on_stderr) {
    say(dedup_json(stream, fresh, filter_json(stats, filter.hasher())).dump() + "\n");
  }
  if (!options.json && !options.quiet) {
    remark_stream(stream, fmt::format("{} new, {} repeats", group_digits(fresh),
                                      group_digits(stream.lines - fresh)));
    remark(filter_text(stats));
  }
  // A reader of the JSON finds "over_capacity" in it, and cannot use a line that is not JSON.
  if (!json_on_stderr)
    warn_if_over_capacity(stats, options.filter ? "create a larger one and add everything again"
                                                : "run it again with a larger -n");
  return exit_code(stream, stream.wanted);
}

}  // namespace bloomery::cli
