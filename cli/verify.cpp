// `bloomery verify`: reads every byte of a filter file and says whether it is what was written.
#include "output.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter_file.hpp>

namespace bloomery::cli {

namespace {

std::string_view state_text(VerifyReport::State state) {
  switch (state) {
    case VerifyReport::State::clean:
      return "whole";
    case VerifyReport::State::in_use:
      return "in use by a writer";
    case VerifyReport::State::recoverable:
      return "left by a writer that died; the next one mends it";
    case VerifyReport::State::unclean:
      break;
  }
  return "left by a writer that died, and what it promised cannot be restored";
}

}  // namespace

int run_verify(const Options& options) {
  const std::string& path = options.files.front();
  const VerifyReport report = verify(path);
  if (report.ok()) {
    print_result(fmt::format("{}: {}, {} chunks\n", path, state_text(report.state),
                             group_digits(report.chunks)));
    return kExitFound;
  }
  const std::string damage =
      report.damaged_chunks.empty()
          ? std::string(state_text(report.state))
          : fmt::format("{} of {} chunks are damaged, the first is number {}",
                        group_digits(std::uint64_t{report.damaged_chunks.size()}),
                        group_digits(report.chunks), report.damaged_chunks.front());
  throw Error(ErrorCode::corrupt,
              fmt::format("{}: {}{}{}; bloomery salvage {} OUT writes what can be used", path,
                          damage, report.detail.empty() ? "" : ": ", report.detail, path));
}

}  // namespace bloomery::cli
