// `bloomery rebuild`: all lines into a new filter, which takes the file's place at once.
#include "add_lines.hpp"
#include "inputs.hpp"
#include "kinds.hpp"
#include "output.hpp"
#include "statistics.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter_file.hpp>

#include <optional>
#include <vector>

namespace bloomery::cli {

namespace {

struct Made {
  FilePlan plan;
  Hasher hasher;
};

// What the flags say, and FILE's own word where they say nothing. --bits gives the rate, so
// FILE's does not go with it.
Made as_file(const Options& options, const FilterFile& file) {
  Options with = completed(options, file);
  const bool resized = options.items || options.rate || options.bits || options.hashes ||
                       options.layout || options.kind || options.cell_bits || options.growth ||
                       options.window || options.slices;
  Made made{resized ? file_plan(with) : plan_of(file), file.hasher()};
  if (options.hash || options.seed || options.random_seed) {
    with.hash = options.hash.value_or(file.hasher().family());
    made.hasher = with.hasher();
  }
  return made;
}

Made made_of(const Options& options) {
  std::optional<FilterFile> file;
  try {
    file = FilterFile::open(options.files.front());
  } catch (const Error& error) {
    // What cannot be read can be rebuilt by one who says how large.
    const bool sized = options.items && (options.rate || options.bits);
    if (!sized && !(options.bits && options.rate) && !(options.window && options.rate))
      throw Error(error.code(),
                  fmt::format("{}; or say with -n and -p what to build", error.what()));
  }
  if (file) return as_file(options, *file);
  return {file_plan(options), options.hasher()};
}

}  // namespace

int run_rebuild(const Options& options) {
  const std::vector<Input> inputs = find_inputs({options.files.begin() + 1, options.files.end()});
  const std::string& path = options.files.front();
  const Made made = made_of(options);
  FilterFile file = FilterFile::rebuild(
      path, made.plan,
      {.hasher = made.hasher, .durability = Durability::process, .replace = true, .os = nullptr});
  AddLines sink(file);
  const StreamResult stream = run_stream(options, inputs, {.hasher = made.hasher}, sink);
  const FilterState state(file);
  if (stream.signal != 0) {
    remark(fmt::format("{} is as it was: a part of the lines makes no filter of all", path));
    return kExitSignal + stream.signal;
  }
  file.close();
  if (!options.quiet) {
    remark_stream(stream, fmt::format("{} new, {} repeats", group_digits(sink.fresh()),
                                      group_digits(stream.lines - sink.fresh())));
    remark_state(state);
  }
  warn_if_overfull(state, "rebuild it with a larger -n");
  return kExitFound;
}

}  // namespace bloomery::cli
