// Parses an address from the outside to the inside: scheme, query, user, host, path.
#include <bloomery/redis_url.hpp>

#include <bloomery/error.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <utility>

namespace bloomery {
namespace {

constexpr std::string_view kForm = "an address is redis://host:port/db?key=name";

[[noreturn]] void refuse(std::initializer_list<std::string_view> parts) {
  std::string what;
  for (const std::string_view part : parts) what += part;
  throw Error(ErrorCode::invalid_argument, what);
}

// A part of the address for a message: short, and on one line.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, 64)) out += c >= ' ' && c <= '~' ? c : '?';
  return out.append(text.size() > 64 ? "...'" : "'");
}

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// `secret`: the message does not contain the text itself.
std::string decoded(std::string_view text, std::string_view what, bool secret = false) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? digit_of(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? digit_of(text[i + 2]) : -1;
    if (high < 0 || low < 0)
      refuse({what, " ", secret ? std::string() : quoted(text),
              ": a % is followed by two hexadecimal digits; write %25 for a percent sign"});
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

template <class T>
T number(std::string_view text, std::string_view what, T least, T most,
         std::string_view remedy = {}) {
  T value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most)
    refuse({what, " ", quoted(text), " is not a number from ", std::to_string(least), " to ",
            std::to_string(most), remedy});
  return value;
}

std::uint32_t database(std::string_view text) {
  return number<std::uint32_t>(text, "the database", 0, 0x7FFFFFFF, "; key= names the filter");
}

// Seconds, to a millisecond.
std::chrono::milliseconds timeout(std::string_view text) {
  constexpr double kLeast = 0.001, kMost = 3600;
  double seconds = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), seconds, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size() ||
      !(seconds >= kLeast && seconds <= kMost))
    refuse({"the timeout ", quoted(text), " is not a number of seconds from 0.001 to 3600"});
  return std::chrono::milliseconds(std::llround(seconds * 1000));
}

void refuse_zero_bytes(std::string_view text, std::string_view what) {
  if (text.find('\0') != std::string_view::npos)
    refuse({what, " has a zero byte (%00); leave it out"});
}

void take_user(std::string_view text, RedisAddress& address) {
  const std::size_t colon = text.find(':');
  address.user = decoded(text.substr(0, colon), "the user", true);
  if (colon != std::string_view::npos)
    address.password = decoded(text.substr(colon + 1), "the password", true);
}

// Parses the part after the user: "host", "host:port", "[::1]:port".
void take_host(std::string_view text, std::string& to, std::uint16_t& to_port) {
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos)
      refuse({"the host ", quoted(text), " has no ]; write [::1]:6379"});
    to = text.substr(1, end - 1);
    std::string_view rest = text.substr(end + 1);
    has_port = rest.starts_with(':');
    if (!rest.empty() && !has_port)
      refuse({quoted(rest), " after ] is not a port; write [::1]:6379"});
    if (has_port) port = rest.substr(1);
  } else {
    const std::size_t colon = text.find(':');
    has_port = colon != std::string_view::npos;
    if (has_port) port = text.substr(colon + 1);
    to = text.substr(0, colon);
  }
  const auto fits = [&](char c) {
    return digit_of(c) >= 0 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '-' || c == '_' || (text.front() == '[' && (c == ':' || c == '%'));
  };
  if (to.empty()) refuse({"there is no host; ", kForm});
  if (!std::ranges::all_of(to, fits))
    refuse({"the host ", quoted(to), " has a character that no host has; ", kForm});
  if (has_port) to_port = number<std::uint16_t>(port, "the port", 1, 65535);
}

// Parses several hosts that are separated by commas.
void take_sentinels(std::string_view text, const std::optional<std::string>& master,
                    RedisSentinels& sentinels) {
  if (!master || master->empty())
    refuse({"the address does not say which master; add &master=name, as the sentinels call it"});
  refuse_zero_bytes(*master, "the name of the master");
  sentinels.master = *master;
  for (bool more = true; more;) {
    const std::size_t comma = text.find(',');
    RedisSentinels::Place place;
    take_host(text.substr(0, comma), place.host, place.port);
    sentinels.places.push_back(std::move(place));
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  constexpr std::size_t kMost = 32;
  if (sentinels.places.size() > kMost) refuse({"an address takes at most 32 sentinels"});
}

struct Query {
  std::optional<std::string> key, database, shards, master, timeout;
  std::optional<std::string> authority, certificate, certificate_key, server_name, insecure;
};

// What an address may have.
struct Properties {
  bool socket, cluster, sentinels, tls;
};

struct Parameter {
  std::string_view name, remedy;  // what to write in an address that does not have it
  std::optional<std::string> Query::*value = nullptr;
  bool Properties::*only = nullptr;  // of addresses with that; null: no address has it
};

constexpr std::string_view kForTls =
    "is for TLS; write rediss or valkeys instead of redis or valkey";
constexpr std::string_view kForUser =
    "is not a part of an address; write user:password@ before the host";
constexpr Parameter kParameters[] = {
    {"db", "is not a part of an address; write the database after the host, as in /2",
     &Query::database, &Properties::socket},
    {"shards", "is for a filter in shards; write redis+cluster:// or redis+module+cluster://",
     &Query::shards, &Properties::cluster},
    {"master", "is for sentinels; write redis+sentinel://", &Query::master, &Properties::sentinels},
    {"cacert", kForTls, &Query::authority, &Properties::tls},
    {"cert", kForTls, &Query::certificate, &Properties::tls},
    {"certkey", kForTls, &Query::certificate_key, &Properties::tls},
    {"sni", kForTls, &Query::server_name, &Properties::tls},
    {"insecure", kForTls, &Query::insecure, &Properties::tls},
    {"user", kForUser},
    {"password", kForUser},
    {"match", "is for info --format prometheus, and names all filters of a module"}};

std::optional<std::string>& value_of(std::string_view name, std::string_view key, Query& query,
                                     Properties has) {
  std::string others(", timeout");
  for (const Parameter& parameter : kParameters) {
    const bool there = parameter.only != nullptr && has.*parameter.only;
    if (there) others.append(", ").append(parameter.name);
    if (name != parameter.name) continue;
    if (!there) refuse({quoted(name), " ", parameter.remedy});
    return query.*parameter.value;
  }
  refuse({quoted(name), " is not a part of an address; its parts are ", key, others});
}

// `key`: the parameter that gives the name of the filter.
Query query_of(std::string_view text, bool socket, const RedisUrl& url, std::string_view key) {
  const Properties has{socket, url.shards.has_value(), url.address.sentinels.has_value(),
                       url.address.tls.has_value()};
  Query query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = pair.find('=');
    const std::string_view name = pair.substr(0, equals);
    std::optional<std::string>& value = name == key         ? query.key
                                        : name == "timeout" ? query.timeout
                                                            : value_of(name, key, query, has);
    if (equals == std::string_view::npos) refuse({quoted(name), " has no value; write key=name"});
    if (value) refuse({quoted(name), " is there twice; give it once"});
    value = decoded(pair.substr(equals + 1), "the value of " + std::string(name));
  }
  return query;
}

RedisTls tls_of(Query query) {
  RedisTls tls;
  const auto take = [](std::optional<std::string>& from, std::string& to, std::string_view what) {
    if (!from) return;
    refuse_zero_bytes(*from, what);
    if (from->empty()) refuse({what, " is empty; leave it out"});
    to = std::move(*from);
  };
  take(query.authority, tls.ca_file, "cacert");
  take(query.certificate, tls.certificate_file, "cert");
  take(query.certificate_key, tls.key_file, "certkey");
  take(query.server_name, tls.server_name, "sni");
  if (!tls.key_file.empty() && tls.certificate_file.empty())
    refuse({"certkey is the key of a certificate; name that with cert"});
  if (query.insecure && *query.insecure != "yes")
    refuse(
        {"insecure=", quoted(*query.insecure), " has no meaning; insecure=yes accepts any server"});
  tls.verify = !query.insecure;
  return tls;
}

// Removes the known parts of a scheme such as "rediss+module+cluster"; the rest is unknown.
bool take_scheme(std::string_view scheme, RedisUrl& url, bool& socket) {
  const std::string_view server = scheme.starts_with("valkey") ? "valkey" : "redis";
  if (!scheme.starts_with(server)) return false;
  scheme.remove_prefix(server.size());
  if (scheme.starts_with('s')) {
    url.address.tls.emplace();
    scheme.remove_prefix(1);
  }
  if (scheme.starts_with("+module")) {
    url.module = true;
    scheme.remove_prefix(7);
  }
  if (scheme.starts_with("+cluster")) {
    url.shards = 0;
    scheme.remove_prefix(8);
  }
  if (scheme == "+sentinel") {
    if (url.shards)
      refuse({"a cluster chooses its masters without sentinels; leave one of both out"});
    url.address.sentinels.emplace();
    return true;
  }
  socket = scheme == "+unix";
  if (socket && url.address.tls)
    refuse({"a unix socket is on this machine and has no TLS; write ", server, "+unix://"});
  return scheme.empty() || socket;
}

RedisUrl parsed(std::string_view text, std::string_view key) {
  RedisUrl url;
  const std::size_t colon = text.find("://");
  bool socket = false;
  if (colon == std::string_view::npos || !take_scheme(text.substr(0, colon), url, socket))
    refuse({quoted(text.substr(0, colon)), " is not a kind of address; write redis, redis+module, ",
            "redis+cluster or redis+module+cluster, each also with +unix, the first two also with "
            "+sentinel; valkey means redis; rediss and valkeys use TLS"});
  std::string_view rest = text.substr(colon + 3);
  const std::size_t question = rest.find('?');
  const Query query = query_of(question == std::string_view::npos ? "" : rest.substr(question + 1),
                               socket, url, key);
  rest = rest.substr(0, question);

  // The user and the password end at the last @ before the path; the path of a socket may contain an @ too.
  const std::size_t at = rest.substr(0, rest.find('/')).rfind('@');
  if (at != std::string_view::npos) {
    take_user(rest.substr(0, at), url.address);
    rest.remove_prefix(at + 1);
  }
  refuse_zero_bytes(url.address.user, "the user");
  refuse_zero_bytes(url.address.password, "the password");
  if (socket) {
    // This is checked first: text that does not begin with / may contain a password, which no message repeats.
    if (!rest.starts_with('/'))
      refuse({"the path of a socket begins with /, as in redis+unix:///run/redis.sock?key=name"});
    url.address.socket = decoded(rest, "the path");
    refuse_zero_bytes(url.address.socket, "the path");
    if (query.database) url.address.database = database(*query.database);
  } else {
    const std::size_t slash = rest.find('/');
    if (slash != std::string_view::npos && rest.find('@', slash) != std::string_view::npos)
      refuse({"there is an @ after the host; write a / in a user or password as %2F"});
    const std::string_view hosts = rest.substr(0, slash);
    if (url.address.sentinels)
      take_sentinels(hosts, query.master, *url.address.sentinels);
    else
      take_host(hosts, url.address.host, url.address.port);
    if (slash != std::string_view::npos && slash + 1 < rest.size())
      url.address.database = database(rest.substr(slash + 1));
  }
  if (!query.key || query.key->empty())
    refuse({"the address names no key; add ?", key, "=name, the name of the filter"});
  url.key = *query.key;
  if (url.address.tls) url.address.tls = tls_of(query);
  if (query.timeout) url.address.timeout = timeout(*query.timeout);
  if (query.shards)
    url.shards = number<std::uint32_t>(*query.shards, "the shards", 1, kMaxRedisShards);
  return url;
}

RedisUrl parse(std::string_view text, std::string_view key) {
  try {
    return parsed(text, key);
  } catch (const Error&) {
    // The error may mean that a password was split into parts: then no part of the address is repeated.
    const std::size_t question = text.find('?');
    if (question != std::string_view::npos && text.find('@', question) != std::string_view::npos)
      refuse(
          {"there is an @ after the ?; write a ? in a user or password as %3F, and an @ in a key "
           "as %40"});
    throw;
  }
}

}  // namespace

RedisUrl parse_redis_url(std::string_view text) { return parse(text, "key"); }

bool is_redis_pattern(std::string_view text) noexcept {
  if (!is_redis_url(text)) return false;
  const std::size_t question = text.find('?');
  if (question == std::string_view::npos) return false;
  text.remove_prefix(question);
  return text.starts_with("?match=") || text.find("&match=") != std::string_view::npos;
}

RedisUrl parse_redis_pattern(std::string_view text) {
  RedisUrl url = parse(text, "match");
  if (!url.module || url.shards)
    refuse({"match is for the filters of a module on one server, redis+module://host?match=*"});
  return url;
}

}  // namespace bloomery
