// Writes an address as text, without user and password.
#include <bloomery/redis_url.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace bloomery {
namespace {

std::string seconds_of(std::chrono::milliseconds time) {
  std::string text = std::to_string(time.count() / 1000);
  if (time.count() % 1000 == 0) return text;
  text += '.';
  text += std::to_string(time.count() % 1000 + 1000).substr(1);
  text.resize(text.find_last_not_of('0') + 1);
  return text;
}

std::string encoded(std::string_view text, std::string_view plain) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (letter || plain.find(c) != std::string_view::npos)
      out += c;
    else
      out.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
  }
  return out;
}

std::string host_and_port(const std::string& host, std::uint16_t port) {
  std::string out = host.find_first_of(":%") != std::string::npos ? "[" + host + "]" : host;
  return out.append(":").append(std::to_string(port));
}

}  // namespace

std::string RedisUrl::text() const {
  std::string out = address.tls ? "rediss" : "redis";
  if (module) out += "+module";
  if (shards) out += "+cluster";
  const std::string db = std::to_string(address.database);
  if (!address.socket.empty()) {
    out.append("+unix://").append(encoded(address.socket, "/._-"));
  } else if (address.sentinels) {
    out += "+sentinel://";
    for (bool first = true; const auto& [host, port] : address.sentinels->places) {
      if (!std::exchange(first, false)) out += ',';
      out += host_and_port(host, port);
    }
  } else {
    out.append("://").append(host_and_port(address.host, address.port));
  }
  if (address.socket.empty()) out.append("/").append(db);
  out.append("?key=").append(encoded(key, "._-:{}/"));
  if (address.sentinels) out.append("&master=").append(encoded(address.sentinels->master, "._-:"));
  if (!address.socket.empty() && address.database != 0) out.append("&db=").append(db);
  if (shards.value_or(0) != 0) out.append("&shards=").append(std::to_string(*shards));
  if (address.timeout != RedisAddress().timeout)
    out.append("&timeout=").append(seconds_of(address.timeout));
  if (address.tls) {
    const auto add = [&](std::string_view name, const std::string& value) {
      if (!value.empty()) out.append(name).append(encoded(value, "/._-:"));
    };
    add("&cacert=", address.tls->ca_file);
    add("&cert=", address.tls->certificate_file);
    add("&certkey=", address.tls->key_file);
    add("&sni=", address.tls->server_name);
    if (!address.tls->verify) out += "&insecure=yes";
  }
  return out;
}

}  // namespace bloomery
