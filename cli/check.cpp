// `bloomery check`: the lines that a filter has probably seen, or those that it has not.
#include "inputs.hpp"
#include "key_lines.hpp"
#include "kinds.hpp"
#include "output.hpp"
#include "statistics.hpp"
#include "stream.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter_file.hpp>

#include <functional>
#include <optional>
#include <vector>

namespace bloomery::cli {

namespace {

class LookUp : public HashSink {
 public:
  explicit LookUp(const FilterFile& file) : file_(file) {
    if (file.kind() != Kind::window) return;
    // Slices that have passed since a writer last told the file the time are forgotten here too.
    const std::uint64_t now = seconds_now();
    if (!is_late(file.window(), now)) return;
    window_ = file.window().copy();
    window_->advance(now);
  }
  [[nodiscard]] const Hasher& hasher() const noexcept override { return file_.hasher(); }
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

// `standing` is asked for only where something of it is printed.
int check_lines(const Options& options, LineSink& sink, const std::function<Standing()>& standing) {
  const std::vector<Input> inputs = find_inputs({options.files.begin() + 1, options.files.end()});
  const bool print = !options.count && !options.quiet;
  if (print) refuse_own_output(inputs);
  const StreamResult stream = run_stream(
      options, inputs,
      {.print = print, .wanted = !options.invert, .stop_early = options.quiet && !options.count},
      sink);
  const std::uint64_t found = options.invert ? stream.lines - stream.wanted : stream.wanted;
  if (options.count && options.json) {
    Json json = stream_json(stream);
    json["found"] = found;
    json["absent"] = stream.lines - found;
    json["filter"] = standing().json;
    print_json(json);
  } else if (options.count) {
    print_result(fmt::format("{}\n", stream.wanted));
  }
  if (!options.quiet) {
    const Standing now = standing();
    if (!options.json) {
      remark_stream(stream, fmt::format("{} probably seen, {} certainly new", group_digits(found),
                                        group_digits(stream.lines - found)));
      remark(now.line);
    }
    warn_if_overfull(now);
  }
  return exit_code(stream, stream.wanted);
}

}  // namespace

int run_check(const Options& options) {
  const std::string mend = "more of the lines are wrongly taken for seen";
  if (const auto keys = open_key_filter(options, options.files.front(), Access::read)) {
    LookUpKeys sink(*keys);
    return check_lines(options, sink, [&] { return keys->standing(mend); });
  }
  refuse_output_into(options.files.front());
  const FilterFile file = FilterFile::open(options.files.front());
  LookUp sink(file);
  return check_lines(options, sink, [&] { return standing_of(sink.state(), mend); });
}

}  // namespace bloomery::cli
