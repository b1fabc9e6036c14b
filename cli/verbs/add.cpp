// `bloomery add` and `bloomery remove`: every line of the inputs into a filter, or out of it.
#include "flags/options.hpp"
#include "output/output.hpp"
#include "output/statistics.hpp"
#include "output/text.hpp"
#include "stream/filter_lines.hpp"
#include "stream/inputs.hpp"
#include "verbs/runs.hpp"

#include <fmt/format.h>

#include <vector>

namespace bloomery::cli {

namespace {

struct Applied {
  StreamResult stream;
  std::uint64_t changed;
  FilterStats stats;
};

Applied apply_lines(const Options& options, AnyFilter& filter, AnyFilter::Operation operation,
                    std::string_view done) {
  const std::vector<Input> inputs = find_inputs({options.files.begin() + 1, options.files.end()});
  ApplyLines sink(filter, operation, done);
  const StreamResult stream = run_stream(options, inputs, {}, sink);
  FilterStats stats = filter.stats();
  filter.close();
  return {stream, sink.changed(), std::move(stats)};
}

// What a `none` writer has taken is nowhere until it closes.
std::string_view once_acknowledged(const Options& options, std::string_view done) {
  return options.durability == Durability::none ? std::string_view() : done;
}

void remark_run(const Options& options, const Applied& run, std::string_view changed,
                std::string_view unchanged) {
  if (options.quiet) return;
  remark_stream(run.stream, fmt::format("{} {}, {} {}", group_digits(run.changed), changed,
                                        group_digits(run.stream.lines - run.changed), unchanged));
  remark(filter_text(run.stats));
}

}  // namespace

int run_add(const Options& options) {
  AnyFilter filter = AnyFilter::open(options.files.front(), Access::write, options.place());
  const Applied run = apply_lines(options, filter, AnyFilter::Operation::insert,
                                  once_acknowledged(options, "added"));
  remark_run(options, run, "new", "there before");
  warn_if_over_capacity(run.stats, "create a larger one and add everything again");
  return run.stream.signal != 0 ? kExitSignal + run.stream.signal : kExitFound;
}

int run_remove(const Options& options) {
  AnyFilter filter = AnyFilter::open(options.files.front(), Access::write, options.place());
  filter.require_removal();
  const Applied run = apply_lines(options, filter, AnyFilter::Operation::remove,
                                  once_acknowledged(options, "removed"));
  remark_run(options, run, "removed", "certainly not there");
  return exit_code(run.stream, run.changed);
}

}  // namespace bloomery::cli
