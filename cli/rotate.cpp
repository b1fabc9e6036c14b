// `bloomery rotate`: forgets the older generation of a filter in Redis, and begins a new one.
#include "key_filter.hpp"
#include "output.hpp"
#include "redis_places.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

namespace bloomery::cli {

int run_rotate(const Options& options) {
  const std::string& name = options.files.front();
  if (!is_redis_address(name))
    throw Error(ErrorCode::wrong_kind,
                fmt::format("{}: a file does not rotate; create --window makes one that forgets by "
                            "itself",
                            name));
  remark(rotate_in_redis(options, name));
  return kExitFound;
}

}  // namespace bloomery::cli
