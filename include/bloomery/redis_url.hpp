// The place of a filter on Redis servers, and its address as text.
//
//   redis://[user[:password]@]host[:port][/db]?key=name       a filter in one Redis string
//   redis+unix://[user[:password]@]/path?key=name[&db=N]      the same over a unix socket
//   redis+module://...                                        a filter of a module (BF.* commands)
//   redis+cluster://...?key=name[&shards=N]                   one filter in many strings, on the
//                                                             nodes of a cluster or on one server
//   redis+module+cluster://...?key=name[&shards=N]            the same over filters of a module
//   redis+sentinel://s1[:port],s2...?key=name&master=M        a filter on the master that these sentinels
//                                                             call M; also redis+module+sentinel://
//
// The forms with +module and +cluster can also have +unix at the end of the scheme. rediss instead of redis means TLS
// (not with +unix). valkey may stand for redis, and valkeys for rediss.
//
// The port is 6379 (of sentinels 26379) and the database 0 by default. In names, passwords, keys and paths, write
// characters with a meaning in URLs as %XX; a + means a plus sign. Anything unknown in an address is an error,
// because ignoring it could lead to another filter.
#pragma once

#include <bloomery/version.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bloomery {

// TLS 1.2 or later. The server must have a certificate for its name from a trusted authority. All files are PEM.
struct RedisTls {
  std::string ca_file = {};           // the trusted authorities; empty: those of the system
  std::string certificate_file = {};  // this client's, if the server asks for one, and its chain
  std::string key_file = {};          // of that certificate; empty: it is in certificate_file
  std::string server_name = {};       // the name in the server's certificate; empty: the host
  bool verify = true;                 // false: any server is accepted
};

// Sentinels that know where a master is. If they ask for a password, they get the one in the address.
struct RedisSentinels {
  struct Place {
    std::string host;
    std::uint16_t port = 26379;
    friend bool operator==(const Place&, const Place&) = default;
  };
  std::string master;         // its name in the sentinels
  std::vector<Place> places;  // at least one; they are asked in this order
};

struct RedisAddress {
  std::string host = "127.0.0.1";
  std::uint16_t port = 6379;
  std::string socket = {};  // the path of a unix socket; host and port are ignored then
  std::string user = {};    // with a password: AUTH user password; without a user: AUTH password
  std::string password = {};
  std::uint32_t database = 0;
  // The longest wait for the connection, and for the server to receive or send some bytes. A whole answer
  // may take this time plus a second for each 16 KiB. If the server is slower, the call fails. In an address it is
  // &timeout=SECONDS, as in 0.2.
  std::chrono::milliseconds timeout{5'000};
  std::optional<RedisTls> tls = {};  // not over a unix socket; to sentinels too
  // Every connection goes to the current master; host, port and socket are ignored.
  std::optional<RedisSentinels> sentinels = {};
};

// The most bits that a filter in one Redis string can have.
constexpr std::uint64_t kMaxRedisBits = (std::uint64_t{1} << 32) - 1024;
// The most shards of one filter: with 512 MiB each, 512 GiB.
constexpr std::uint32_t kMaxRedisShards = 1024;

// RedisPlace({.host = "10.0.0.7"}, "urls")
struct RedisPlace {
  RedisPlace() = default;
  RedisPlace(RedisAddress where, std::string_view name, std::optional<std::uint32_t> in_shards = {})
      : address(std::move(where)), key(name), shards(in_shards) {}

  RedisAddress address;
  std::string key;  // any bytes, not empty; of a filter in shards a name without '{'
  // nullopt: the filter is under this one key of the server at the address. A number: the filter is in
  // that many shards on all nodes of the cluster at the address; 0 means as many as `create` chooses or `open` finds.
  std::optional<std::uint32_t> shards;
};

struct RedisUrl : RedisPlace {
  bool module = false;  // a filter of a module; otherwise one in Redis strings

  // The address again, without user and password: for messages and logs.
  [[nodiscard]] std::string text() const;
};

// Whether a text is an address, valid or not, and not the path of a file.
[[nodiscard]] inline bool is_redis_url(std::string_view text) noexcept {
  const std::size_t colon = text.find("://");
  return (text.starts_with("redis") || text.starts_with("valkey")) &&
         colon != std::string_view::npos &&
         text.substr(0, colon).find_first_not_of("abcdefghijklmnopqrstuvwxyz+") ==
             std::string_view::npos;
}

// Reads an address. Error{invalid_argument}: the text says which part is wrong, and never repeats the
// user or the password.
[[nodiscard]] RedisUrl parse_redis_url(std::string_view text);

// An address of many filters of a module on one server: redis+module://host?match=PATTERN. The key of the
// result is the pattern, in the syntax of the server's SCAN. Errors as above.
[[nodiscard]] bool is_redis_pattern(std::string_view text) noexcept;
[[nodiscard]] RedisUrl parse_redis_pattern(std::string_view text);

}  // namespace bloomery
