// `bloomery check`: the lines that a filter has probably seen, or those that it has not.
#include "input/inputs.hpp"
#include "output/output.hpp"
#include "output/output_file.hpp"
#include "output/statistics.hpp"
#include "output/text.hpp"
#include "stream/filter_lines.hpp"
#include "verbs/runs.hpp"

#include <fmt/format.h>

#include <vector>

namespace bloomery::cli {

int run_check(const Options& options) {
  const std::vector<Input> inputs =
      find_inputs({options.files.begin() + 1, options.files.end()}, options.raw);
  OutputFile output(options.out, OutputFile::Way::whole, [&](gid_t group) {
    return rights_of_others(inputs, options.files.front(), group);
  });
  output.refuse_to_replace(options.files.front());
  refuse_output_into(options.files.front());
  AnyFilter filter = AnyFilter::open(options.files.front(), Access::read, options.place());
  const bool print = !options.count && !options.quiet;
  if (print) refuse_own_output(inputs);
  refuse_filter_as_output(options.out);
  output.begin();
  LookUpLines sink(filter);
  const StreamResult stream = run_stream(options, inputs,
                                         {.print = print,
                                          .wanted = !options.invert,
                                          .stop_early = options.quiet && !options.count,
                                          .whole = options.count || options.out},
                                         sink);
  keep_output(output, stream);
  const std::uint64_t found = options.invert ? stream.lines - stream.wanted : stream.wanted;
  const bool json = options.count && options.json;
  if (options.count && !json) print_result(fmt::format("{}\n", stream.wanted));
  if (!options.quiet || json) {
    const FilterStats stats = filter.stats();
    if (json) {
      Json all = stream_json(stream);
      all["found"] = found;
      all["absent"] = stream.lines - found;
      all["filter"] = filter_json(stats, filter.hasher());
      print_json(all);
    } else {
      remark_stream(stream, fmt::format("{} probably seen, {} certainly new", group_digits(found),
                                        group_digits(stream.lines - found)));
      remark(filter_text(stats));
    }
    if (!options.quiet) warn_if_over_capacity(stats, "more lines are wrongly reported as seen");
  }
  return exit_code(stream, stream.wanted);
}

}  // namespace bloomery::cli
