// The handle over filters of RedisBloom, which says little of them, and of servers that are no friends.
#include <bloomery/any_filter.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "redis/scripted.hpp"
#include "redis/server.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

std::string module_at(const Scripted& server) {
  return "redis+module://127.0.0.1:" + std::to_string(server.port()) + "?key=k";
}

// Of RedisBloom, BF.INFO says little.
TEST(AnyOnRedisBloom, WhatItSaysIsCompared) {
  const auto answering = [](const char* expansion) {
    return [expansion](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] != "BF.INFO") return "-ERR unknown command\r\n";
      if (words.size() == 3) return "-Invalid information value\r\n";
      return std::string("*4\r\n+Capacity\r\n:100\r\n+Expansion rate\r\n") + expansion;
    };
  };
  const auto expect_refused = [](const std::string& at, const FilterSpec& spec) {
    expect_error(ErrorCode::mismatch, {}, [&] { (void)AnyFilter::open_or_create(at, spec); });
  };
  const Server real;
  Scripted growing(real.path()), plain(real.path());
  growing.say(answering(":2\r\n"));
  plain.say(answering("$-1\r\n"));
  const std::string grows = module_at(growing), is_plain = module_at(plain);
  (void)AnyFilter::open_or_create(grows,
                                  {.kind = Kind::scalable, .capacity = 5, .fpr = 0.1, .growth = 2});
  (void)AnyFilter::open_or_create(is_plain, {.kind = Kind::plain, .capacity = 100, .fpr = 0.1});
  expect_refused(grows, {.kind = Kind::plain});
  expect_refused(grows, {.growth = 3});
  expect_refused(is_plain, {.kind = Kind::scalable});
  expect_refused(is_plain, {.kind = Kind::counting});
  expect_refused(is_plain, {.capacity = 101});
}

// RedisBloom says of a filter whether it grows, and its capacity.
TEST(AnyOnRedisBloom, ItsFiltersAreListedWithWhatItSays) {
  const Server real;
  Scripted server(real.path());
  bool denies = false;
  server.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "SCAN")
      return words.back() == "MBbloom--" ? "*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n"
                                         : "*2\r\n$1\r\n0\r\n*0\r\n";
    if (denies) return "-NOPERM no\r\n";
    if (words.size() == 3) return "-Invalid information value\r\n";
    if (words[0] == "BF.DEBUG") return "-ERR unknown command\r\n";
    return "*4\r\n+Capacity\r\n:100\r\n+Expansion rate\r\n$-1\r\n";
  });
  const std::string all = "redis+module://127.0.0.1:" + std::to_string(server.port()) + "?match=*";
  std::vector<std::string> found;
  const auto use = [&](const std::string& address, const FilterStats& stats) {
    EXPECT_EQ(stats.kind, Kind::plain);
    EXPECT_EQ(stats.capacity, 100U);
    EXPECT_EQ(stats.fpr, 0);
    EXPECT_FALSE(stats.fill_known);
    found.push_back(address);
  };
  AnyFilter::for_each(all, use, {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("key=k"), std::string::npos) << found[0];
  denies = true;
  expect_error(ErrorCode::denied, {"NOPERM"}, [&] { AnyFilter::for_each(all, use, {}); });
  EXPECT_EQ(found.size(), 1U);
  std::vector<std::string> refused;
  AnyFilter::for_each(all, use, [&](const std::string& address, const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::denied);
    refused.push_back(address);
  });
  EXPECT_EQ(found.size(), 1U);
  EXPECT_EQ(refused, found);
  EXPECT_TRUE(AnyFilter::is_pattern(all));
  EXPECT_FALSE(AnyFilter::is_pattern(found[0]));
}

// Bytes of a server that is no friend.
TEST(AnyOnRedisBloom, AReplyThatMakesNoSenseIsAnError) {
  const Server real;
  Scripted server(real.path());
  for (const char* reply :
       {"*0\r\n", ":1\r\n", "*1\r\n:1\r\n", "*1\r\n*1\r\n$1\r\n1\r\n",
        "*1\r\n*2\r\n$1\r\nx\r\n$1\r\n1\r\n", "*1\r\n*3\r\n$1\r\n1\r\n$1\r\n1\r\n$3\r\nODD\r\n",
        "*1\r\n*3\r\n$1\r\n1\r\n$1\r\n1\r\n$9\r\nEXPANSION\r\n"}) {
    server.say([reply](const Scripted::Words& words) -> std::optional<std::string> {
      return words.size() == 3 ? reply : "*2\r\n+Capacity\r\n:100\r\n";
    });
    expect_error(ErrorCode::io, {}, [&] { (void)AnyFilter::open(module_at(server)); });
  }
}

}  // namespace
}  // namespace bloomery::test
