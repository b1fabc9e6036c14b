// A scan finds each filter once, in as many rounds as the server needs, and leaves out keys that are gone by then.
#include "redis/module/module_scan.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "redis/scripted.hpp"
#include "redis/server.hpp"

namespace bloomery::test {
namespace {

std::string array(const std::vector<std::string>& elements) {
  std::string reply = "*" + std::to_string(elements.size()) + "\r\n";
  for (const std::string& element : elements) reply += element;
  return reply;
}

std::string text(const std::string& bytes) {
  return "$" + std::to_string(bytes.size()) + "\r\n" + bytes + "\r\n";
}

// The keys that one round of a scan returns, and the cursor of the next round.
std::string round_of(const std::string& cursor, const std::vector<std::string>& keys) {
  std::vector<std::string> names;
  for (const std::string& key : keys) names.push_back(text(key));
  return array({text(cursor), array(names)});
}

// A key that is refused is in the list with its error.
std::vector<std::string> scanned(const Scripted& server) {
  std::vector<std::string> found;
  detail::scan_module_filters(
      {{.port = server.port()}, "*"},
      [&](const detail::ScannedFilter& filter) { found.push_back(filter.key); },
      [&](const std::string& key, const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::denied) << error.what();
        found.push_back("refused " + key);
      });
  return found;
}

TEST(ModuleScan, FindsEachFilterOnceInAllRounds) {
  const Server real;
  Scripted server(real.path());
  server.say([](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "SCAN" && words.back() != "MBbloom--") return round_of("0", {});
    if (words[0] == "SCAN" && words[1] == "0") return round_of("7", {"a", "gone"});
    if (words[0] == "SCAN" && words[1] == "7") return round_of("3", {});
    if (words[0] == "SCAN") return round_of("0", {"b", "a", "list", "late"});
    const std::string& key = words[1];
    if (key == "gone") return "-ERR not found\r\n";
    if (key == "list") return "-WRONGTYPE Operation against a key of another type\r\n";
    if (key == "late" && words.size() == 3) return "-ERR not found\r\n";  // deleted in between
    if (words[0] == "BF.DEBUG") return "-ERR unknown command\r\n";
    if (words.size() == 3) return "-Invalid information value\r\n";
    return "*4\r\n+Capacity\r\n:100\r\n+Expansion rate\r\n:2\r\n";
  });
  EXPECT_EQ(scanned(server), (std::vector<std::string>{"a", "b"}));
}

TEST(ModuleScan, GoesOnAfterAFilterThatIsRefused) {
  const Server real;
  Scripted server(real.path());
  server.say([](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "SCAN") return round_of("0", {"a", "secret", "b"});
    if (words[1] == "secret") return "-NOPERM No permissions to access a key\r\n";
    if (words.size() == 3 || words[0] == "BF.DEBUG") return "-Invalid information value\r\n";
    return "*4\r\n+Capacity\r\n:100\r\n+Expansion rate\r\n:2\r\n";
  });
  EXPECT_EQ(scanned(server), (std::vector<std::string>{"a", "refused secret", "b"}));
  // What a server says of itself is no matter of one filter.
  server.say([](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "SCAN") return round_of("0", {"a", "b"});
    return "-LOADING Redis is loading the dataset in memory\r\n";
  });
  error_of([&] { (void)scanned(server); }, ErrorCode::unavailable);
}

TEST(ModuleScan, EndsAtTooManyFilters) {
  const Server real;
  Scripted server(real.path());
  const auto found = [&](std::size_t keys) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < keys; ++i) names.push_back(std::to_string(i));
    server.say([reply = round_of("0", names)](const auto& words) -> std::optional<std::string> {
      return words[0] == "SCAN" ? reply : "-ERR not found\r\n";
    });
    return scanned(server);
  };
  expect_error(ErrorCode::too_large, {"100000 filters match '*'"},
               [&] { (void)found(detail::kMaxScannedFilters + 1); });
  EXPECT_EQ(found(1'000).size(), 0U);
}

TEST(ModuleScan, OfAServerThatMakesNoSenseIsAnError) {
  const Server real;
  Scripted server(real.path());
  for (const std::string& reply :
       {std::string("+OK\r\n"), array({text("0")}), array({text("0"), text("a")})}) {
    server.say([&](const Scripted::Words&) -> std::optional<std::string> { return reply; });
    error_of([&] { (void)scanned(server); }, ErrorCode::io);
  }
}

}  // namespace
}  // namespace bloomery::test
