// `bloomery dedup`: each line once, the first time it comes, or only the repeats.
#include "inputs.hpp"
#include "output.hpp"
#include "seen.hpp"
#include "statistics.hpp"
#include "stream.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter.hpp>

#include <memory>

namespace bloomery::cli {

namespace {

// How the filter got its size, where nobody said.
struct Sizing {
  std::unique_ptr<SeenInMemory> seen;
  const SeenInPipe* pipe = nullptr;
};

Sizing make_seen(const Options& options, const std::vector<Input>& inputs) {
  const Hasher hasher = options.hasher();
  std::optional<std::uint64_t> lines = options.items;
  if (!lines) lines = estimate_lines(inputs, options.end);
  if (lines) return {std::make_unique<SeenInMemory>(dedup_plan(options, *lines), hasher), nullptr};
  auto pipe = std::make_unique<SeenInPipe>(options, hasher);
  const SeenInPipe* const seen = pipe.get();
  return {std::move(pipe), seen};
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
  const Sizing sizing = make_seen(options, inputs);
  const StreamRequest request{
      .hasher = sizing.seen->filter().hasher(), .print = !options.count, .wanted = !options.invert};
  const StreamResult stream = run_stream(options, inputs, request, *sizing.seen);

  const std::uint64_t fresh = options.invert ? stream.lines - stream.wanted : stream.wanted;
  const FilterState state(sizing.seen->filter());
  if (options.count && options.json) {
    print_json(dedup_json(stream, fresh, state));
  } else if (options.count) {
    print_result(fmt::format("{}\n", stream.wanted));
  } else if (options.json && !options.quiet) {
    fmt::print(stderr, "{}\n", dedup_json(stream, fresh, state).dump());
  }
  if (!options.json && !options.quiet) {
    remark_stream(stream, fmt::format("{} new, {} repeats", group_digits(fresh),
                                      group_digits(stream.lines - fresh)));
    remark_state(state);
    if (sizing.pipe != nullptr && sizing.pipe->assumed() && !options.items)
      remark(
          fmt::format("the input did not tell its size: assumed {} different lines; -n says "
                      "otherwise",
                      group_digits(SeenInPipe::kAssumedLines)));
  }
  warn_if_overfull(state, "run it again with a larger -n");
  return exit_code(stream, stream.wanted);
}

}  // namespace bloomery::cli
