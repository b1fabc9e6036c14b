// `bloomery create`: an empty filter file of the size that the numbers ask for.
#include "force.hpp"
#include "output.hpp"
#include "statistics.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <bloomery/filter_file.hpp>

namespace bloomery::cli {

int run_create(const Options& options) {
  const std::string& path = options.files.front();
  const Plan plan = solve(options.plan_request());
  FilterFile file = naming_force(path, [&] {
    return FilterFile::create(path, plan,
                              {.hasher = options.hasher(),
                               .durability = Durability::process,
                               .replace = options.force,
                               .os = nullptr});
  });
  file.close();
  remark(fmt::format("created {}: {}", path, plan_text(plan)));
  return kExitFound;
}

}  // namespace bloomery::cli
