// What a filter that no command describes gets: module arguments and CONFIG parameters.
//
//   argument         CONFIG parameter         default  bounds
//   layout           bloomery.layout          line     blocked, standard
//   error_rate       bloomery.error-rate      0.01     above 0, below 1
//   initial_size     bloomery.initial-size    100      1 to 2^30
//   expansion        bloomery.expansion       2        0 to 32768; 0: filters do not grow
//   keyed            bloomery.keyed           no       yes, no; nothing for the layout standard
//   huge_pages       bloomery.huge-pages      no       yes, no; also when a filter is loaded
//
// They matter when a filter is made and never again: what was made is replicated and stored with
// all its parameters. Names of arguments may be written large, as RedisBloom's are.
#pragma once

#include <cstdint>
#include <string>

#include "api.hpp"
#include "sub_filter.hpp"

namespace bloomery::server {

constexpr long long kMaxCapacityTheirs = 1LL << 30;  // RedisBloom's own bound
constexpr long long kMaxCapacityOurs = 1LL << 38;
constexpr long long kMaxExpansion = 32768;
// RedisBloom gives no filter a higher rate than this, whatever is asked for.
constexpr double kHighestFprTheirs = 0.25;

struct Settings {
  Family family = Family::bloomery;
  double fpr = 0.01;
  long long capacity = 100;
  long long expansion = 2;
  bool keyed = false;
};
extern Settings settings;

[[nodiscard]] inline long long max_capacity(Family family) noexcept {
  return family == Family::redisbloom ? kMaxCapacityTheirs : kMaxCapacityOurs;
}

// Takes the module's arguments and registers the parameters. False: an argument is wrong, and
// the log says which.
[[nodiscard]] bool register_settings(Context* context, String** arguments, int count);

}  // namespace bloomery::server
