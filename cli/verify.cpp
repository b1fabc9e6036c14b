// `bloomery verify`: reads every byte of a filter file and says whether it is what was written.
#include "inputs.hpp"
#include "key_filter.hpp"
#include "output.hpp"
#include "text.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter_file.hpp>

namespace bloomery::cli {

namespace {

// A sentence about the file, named once.
std::string about(const std::string& path, const std::string& sentence) {
  return sentence.starts_with(path) ? sentence : fmt::format("{}: {}", path, sentence);
}

}  // namespace

int run_verify(const Options& options) {
  const std::string& path = options.files.front();
  if (const auto keys = open_key_filter(options, path, Access::read)) {
    print_result(fmt::format("{}: {}\n", keys->name(), keys->verified()));
    return kExitFound;
  }
  refuse_output_into(path);
  const VerifyReport report = verify(path);
  if (!report.ok()) {
    std::string damage = about(path, report.detail);
    if (!report.damaged_chunks.empty())
      damage += fmt::format("; the first is number {}", report.damaged_chunks.front());
    throw Error(ErrorCode::corrupt, damage);
  }
  const std::string all_is_well =
      report.chunks == 1
          ? "whole, its only chunk is what was written"
          : fmt::format("whole, all {} chunks are what was written", group_digits(report.chunks));
  print_result(about(path, report.detail.empty() ? all_is_well : report.detail) + "\n");
  return report.state == VerifyReport::State::in_use ? kExitNothing : kExitFound;
}

}  // namespace bloomery::cli
