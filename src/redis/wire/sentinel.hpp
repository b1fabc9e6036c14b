// Where the master is of which sentinels know the name.
// Source: https://redis.io/docs/latest/develop/reference/sentinel-clients/
#pragma once

#include <bloomery/redis_url.hpp>

#include <functional>
#include <string>
#include <vector>

namespace bloomery::detail {

// What a sentinel says of a master: host and port, or nothing if it knows none of that name. Errors as of a connection.
using AskSentinel = std::function<std::vector<std::string>(const RedisAddress& sentinel)>;

// The address without sentinels, of the server that is the master now. They are asked one after the other, with a
// password only where they want one. Error{missing}: those that answer know no such master. Otherwise the error of one
// of them.
[[nodiscard]] RedisAddress master_of(const RedisAddress& address, const AskSentinel& ask);

}  // namespace bloomery::detail
