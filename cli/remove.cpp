// `bloomery remove`: every line of the inputs out of a counting filter file.
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

namespace {

void require_counting(const FilterFile& file) {
  if (file.kind() == Kind::counting) return;
  const std::string_view mend = file.kind() == Kind::window
                                    ? "its keys leave with time"
                                    : "make one with --kind counting, or rebuild it without them";
  throw Error(ErrorCode::wrong_kind,
              fmt::format("{}: is a {} filter, which lines cannot be removed from; {}", file.path(),
                          to_string(file.kind()), mend));
}

}  // namespace

int run_remove(const Options& options) {
  const std::vector<Input> inputs = find_inputs({options.files.begin() + 1, options.files.end()});
  FilterFile file =
      FilterFile::open(options.files.front(),
                       {.access = Access::write, .durability = options.durability, .os = nullptr});
  require_counting(file);
  AddLines sink(file, AddLines::Direction::out);
  const StreamResult stream = run_stream(options, inputs, {.hasher = file.hasher()}, sink);
  const FilterState state(file);
  file.close();
  if (!options.quiet) {
    remark_stream(stream,
                  fmt::format("{} removed, {} certainly not there", group_digits(sink.fresh()),
                              group_digits(stream.lines - sink.fresh())));
    remark_state(state);
  }
  return exit_code(stream, sink.fresh());
}

}  // namespace bloomery::cli
