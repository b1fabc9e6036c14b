// Asks sentinels until one knows the master.
#include "redis/wire/connection.hpp"

#include <bloomery/error.hpp>

#include <charconv>
#include <optional>

namespace bloomery::detail {
namespace {

std::vector<std::string> ask_with_password(const RedisAddress& address, RedisAddress sentinel,
                                           const AskSentinel& ask) {
  try {
    return ask(sentinel);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::denied || address.password.empty()) throw;
  }
  sentinel.user = address.user;
  sentinel.password = address.password;
  return ask(sentinel);
}

RedisAddress master_named(const RedisAddress& address, const RedisSentinels::Place& place,
                          const AskSentinel& ask) {
  const std::string name = "redis sentinel " + place.host + ":" + std::to_string(place.port);
  const std::vector<std::string> said = ask_with_password(
      address,
      {.host = place.host, .port = place.port, .timeout = address.timeout, .tls = address.tls},
      ask);
  if (said.empty())
    throw Error(ErrorCode::missing, name + ": there is no master '" + address.sentinels->master +
                                        "' that it knows; check the name");
  RedisAddress master = address;
  master.sentinels.reset();
  master.host = said.front();
  const std::string& port = said.back();
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), master.port);
  if (error != std::errc() || end != port.data() + port.size() || master.port == 0)
    throw Error(ErrorCode::io, name + ": the port that it names for the master is not a port");
  return master;
}

}  // namespace

RedisAddress master_of(const RedisAddress& address, const AskSentinel& ask) {
  std::optional<Error> fault;
  for (const RedisSentinels::Place& place : address.sentinels->places) {
    try {
      return master_named(address, place, ask);
    } catch (const Error& error) {
      // The error of a sentinel that answers takes precedence over the error that another one is unavailable.
      if (!fault || fault->code() == ErrorCode::unavailable) fault = error;
    }
  }
  if (!fault)
    throw Error(ErrorCode::invalid_argument,
                "there is no sentinel to ask for '" + address.sentinels->master + "'");
  throw *fault;
}

}  // namespace bloomery::detail
