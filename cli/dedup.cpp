// `bloomery dedup`: each line once, the first time it comes, or only the repeats.
#include "inputs.hpp"
#include "output.hpp"
#include "seen.hpp"
#include "seen_file.hpp"
#include "statistics.hpp"
#include "stream.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter.hpp>

#include <memory>
#include <optional>

namespace bloomery::cli {

namespace {

// Where the lines that were seen are kept: one of the three.
struct Seen {
  std::optional<FilterFile> file;
  std::unique_ptr<LineSink> sink;
  const SeenInMemory* memory = nullptr;
  const SeenGrowing* growing = nullptr;

  [[nodiscard]] const Hasher& hasher() const {
    if (growing != nullptr) return growing->filter().hasher();
    return file ? file->view().hasher() : memory->filter().hasher();
  }
  [[nodiscard]] FilterState state() const {
    if (growing != nullptr) return FilterState(growing->filter());
    return file ? FilterState(file->view()) : FilterState(memory->filter());
  }
};

std::unique_ptr<Seen> make_seen(const Options& options, const std::vector<Input>& inputs) {
  auto seen = std::make_unique<Seen>();
  if (options.filter) {
    seen->file.emplace(open_or_create(options));
    seen->sink = std::make_unique<SeenInFile>(*seen->file, options.durability);
  } else if (options.items) {
    auto memory =
        std::make_unique<SeenInMemory>(dedup_plan(options, *options.items), options.hasher());
    seen->memory = memory.get();
    seen->sink = std::move(memory);
  } else {
    const auto lines = estimate_lines(inputs, options.end).value_or(SeenGrowing::kUnknownLines);
    auto growing = std::make_unique<SeenGrowing>(options, options.hasher(), lines);
    seen->growing = growing.get();
    seen->sink = std::move(growing);
  }
  return seen;
}

Json dedup_json(const StreamResult& stream, std::uint64_t fresh, const FilterState& state) {
  Json json = stream_json(stream);
  json["new"] = fresh;
  json["repeats"] = stream.lines - fresh;
  json["filter"] = state_json(state);
  return json;
}

}  // namespace

int run_dedup(const Options& options) {
  const std::vector<Input> inputs = find_inputs(options.files);
  if (!options.count) refuse_own_output(inputs);
  if (options.filter) refuse_output_into(*options.filter);
  const std::unique_ptr<Seen> seen = make_seen(options, inputs);
  const StreamRequest request{
      .hasher = seen->hasher(), .print = !options.count, .wanted = !options.invert};
  const StreamResult stream = run_stream(options, inputs, request, *seen->sink);

  const std::uint64_t fresh = options.invert ? stream.lines - stream.wanted : stream.wanted;
  const FilterState state = seen->state();
  if (seen->file) seen->file->close();
  const bool json_on_stderr = options.json && !options.count && !options.quiet;
  if (options.count && options.json) {
    print_json(dedup_json(stream, fresh, state));
  } else if (options.count) {
    print_result(fmt::format("{}\n", stream.wanted));
  } else if (json_on_stderr) {
    say(dedup_json(stream, fresh, state).dump() + "\n");
  }
  if (!options.json && !options.quiet) {
    remark_stream(stream, fmt::format("{} new, {} repeats", group_digits(fresh),
                                      group_digits(stream.lines - fresh)));
    remark_state(state);
  }
  // A reader of the JSON has its "overfull", and no use for a line that is none.
  if (!json_on_stderr)
    warn_if_overfull(state, options.filter ? "create a larger one and add everything again"
                                           : "run it again with a larger -n");
  return exit_code(stream, stream.wanted);
}

}  // namespace bloomery::cli
