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

int verify_one(const Options& options, const std::string& location) {
  refuse_output_into(location);
  const std::string name = AnyFilter::display_name(location);
  const VerifyReport report = AnyFilter::verify(location, options.place());
  report.require_ok(name);
  const std::string all_is_well =
      report.chunks == 1
          ? "whole, its only chunk is what was written"
          : fmt::format("whole, all {} chunks are what was written", group_digits(report.chunks));
  if (!options.quiet)
    print_result(printable(fmt::format("{}: {}", name,
                                       report.detail.empty() ? all_is_well : report.detail)) +
                 "\n");
  return report.state == VerifyReport::State::in_use ? kExitNothing : kExitFound;
}

}  // namespace

int run_verify(const Options& options) {
  return each_of(options.files,
                 [&](const std::string& location) { return verify_one(options, location); });
}

}  // namespace bloomery::cli
