// `bloomery remove`: every line of the inputs out of a counting filter file.
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

void require_counting(const FilterFile& file) {
  if (file.kind() == Kind::counting) return;
  const std::string_view mend = file.kind() == Kind::window
                                    ? "its keys leave with time"
                                    : "make one with --kind counting, or rebuild it without them";
  throw Error(ErrorCode::wrong_kind,
              fmt::format("{}: is a {} filter, which lines cannot be removed from; {}", file.path(),
                          to_string(file.kind()), mend));
}

int removed(const Options& options, const StreamResult& stream, std::uint64_t gone,
            const std::string& state) {
  if (!options.quiet) {
    remark_stream(stream, fmt::format("{} removed, {} certainly not there", group_digits(gone),
                                      group_digits(stream.lines - gone)));
    remark(state);
  }
  return exit_code(stream, gone);
}

}  // namespace

int run_remove(const Options& options) {
  const std::vector<Input> inputs = find_inputs({options.files.begin() + 1, options.files.end()});
  if (const auto keys = open_key_filter(options, options.files.front(), Access::write)) {
    (void)keys->remove({}, {});  // refuses before it reads
    AddKeys sink(*keys, AddKeys::Direction::out);
    const StreamResult stream = run_stream(options, inputs, {}, sink);
    return removed(options, stream, sink.fresh(), keys->standing("").line);
  }
  FilterFile file = FilterFile::open(options.files.front(),
                                     {.access = Access::write, .durability = options.durability});
  require_counting(file);
  AddLines sink(file, AddLines::Direction::out);
  const StreamResult stream = run_stream(options, inputs, {}, sink);
  const FilterState state(file);
  file.close();
  return removed(options, stream, sink.fresh(), state_text(state));
}

}  // namespace bloomery::cli
