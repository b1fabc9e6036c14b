// Addresses of filters on Redis servers, as people write them.
//
//   redis://[user[:password]@]host[:port][/db]?key=name       a filter in a plain string
//   redis+unix://[user[:password]@]/path?key=name[&db=N]      the same over a unix socket
//   redis+module://... and redis+module+unix://...            a filter of a module (BF.*)
//   redis+cluster://...?key=name[&shards=N]                   one filter in many strings, on the
//                                                             nodes of a cluster or one server
//   redis+module+cluster://...?key=name[&shards=N]            the same of module filters
// (and with +unix at the end).
//
// The port is 6379 and the database 0 unless given. What has a meaning of its own is written as
// %XX anywhere: in names, passwords, keys and paths; a + is a plus. Nothing else is taken: what is
// not understood is an error, for a word that is overlooked is another filter than was meant.
#pragma once

#include <bloomery/redis_filter.hpp>

#include <string>
#include <string_view>

namespace bloomery {

struct RedisUrl {
  enum class Holds { string, module };
  Holds holds = Holds::string;
  bool cluster = false;      // in shards
  std::uint32_t shards = 0;  // 0: not said
  RedisAddress address;
  std::string key;  // not empty; any bytes

  // The address again, without user and password: for messages and logs.
  [[nodiscard]] std::string text() const;
};

// Whether a text is meant to be one, right or wrong, and no path of a file.
[[nodiscard]] bool is_redis_url(std::string_view text) noexcept;

// Error{invalid_argument}: says which part is wrong, and never repeats user or password.
[[nodiscard]] RedisUrl parse_redis_url(std::string_view text);

}  // namespace bloomery
