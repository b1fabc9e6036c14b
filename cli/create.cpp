// `bloomery create`: an empty filter file of the size that the numbers ask for.
#include "force.hpp"
#include "key_filter.hpp"
#include "kinds.hpp"
#include "output.hpp"
#include "statistics.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter_file.hpp>

namespace bloomery::cli {

int run_create(const Options& options) {
  const std::string& path = options.files.front();
  if (const auto keys = create_key_filter(options, path)) {
    remark(fmt::format("created {}: {}", keys->name(), keys->made()));
    return kExitFound;
  }
  const FilterPlan wanted = plan(options.spec());
  FilterFile file = naming_force(path, options.force, [&] {
    return FilterFile::create(
        path, wanted,
        {.hasher = options.hasher(), .durability = Durability::process, .replace = options.force});
  });
  const FilterState state(file);
  file.close();
  remark(fmt::format("created {}: {}", path, plan_text(state)));
  return kExitFound;
}

}  // namespace bloomery::cli
