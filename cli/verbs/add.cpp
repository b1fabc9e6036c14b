// `bloomery add` and `bloomery remove`: adds every line of the inputs to a filter, or removes it.
#include "flags/options.hpp"
#include "input/inputs.hpp"
#include "output/output.hpp"
#include "output/statistics.hpp"
#include "output/text.hpp"
#include "stream/filter_lines.hpp"
#include "verbs/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace bloomery::cli {

namespace {

struct Words {
  std::string_view verb, done, changed, unchanged;
};
constexpr Words kAdded = {"add", "added", "new", "there before"};
constexpr Words kRemoved = {"remove", "removed", "removed", "certainly not there"};

struct Applied {
  StreamResult stream;
  std::uint64_t changed;
  std::uint64_t left_out;  // lines of a batch that were done before
  bool is_checked;         // that they are the same
  FilterStats stats;
};

// It decides whether a file with a journal of operations needs that (FilterFile::begin_load); 0: unknown, or no matter.
std::uint64_t expected_lines(const Options& options, AnyFilter& filter,
                             const std::vector<Input>& inputs) {
  if (filter.spec().kind == Kind::plain) return 0;
  return estimate_lines(inputs, {options.end, options.raw}).value_or(0);
}

Applied apply_lines(const Options& options, AnyFilter& filter, AnyFilter::Operation operation,
                    const Words& words) {
  const std::vector<Input> inputs =
      find_inputs({options.files.begin() + 1, options.files.end()}, options.raw);
  const std::uint64_t left_out = options.batch ? filter.begin_batch(*options.batch) : 0;
  // With durability `none`, lines are not safe anywhere until the filter is closed.
  const bool none = options.durability == Durability::none;
  ApplyLines sink(filter, operation, none ? std::string_view() : words.done, options.json, left_out,
                  expected_lines(options, filter, inputs));
  const StreamResult stream = run_stream(options, inputs, {}, sink);
  FilterStats stats = filter.stats();
  filter.close();
  if (stream.lines < left_out && stream.signal == 0)
    throw Error(ErrorCode::mismatch,
                fmt::format("{}: batch {} has {} done, and the input only {}; give all of it again",
                            filter.name(), *options.batch, counted(left_out, "line"),
                            group_digits(stream.lines)));
  return {stream, sink.changed(), std::min(left_out, stream.lines), stream.lines >= left_out,
          std::move(stats)};
}

void report(const Options& options, const Applied& run, const Words& words, const Hasher* hasher) {
  const std::uint64_t unchanged = run.stream.lines - run.left_out - run.changed;
  if (options.json) {
    Json json = stream_json(run.stream);
    json[words.verb == kAdded.verb ? "new" : "removed"] = run.changed;
    json[words.verb == kAdded.verb ? "repeats" : "absent"] = unchanged;
    if (options.batch) json["done_before"] = run.left_out;
    json["acknowledged"] = run.is_checked ? run.stream.lines : 0;
    json["filter"] = filter_json(run.stats, hasher);
    say(json.dump() + "\n");
  } else if (!options.quiet) {
    std::string outcome = fmt::format("{} {}, {} {}", group_digits(run.changed), words.changed,
                                      group_digits(unchanged), words.unchanged);
    if (run.left_out != 0)
      outcome +=
          fmt::format(", {} done before in batch {}", group_digits(run.left_out), *options.batch);
    remark_stream(run.stream, outcome);
    remark(filter_text(run.stats));
  }
}

}  // namespace

int run_add(const Options& options) {
  AnyFilter filter = AnyFilter::open(options.files.front(), Access::write, options.place());
  const Applied run = apply_lines(options, filter, AnyFilter::Operation::insert, kAdded);
  report(options, run, kAdded, filter.hasher());
  if (!options.json)
    warn_if_over_capacity(run.stats, "create a larger one and add everything again");
  return kExitFound;
}

int run_remove(const Options& options) {
  AnyFilter filter = AnyFilter::open(options.files.front(), Access::write, options.place());
  filter.require_removal();
  const Applied run = apply_lines(options, filter, AnyFilter::Operation::remove, kRemoved);
  report(options, run, kRemoved, filter.hasher());
  return exit_code(run.stream, run.changed + run.left_out);
}

}  // namespace bloomery::cli
