// `bloomery create`: an empty filter of the size that the numbers ask for, or a frozen one of all lines.
#include "input/inputs.hpp"
#include "output/output.hpp"
#include "output/statistics.hpp"
#include "verbs/runs.hpp"
#include "verbs/verbs.hpp"

#include <fmt/format.h>

#include <vector>

namespace bloomery::cli {

namespace {

// The filter is there, also where its statistics cannot be read, for instance because the user has no right to them.
std::string what_was_made(AnyFilter& filter) {
  try {
    return made_text(filter.stats());
  } catch (const Error& e) {
    return fmt::format("its size is unknown: {}", e.what());
  }
}

}  // namespace

int run_create(const Options& options) {
  const std::string& location = options.files.front();
  std::vector<Input> inputs;
  AnyOptions place = options.place();
  if (options.spec.kind == Kind::frozen) {
    inputs = find_inputs({options.files.begin() + 1, options.files.end()}, options.raw);
    place.sources = sources_of(inputs);
  }
  const bool fixed = options.force || !AnyFilter::can_replace(location, place);
  AnyFilter filter = naming_force(AnyFilter::display_name(location), fixed,
                                  [&] { return AnyFilter::create(location, options.spec, place); });
  if (options.spec.kind == Kind::frozen) return fill(filter, options, inputs);
  const std::string made = options.quiet ? "" : what_was_made(filter);
  filter.close();
  if (!options.quiet) remark(fmt::format("created {}: {}", filter.name(), made));
  return kExitFound;
}

}  // namespace bloomery::cli
