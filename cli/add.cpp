// `bloomery add`: every line of the inputs into a filter file.
#include "add_lines.hpp"
#include "inputs.hpp"
#include "output.hpp"
#include "statistics.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter_file.hpp>

#include <vector>

namespace bloomery::cli {

int run_add(const Options& options) {
  const std::vector<Input> inputs = find_inputs({options.files.begin() + 1, options.files.end()});
  FilterFile file =
      FilterFile::open(options.files.front(),
                       {.access = Access::write, .durability = options.durability, .os = nullptr});
  AddLines sink(file);
  const StreamResult stream = run_stream(options, inputs, {.hasher = file.hasher()}, sink);
  const FilterState state(file);
  file.close();
  if (!options.quiet) {
    remark_stream(stream, fmt::format("{} new, {} there before", group_digits(sink.fresh()),
                                      group_digits(stream.lines - sink.fresh())));
    remark_state(state);
  }
  warn_if_overfull(state, "create a larger one and add everything again");
  return stream.signal != 0 ? kExitSignal + stream.signal : kExitFound;
}

}  // namespace bloomery::cli
