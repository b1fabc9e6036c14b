// `bloomery dedup`: each line once, the first time it comes, or only the repeats.
#include "inputs.hpp"
#include "key_lines.hpp"
#include "kinds.hpp"
#include "output.hpp"
#include "seen.hpp"
#include "seen_file.hpp"
#include "statistics.hpp"
#include "stream.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <variant>

namespace bloomery::cli {

namespace {

std::unique_ptr<Seen> make_seen(const Options& options, const std::vector<Input>& inputs) {
  if (options.filter)
    return std::make_unique<SeenInFile>(open_or_create(options), options.durability);
  if (options.kind == Kind::window)
    return std::make_unique<SeenInWindow>(std::get<WindowPlan>(dedup_plan(options)),
                                          options.hasher());
  if (options.items)
    return std::make_unique<SeenInMemory>(std::get<Plan>(dedup_plan(options)), options.hasher());
  const auto lines = estimate_lines(inputs, options.end).value_or(SeenGrowing::kUnknownLines);
  return std::make_unique<SeenGrowing>(options, options.hasher(), lines);
}

Json dedup_json(const StreamResult& stream, std::uint64_t fresh, const Json& filter) {
  Json json = stream_json(stream);
  json["new"] = fresh;
  json["repeats"] = stream.lines - fresh;
  json["filter"] = filter;
  return json;
}

// `finish` ends the work of the sink and says how its filter stands.
int dedup_lines(const Options& options, const std::vector<Input>& inputs, LineSink& sink,
                const std::function<Standing()>& finish) {
  const StreamRequest request{.print = !options.count, .wanted = !options.invert};
  const StreamResult stream = run_stream(options, inputs, request, sink);

  const std::uint64_t fresh = options.invert ? stream.lines - stream.wanted : stream.wanted;
  const Standing standing = finish();
  const bool json_on_stderr = options.json && !options.count && !options.quiet;
  if (options.count && options.json) {
    print_json(dedup_json(stream, fresh, standing.json));
  } else if (options.count) {
    print_result(fmt::format("{}\n", stream.wanted));
  } else if (json_on_stderr) {
    say(dedup_json(stream, fresh, standing.json).dump() + "\n");
  }
  if (!options.json && !options.quiet) {
    remark_stream(stream, fmt::format("{} new, {} repeats", group_digits(fresh),
                                      group_digits(stream.lines - fresh)));
    remark(standing.line);
  }
  // A reader of the JSON has its "over_capacity", and no use for a line that is none.
  if (!json_on_stderr) warn_if_overfull(standing);
  return exit_code(stream, stream.wanted);
}

}  // namespace

int run_dedup(const Options& options) {
  const std::vector<Input> inputs = find_inputs(options.files);
  if (!options.count) refuse_own_output(inputs);
  const std::string mend = options.filter ? "create a larger one and add everything again"
                                          : "run it again with a larger -n";
  if (options.filter) {
    if (const auto keys = open_or_create_key_filter(options, *options.filter)) {
      SeenKeys seen(*keys);
      return dedup_lines(options, inputs, seen, [&] { return keys->standing(mend); });
    }
    refuse_output_into(*options.filter);
  }
  const std::unique_ptr<Seen> seen = make_seen(options, inputs);
  return dedup_lines(options, inputs, *seen, [&] {
    Standing standing = standing_of(seen->state(), mend);
    seen->close();
    return standing;
  });
}

}  // namespace bloomery::cli
