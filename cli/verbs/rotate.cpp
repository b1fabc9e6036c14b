// `bloomery rotate`: forgets the older generation of a filter in Redis, and begins a new one.
#include "output/output.hpp"
#include "verbs/verbs.hpp"

#include <fmt/format.h>
#include <bloomery/any_filter.hpp>

namespace bloomery::cli {

namespace {

std::string rotation_text(const std::string& name, const AnyFilter::Rotation& rotation) {
  if (rotation.generation == 0)
    return rotation.done
               ? fmt::format(
                     "the bits of {} are under '{}' now; the bits that were there before are gone",
                     name, rotation.older_key)
               : fmt::format("nothing was added to {} after its last rotation; '{}' stays", name,
                             rotation.older_key);
  if (!rotation.done)
    return fmt::format("{} was rotated by another client at the same time; nothing is changed",
                       name);
  return fmt::format("{} is in generation {} now; generation {} is forgotten", name,
                     rotation.generation, rotation.generation - 2);
}

}  // namespace

int run_rotate(const Options& options) {
  const std::string& location = options.files.front();
  const AnyFilter::Rotation rotation = AnyFilter::rotate(location, options.place());
  if (!options.quiet) remark(rotation_text(AnyFilter::display_name(location), rotation));
  return kExitFound;
}

}  // namespace bloomery::cli
