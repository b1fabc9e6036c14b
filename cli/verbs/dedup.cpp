// `bloomery dedup`: each line once, the first time it comes, or only the repeats.
#include "output/output.hpp"
#include "output/output_file.hpp"
#include "output/statistics.hpp"
#include "output/text.hpp"
#include "stream/filter_lines.hpp"
#include "stream/inputs.hpp"
#include "verbs/runs.hpp"

#include <fmt/format.h>

#include <vector>

namespace bloomery::cli {

namespace {

constexpr double kDefaultFpr = 1e-6;

// For input whose number of lines is a guess: a filter that becomes eight times as large when the guess was
// too low. It may be wrong half as often at first as was asked for, which costs a bit and a half per line;
// the default of scalable filters costs four, for growth that is rare here.
ScalablePlan growing_plan(const Options& options, const std::vector<Input>& inputs) {
  constexpr std::uint64_t kUnknownLines = 1'000'000;
  constexpr std::uint32_t kGrowth = 8;
  constexpr double kTightening = 0.5;
  return scalable_plan(estimate_lines(inputs, {options.end, options.raw}).value_or(kUnknownLines),
                       options.fpr.value_or(kDefaultFpr), kGrowth, kTightening, options.layout);
}

FilterSpec spec_with_fpr(const Options& options) {
  FilterSpec spec = options.spec();
  if (!spec.fpr) spec.fpr = kDefaultFpr;
  return spec;
}

// The filter of one run is merged with nothing, so its seed need not be known, and lines that somebody made
// to collide for a known one do not.
Hasher hasher_of_run(const Options& options) {
  AnyOptions place = options.place();
  place.random_seed = true;
  return place.hasher();
}

AnyFilter make_filter(const Options& options, const std::vector<Input>& inputs) {
  // The default of -p is for a new filter; one that is there has its own.
  if (options.filter)
    return AnyFilter::open_or_create(*options.filter, options.spec(), options.place(),
                                     spec_with_fpr(options));
  if (options.kind == Kind::window || options.items)
    return AnyFilter(plan(spec_with_fpr(options)), hasher_of_run(options));
  return AnyFilter(growing_plan(options, inputs), hasher_of_run(options));
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
  const std::vector<Input> inputs = find_inputs(options.files);
  // A line that a filter remembers must not be in a file that a crash takes away.
  OutputFile output(options.out,
                    options.filter ? OutputFile::Way::in_place : OutputFile::Way::whole,
                    rights_of_others(inputs));
  if (!options.count) refuse_own_output(inputs);
  if (options.filter) {
    refuse_output_into(*options.filter);
    narrow_new_files(inputs);
  }
  AnyFilter filter = make_filter(options, inputs);
  output.begin();
  DedupLines sink(filter, options.durability == Durability::sync && output_is_a_file());
  const StreamResult stream =
      run_stream(options, inputs, {.print = !options.count, .wanted = !options.invert}, sink);
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
  // A reader of the JSON has its "over_capacity", and no use for a line that is not JSON.
  if (!json_on_stderr)
    warn_if_over_capacity(stats, options.filter ? "create a larger one and add everything again"
                                                : "run it again with a larger -n");
  return exit_code(stream, stream.wanted);
}

}  // namespace bloomery::cli
