// `bloomery add`: every line of the inputs into a filter file.
#include "add_lines.hpp"
#include "inputs.hpp"
#include "key_lines.hpp"
#include "output.hpp"
#include "statistics.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter_file.hpp>

#include <vector>

namespace bloomery::cli {

namespace {

int added(const Options& options, const StreamResult& stream, std::uint64_t fresh,
          const Standing& standing) {
  if (!options.quiet) {
    remark_stream(stream, fmt::format("{} new, {} there before", group_digits(fresh),
                                      group_digits(stream.lines - fresh)));
    remark(standing.line);
  }
  warn_if_overfull(standing);
  return stream.signal != 0 ? kExitSignal + stream.signal : kExitFound;
}

}  // namespace

int run_add(const Options& options) {
  const std::vector<Input> inputs = find_inputs({options.files.begin() + 1, options.files.end()});
  const std::string mend = "create a larger one and add everything again";
  if (const auto keys = open_key_filter(options, options.files.front(), Access::write)) {
    AddKeys sink(*keys);
    const StreamResult stream = run_stream(options, inputs, {}, sink);
    return added(options, stream, sink.fresh(), keys->standing(mend));
  }
  FilterFile file = FilterFile::open(options.files.front(),
                                     {.access = Access::write, .durability = options.durability});
  AddLines sink(file);
  const StreamResult stream = run_stream(options, inputs, {}, sink);
  const FilterState state(file);
  file.close();
  return added(options, stream, sink.fresh(), standing_of(state, mend));
}

}  // namespace bloomery::cli
