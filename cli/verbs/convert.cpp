// `bloomery convert` and `bloomery merge`: copy a filter from one place to another, and several filters into one.
#include "output/output.hpp"
#include "output/statistics.hpp"
#include "output/text.hpp"
#include "verbs/verbs.hpp"

#include <fmt/format.h>
#include <bloomery/any_filter.hpp>

#include <span>

namespace bloomery::cli {

int run_convert(const Options& options) {
  const std::string &source = options.files[0], &out = options.files[1];
  const AnyOptions place = options.place();
  naming_force(AnyFilter::display_name(out), options.force || options.scheme,
               [&] { AnyFilter::convert(source, out, place); });
  if (!options.quiet)
    remark(fmt::format("converted {} into {}", AnyFilter::display_name(source),
                       AnyFilter::display_name(out)));
  return kExitFound;
}

int run_merge(const Options& options) {
  const std::string& out = options.files.front();
  const std::span sources = std::span(options.files).subspan(1);
  const std::string name = AnyFilter::display_name(out);
  const auto [stats, why_not] = naming_force(
      name, options.force, [&] { return AnyFilter::merge(sources, out, options.force); });
  const std::string merged = fmt::format("merged {} filters into {}", sources.size(), name);
  if (!stats) {
    if (!options.quiet) remark(merged + ": its number of keys is unknown: " + why_not);
    return kExitFound;
  }
  if (!options.quiet)
    remark(stats->module_arrays
               ? fmt::format("{}: {} keys; a key in two filters counts twice", merged,
                             group_digits(stats->inserted.value_or(0)))
               : fmt::format("{}: about {} keys, current fpr {}", merged,
                             group_digits(stats->estimated_items), fpr_text(stats->current_fpr)));
  warn_if_over_capacity(*stats, "create a larger one and add everything again");
  return kExitFound;
}

}  // namespace bloomery::cli
