// The filters on Redis servers, by what they are: behind redis_places.cpp, which tells them apart.
#pragma once

#include "redis_places.hpp"

#include <bloomery/redis_url.hpp>

#include <memory>
#include <string>

namespace bloomery::cli {

// In plain strings: one, several, or two generations.
[[nodiscard]] std::unique_ptr<KeyFilter> redis_strings_filter(const Options& options,
                                                              const RedisUrl& url, Mode mode);
// Of a module, under one key or in shards.
[[nodiscard]] std::unique_ptr<KeyFilter> redis_module_filter(const Options& options,
                                                             const RedisUrl& url, Mode mode);
// The bucket of the PHP scheme that the options name; with --rotating the older one is asked too.
[[nodiscard]] std::unique_ptr<KeyFilter> php_bucket_filter(const Options& options,
                                                           const RedisUrl& url, Mode mode);
// Rotates a bucket and says what was done. A bucket into which nothing has come since the last
// rotation stays as it is: a job that runs twice would make it forget everything, and a bucket that
// was evicted looks the same. Error{missing}: there never was one.
[[nodiscard]] std::string rotate_php_bucket(const Options& options, const RedisUrl& url);

// Opens the filter that is there, or creates one if there is none and the flags say how large.
// `open(true)` also checks it against the flags.
template <class Open, class Create>
std::unique_ptr<KeyFilter> filter_in_mode(const Options& options, const RedisUrl& url, Mode mode,
                                          Open open, Create create) {
  if (mode == Mode::create) return create();
  if (mode != Mode::open_or_create) return open(false);
  try {
    return open(true);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::missing) throw;
    if (!options.items)
      throw Error(ErrorCode::invalid_argument,
                  url.text() + " does not exist; -n N (and -p P) would create it");
  }
  try {
    return create();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::exists) throw;
    return open(true);  // another run has created it meanwhile
  }
}

}  // namespace bloomery::cli
