// Which keys a rotating filter takes for its two strings, and what it leaves alone.
#include <bloomery/rotating_redis_filter.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "redis/forms.hpp"
#include "redis/scripted.hpp"

namespace bloomery::test {
namespace {

TEST(RotatingString, OfAnOlderGenerationIsNeitherOpenedNorReplaced) {
  const Server& server = strings_server();
  server.ask({"FLUSHALL"});
  EXPECT_EQ(older_redis_key("a{b}c"), "a{b}c:older");
  // To rotate or to replace it would drop it.
  for (const std::string name : {"f", "a{b}c"}) {
    const RedisPlace newer{server.address(), name};
    const RedisPlace older_place{server.address(), older_redis_key(name)};
    RotatingRedisFilter::create(newer, 10'000, 1e-6);
    for (const bool replace : {false, true}) {
      expect_error(ErrorCode::mismatch, {"the older generation of '" + name + "'"}, [&] {
        if (replace)
          RotatingRedisFilter::create(older_place, 10'000, 1e-6, Hasher(), std::nullopt, true);
        else
          RotatingRedisFilter::open(older_place);
      });
    }
    server.ask({"DEL", name, older_redis_key(name)});
  }
  // A filter may have such a name.
  const RedisPlace odd{server.address(), "b:older"};
  RotatingRedisFilter::create(odd, 10'000, 1e-6);
  EXPECT_EQ(RotatingRedisFilter::open(odd).older_key(), "{b:older}:older");
  server.ask({"DEL", "b:older", "{b:older}:older"});
  // What is at the other key need not be a string.
  const RedisPlace named{server.address(), "{b}:older"};
  RotatingRedisFilter::create(named, 10'000, 1e-6);
  server.ask({"RPUSH", "b", "an item"});
  EXPECT_EQ(RotatingRedisFilter::open(named).older_key(), "{b}:older:older");
  server.ask({"DEL", "b", "{b}:older", "{b}:older:older"});
}

// The older generation of '{f}' would have the key that the one of 'f' has.
TEST(RotatingString, ReplacesNoGenerationOfAnother) {
  const Server& server = strings_server();
  server.ask({"FLUSHALL"});
  const auto create = [&](const std::string& key, bool replace) {
    return RotatingRedisFilter::create({server.address(), key}, 10'000, 1e-6, Hasher(),
                                       std::nullopt, replace);
  };
  auto filter = create("f", false);
  filter.insert("a key");
  filter.rotate();
  error_of([&] { create("{f}", true); }, ErrorCode::exists);
  EXPECT_TRUE(filter.may_contain("a key"));
  EXPECT_FALSE(create("f", true).may_contain("a key"));
}

// What is at the key whose older generation this would be is looked at, or it is an error.
TEST(RotatingString, LooksForTheFilterThatItWouldBeAPartOf) {
  const Server& server = strings_server();
  server.ask({"FLUSHALL"});
  Scripted node(server.path());
  const auto create = [&](const std::string& key, bool replace) {
    return RotatingRedisFilter::create({{.port = node.port()}, key}, 10'000, 1e-6, Hasher(),
                                       std::nullopt, replace);
  };
  const auto open = [&] { return RotatingRedisFilter::open({{.port = node.port()}, "{b}:older"}); };
  create("{b}:older", true);  // nothing is there, and nothing at "b"
  // No header, whatever is where its identity would be.
  std::string text = server.get("{b}:older").substr(0, 200);
  text[0] = 'x';
  server.ask({"SET", "b", text});
  EXPECT_TRUE(open().insert("a key"));
  server.ask({"SET", "b", server.get("{b}:older").substr(0, 127)});
  EXPECT_TRUE(open().may_contain("a key"));
  server.ask({"SET", "b", server.get("{b}:older").substr(0, 128)});
  error_of([&] { open(); }, ErrorCode::mismatch);
  const auto answering = [&](const char* reply) {
    node.say([reply](const Scripted::Words& words) -> std::optional<std::string> {
      return words[0] == "GETRANGE" && words[1] == "b" ? std::optional<std::string>(reply)
                                                       : std::nullopt;
    });
  };
  answering("-NOPERM no\r\n");  // for others
  EXPECT_TRUE(open().may_contain("a key"));
  answering("");
  error_of([&] { open(); }, ErrorCode::unavailable);
  error_of([&] { create("{b}:older", true); }, ErrorCode::unavailable);
  node.say(nullptr);
  server.ask({"DEL", "b"});
  // Names with braces. No two of them have the same older generation.
  for (const char* key : {"{a}b", "a{b}", "{a", "{}", "a}"})
    EXPECT_TRUE(create(key, true).insert("a key")) << key;
}

TEST(RotatingString, StaysWhereItCannotBeReplaced) {
  const Server& server = strings_server();
  server.ask({"FLUSHALL"});
  const auto make = [&](std::uint64_t capacity, bool replace = true) {
    return RotatingRedisFilter::create({server.address(), "f"}, capacity, 1e-6, Hasher(),
                                       std::nullopt, replace);
  };
  auto filter = make(10'000, false);
  filter.insert("a key");
  // Strings that the server does not make.
  server.ask({"CONFIG", "SET", "proto-max-bulk-len", "1mb"});
  error_of([&] { make(10'000'000); }, ErrorCode::io);
  server.ask({"CONFIG", "SET", "proto-max-bulk-len", "512mb"});
  EXPECT_TRUE(filter.may_contain("a key"));
  // Something else in the place of the older generation.
  const std::string older = filter.older_key();
  EXPECT_EQ(older, "{f}:older");
  server.ask({"RENAME", older, "aside"});
  server.ask({"SET", older, "a text"});
  error_of([&] { make(10'000); }, ErrorCode::exists);
  EXPECT_EQ(server.get(older), "a text");
  server.ask({"RENAME", "aside", older});
  EXPECT_TRUE(filter.may_contain("a key"));
  for (const bool newer_is_gone : {false, true}) {
    if (newer_is_gone) server.ask({"DEL", "f"});
    auto next = make(10'000);
    error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::mismatch);
    EXPECT_EQ(server.ask({"DBSIZE"})->integer, 2) << "something was left behind";
    filter = std::move(next);
  }
}

}  // namespace
}  // namespace bloomery::test
