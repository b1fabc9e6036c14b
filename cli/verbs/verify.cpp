// `bloomery verify`: reads every byte of filters and says whether they are what was written.
#include "input/inputs.hpp"
#include "output/message.hpp"
#include "output/output.hpp"
#include "output/text.hpp"
#include "verbs/verbs.hpp"

#include <fmt/format.h>
#include <bloomery/any_filter.hpp>

namespace bloomery::cli {

namespace {

// A sentence about the filter, named once.
std::string about(const std::string& name, const std::string& sentence) {
  return sentence.starts_with(name) ? sentence : fmt::format("{}: {}", name, sentence);
}

int verify_one(const Options& options, const std::string& location) {
  refuse_output_into(location);
  const std::string name = AnyFilter::display_name(location);
  const VerifyReport report = AnyFilter::verify(location, options.place());
  if (!report.ok()) {
    std::string damage = about(name, report.detail);
    if (!report.damaged_chunks.empty())
      damage += fmt::format("; the first is number {}", report.damaged_chunks.front());
    throw Error(ErrorCode::corrupt, damage);
  }
  const std::string all_is_well =
      report.chunks == 1
          ? "whole, its only chunk is what was written"
          : fmt::format("whole, all {} chunks are what was written", group_digits(report.chunks));
  if (!options.quiet)
    print_result(printable(about(name, report.detail.empty() ? all_is_well : report.detail)) +
                 "\n");
  return report.state == VerifyReport::State::in_use ? kExitNothing : kExitFound;
}

}  // namespace

int run_verify(const Options& options) {
  return each_of(options.files,
                 [&](const std::string& location) { return verify_one(options, location); });
}

}  // namespace bloomery::cli
