// The parameters of filters that are made without explicit ones: module arguments and CONFIG parameters.
//
//   argument         CONFIG parameter         default  bounds
//   layout           bf.layout          native   native, redisbloom
//   error_rate       bf.error-rate      0.01     above 0, below 1
//   initial_size     bf.initial-size    100      1 to 2^30
//   expansion        bf.expansion       2        0 to 32768; 0: filters do not grow
//   keyed            bf.keyed           no       yes, no; native filters only
//   huge_pages       bf.huge-pages      yes      yes, no; counts when a filter is loaded too
//   client_time      bf.client-time     no       yes, no; counts at once (time.hpp)
//   bloom_memory_usage_limit            0        bytes that one filter may take; 0: no limit. Counts
//                    bf.bloom-memory-usage-limit when a filter is made or grows, by commands of clients
//
// For cuckoo filters, under RedisBloom's names:
//
//   cf_initial_size      bf.cf-initial-size      1024  2 to 2^30
//   cf_bucket_size       bf.cf-bucket-size       2     1 to 255
//   cf_max_iterations    bf.cf-max-iterations    20    1 to 65535
//   cf_expansion_factor  bf.cf-expansion-factor  1     0 to 32768; 0: filters do not grow
//   cf_max_expansions    bf.cf-max-expansions    32    1 to 65536; counts at every insert
//
// Except where noted, a setting counts when a filter is made, and not later: the filter is replicated and
// stored with all its parameters. The names of arguments may be in upper case, as RedisBloom's are, and
// have `-` for `_`. RedisBloom's bf-error-rate, bf-initial-size and bf-expansion-factor are taken too, and
// so are valkey-bloom's bloom-fp-rate, bloom-capacity, bloom-expansion and bloom-use-random-seed
// (`keyed`), also as bf.bloom-*. On servers with settings without a prefix (Redis 8) RedisBloom's names
// are settings too.
#pragma once

#include <atomic>

#include "server/api.hpp"
#include "values/dump_header.hpp"

namespace bloomery::server {

constexpr long long kMaxRedisBloomCapacity = 1LL << 30;  // RedisBloom's own bound
constexpr long long kMaxNativeCapacity = 1LL << 38;
constexpr long long kMaxExpansion = 32768;
constexpr long long kMaxCuckooCapacity = 1LL << 30;
struct CuckooSettings {
  long long capacity = 1024;
  long long bucket_size = 2;
  long long max_iterations = 20;
  long long expansion = 1;
  long long max_expansions = 32;
};
struct Settings {
  Family family = Family::native;
  double fpr = 0.01;
  long long capacity = 100;
  long long expansion = 2;
  CuckooSettings cuckoo;
  long long memory_limit = 0;       // of one filter, in bytes; 0: none
  std::atomic<bool> keyed = false;  // atomic as huge_pages_wanted (pages.hpp) must be
  std::atomic<bool> client_time = false;
};
extern Settings settings;

[[nodiscard]] inline long long max_capacity(Family family) noexcept {
  return family == Family::redisbloom ? kMaxRedisBloomCapacity : kMaxNativeCapacity;
}

// Takes the module's arguments and registers the parameters. False: an argument is wrong, and the
// log says which.
[[nodiscard]] bool register_settings(Context* context, String** arguments, int count);

}  // namespace bloomery::server
