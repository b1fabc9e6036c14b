// Asks sentinels until one names the master.
#include "redis/wire/connection.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

namespace bloomery::detail {
namespace {

// The user of the address is known to the servers of data; a sentinel with `requirepass` knows no users.
std::vector<std::string> ask_with_password(const RedisAddress& address, RedisAddress sentinel,
                                           const AskSentinel& ask) {
  std::string refusals;
  const auto answer = [&](const char* how) -> std::optional<std::vector<std::string>> {
    try {
      return ask(sentinel);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::denied || address.password.empty()) throw;
      refusals.append(how).append(error.what());
      return std::nullopt;
    }
  };
  if (auto said = answer("")) return *said;
  sentinel.password = address.password;
  if (!address.user.empty()) {
    sentinel.user = address.user;
    if (auto said = answer("; and with the user and the password of the address: ")) return *said;
    sentinel.user.clear();
  }
  if (auto said = answer("; and with the password of the address: ")) return *said;
  throw Error(ErrorCode::denied, refusals);
}

RedisAddress master_named(const RedisAddress& address, const RedisSentinels::Place& place,
                          const AskSentinel& ask) {
  const std::string name = "redis sentinel " + place.host + ":" + std::to_string(place.port);
  const std::vector<std::string> said = ask_with_password(
      address,
      {.host = place.host, .port = place.port, .timeout = address.timeout, .tls = address.tls},
      ask);
  if (said.empty())
    throw Error(ErrorCode::missing, name + ": there is no master " +
                                        quoted_key(address.sentinels->master) +
                                        " that it knows; check the name");
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

void with_master(const RedisAddress& address, const AskSentinel& ask,
                 const std::function<void(const RedisAddress& master)>& use) {
  std::optional<Error> fault;
  std::vector<RedisAddress> masters;
  for (const RedisSentinels::Place& place : address.sentinels->places) {
    bool is_named = false;
    try {
      const RedisAddress master = master_named(address, place, ask);
      const auto is_same = [&](const RedisAddress& other) {
        return other.host == master.host && other.port == master.port;
      };
      if (std::ranges::any_of(masters, is_same)) continue;
      masters.push_back(master);
      is_named = true;
      return use(master);
    } catch (const Error& error) {
      // The error of the first master that is named takes precedence, then the error of a sentinel that answers.
      const bool is_first_named = is_named && masters.size() == 1;
      if (!fault || is_first_named || (masters.empty() && fault->code() == ErrorCode::unavailable))
        fault = error;
    }
  }
  if (!fault)
    throw Error(ErrorCode::invalid_argument,
                "there is no sentinel to ask for " + quoted_key(address.sentinels->master));
  throw *fault;
}

}  // namespace bloomery::detail
