// `bloomery check`: the lines that a filter has probably seen, or those that it has not.
#include "inputs.hpp"
#include "kinds.hpp"
#include "output.hpp"
#include "statistics.hpp"
#include "stream.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter_file.hpp>

#include <optional>
#include <vector>

namespace bloomery::cli {

namespace {

class LookUp : public LineSink {
 public:
  explicit LookUp(const FilterFile& file) : file_(file) {
    if (file.kind() != Kind::window) return;
    // Slices that have passed since a writer last told the file the time are forgotten here too.
    const std::uint64_t now = seconds_now();
    if (!is_late(file.window(), now)) return;
    window_ = file.window().copy();
    window_->advance(now);
  }
  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override {
    if (window_)
      window_->may_contain_hashes(hashes, answers);
    else
      file_.may_contain_hashes(hashes, answers);
  }
  [[nodiscard]] FilterState state() const {
    return window_ ? FilterState(*window_) : FilterState(file_);
  }

 private:
  const FilterFile& file_;
  std::optional<WindowFilter> window_;  // as it is now, where the file is behind
};

}  // namespace

int run_check(const Options& options) {
  const std::vector<Input> inputs = find_inputs({options.files.begin() + 1, options.files.end()});
  const bool print = !options.count && !options.quiet;
  if (print) refuse_own_output(inputs);
  refuse_output_into(options.files.front());
  const FilterFile file = FilterFile::open(options.files.front());
  LookUp sink(file);
  const StreamResult stream = run_stream(options, inputs,
                                         {.hasher = file.hasher(),
                                          .print = print,
                                          .wanted = !options.invert,
                                          .stop_early = options.quiet && !options.count},
                                         sink);
  const std::uint64_t found = options.invert ? stream.lines - stream.wanted : stream.wanted;
  if (options.count && options.json) {
    Json json = stream_json(stream);
    json["found"] = found;
    json["absent"] = stream.lines - found;
    json["filter"] = state_json(sink.state());
    print_json(json);
  } else if (options.count) {
    print_result(fmt::format("{}\n", stream.wanted));
  }
  if (!options.quiet) {
    const FilterState state = sink.state();
    if (!options.json) {
      remark_stream(stream, fmt::format("{} probably seen, {} certainly new", group_digits(found),
                                        group_digits(stream.lines - found)));
      remark_state(state);
    }
    warn_if_overfull(state, "more of the lines are wrongly taken for seen");
  }
  return exit_code(stream, stream.wanted);
}

}  // namespace bloomery::cli
