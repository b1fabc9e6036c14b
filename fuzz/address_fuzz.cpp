// Any text as the address of a filter on a server: the result is an Error with a text, or an address
// that prints as itself; neither shows a password.
#include <bloomery/error.hpp>
#include <bloomery/redis_url.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "require.hpp"

namespace {

using namespace bloomery;
using fuzz::require;

constexpr std::string_view kSecret = "Pa55W0rd";

bool repeats(std::string_view text) { return text.find(kSecret) != std::string_view::npos; }

// The law for addresses: a printed address is parsed as the same address, except for user and password.
void check_printed(const RedisUrl& url) {
  const std::string text = url.text();
  require(is_redis_url(text));
  const RedisUrl again = parse_redis_url(text);
  require(again.text() == text);
  require(again.module == url.module && again.shards == url.shards);
  require(again.key == url.key && !url.key.empty());
  require(again.address.host == url.address.host && again.address.port == url.address.port);
  require(again.address.socket == url.address.socket);
  require(again.address.database == url.address.database);
  require(again.address.user.empty() && again.address.password.empty());
}

// Error messages are one line of printable ASCII, whatever they quote.
void check_error(const Error& error) {
  require(error.code() == ErrorCode::invalid_argument);
  const std::string_view what = error.what();
  require(!what.empty());
  for (const char c : what) require(c >= ' ' && c <= '~');
}

void try_address(std::string_view text) {
  (void)is_redis_url(text);
  try {
    check_printed(parse_redis_url(text));
  } catch (const Error& error) {
    check_error(error);
  }
}

// A secret between the scheme and an @, with hostile text around it. If that is a valid address after
// all, the key may contain the secret, if there is a ? before it.
void try_secret(std::string before, std::string_view after) {
  if (repeats(before) || repeats(after)) return;  // no secret there
  std::ranges::replace(before, '@', 'a');
  const bool in_query = before.find('?') != std::string::npos;
  for (const std::string_view scheme : {"redis", "redis+unix", "redis+module+cluster", "valkey"}) {
    std::string text(scheme);
    text.append("://me:").append(before).append(kSecret).append(after).append("@h/?key=k");
    try {
      require(in_query || !repeats(parse_redis_url(text).text()));
    } catch (const Error& error) {
      check_error(error);
      require(!repeats(error.what()));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try_address(text);
  try_address("redis://" + std::string(text) + "?key=k");
  try_address("redis://h?key=" + std::string(text));
  try_secret(std::string(text.substr(0, size / 2)), text.substr(size / 2));
  return 0;
}
