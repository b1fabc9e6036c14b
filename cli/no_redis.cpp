// A tool built without hiredis knows addresses, and says that it cannot go there.
#include "redis_places.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

namespace bloomery::cli {

namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::invalid_argument,
              "this bloomery was built without its Redis client; build it with hiredis and "
              "-DBLOOMERY_REDIS=ON");
}

}  // namespace

std::unique_ptr<KeyFilter> redis_key_filter(const Options&, const std::string&, Mode) { refuse(); }
std::unique_ptr<PlainSource> redis_source(const std::string&) { refuse(); }
std::unique_ptr<PlainSink> redis_sink(const std::string&, const PlainShape&, bool) { refuse(); }
FilterState state_in(const PlainShape&, double) { refuse(); }
std::unique_ptr<RedisRebuild> redis_rebuild(const std::string&, const Plan&, const Hasher&) {
  refuse();
}
std::string rotate_in_redis(const Options&, const std::string&) { refuse(); }
bool names_module_shards(const std::string&) { refuse(); }
void merge_module_shards(const std::string&, std::span<const std::string>, bool) { refuse(); }
std::string shown(const std::string& name) {
  if (is_redis_address(name)) refuse();
  return name;
}
int run_convert(const Options&) { refuse(); }

}  // namespace bloomery::cli
