// What the server does not allow a user is said to be that, in a script too, where the server says it
// in words of its own; and the rights that the message names are enough.
#include <bloomery/module_dump.hpp>
#include <bloomery/redis_filter.hpp>
#include <bloomery/redis_php_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>
#ifdef BLOOMERY_MODULE
#include <bloomery/module_filter.hpp>
#endif

#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "redis/scripted.hpp"
#include "redis/server.hpp"

namespace bloomery::test {
namespace {

Server& guarded_server() {
  static Server one(module_options());
  return one;
}

const PhpScheme& scheme() {
  static const PhpScheme one = PhpScheme::crc32_mt(10'000, 1'000);
  return one;
}

// One script each, with the commands in it that it always comes to, and that are asked for nowhere else.
struct Script {
  const char* name;
  std::vector<std::string> commands;
  std::function<void(const RedisAddress&)> run;
};

std::vector<Script> scripts() {
  const Plan small = plan(1'000, 0.01);
  std::vector<Script> all = {
      {"create",
       {"exists", "setrange"},
       [=](const auto& to) {
         RedisFilter::create({to, "new"}, small);
       }},
      {"replace",
       {"exists", "type", "getrange", "setrange", "expire", "rename", "persist"},
       [=](const auto& to) {
         RedisFilter::create({to, "plain"}, small, Hasher(), true);
       }},
      {"store",
       {"exists", "strlen", "expire", "persist", "rename"},
       [=](const auto& to) {
         RedisFilter::store({to, "stored"}, Filter(small));
       }},
      {"store over another",
       {"type", "getrange", "persist", "rename"},
       [=](const auto& to) {
         RedisFilter::store({to, "plain"}, Filter(small), true);
       }},
      {"create one that rotates",
       {"exists", "setrange"},
       [](const auto& to) {
         RotatingRedisFilter::create({to, "turns"}, 100, 0.01);
       }},
      {"replace one that rotates",
       {"exists", "type", "getrange", "setrange", "expire", "rename", "persist"},
       [](const auto& to) {
         RotatingRedisFilter::create({to, "rotating"}, 100, 0.01, Hasher(), std::nullopt, true);
       }},
      {"rotate",
       {"unlink", "setrange", "expire", "rename", "persist"},
       [](const auto& to) {
         RotatingRedisFilter::open({to, "rotating"}).rotate();
       }},
      {"rotate a bucket",
       {"exists", "type", "rename"},
       [](const auto& to) {
         RedisPhpFilter::rotate({to, "rptc"});
       }},
      {"create in shards",
       {"getrange", "setrange"},
       [=](const auto& to) {
         RedisFilter::create({to, "shards", 2}, small);
       }},
      {"put shards there",
       {"exists", "strlen", "persist", "rename", "getrange"},
       [=](const auto& to) {
         RedisFilterWriter::of_keys({to, "shards", 2}, small, Hasher()).publish();
       }},
      {"replace shards",
       {"exists", "type", "strlen", "persist", "rename", "expire", "unlink"},
       [=](const auto& to) {
         RedisFilterWriter::of_keys({to, "whole", 0}, small, Hasher(), true).publish();
       }},
  };
#ifdef BLOOMERY_MODULE
  all.push_back({"create in shards of a module",
                 {"exists", "unlink", "bf.reserve", "bf.madd", "get"},
                 [](const auto& to) {
                   ModuleFilter::create({to, "module", 2}, {.capacity = 100, .fpr = 0.01});
                 }});
  all.push_back({"load", {"exists", "type", "persist", "rename"}, [=](const auto& to) {
                   const Filter filter(small);
                   ModuleLoader loader({to, "loaded"});
                   loader.load({1, module_header(filter.plan(), filter.hasher(), 0)});
                   loader.publish();
                 }});
  const auto store = [](const auto& to, const char* name, std::initializer_list<const char*> from) {
    std::vector<ModuleFilter> sources;
    std::vector<ModuleFilter*> each;
    for (const char* source : from) sources.push_back(ModuleFilter::open({to, source, 0}));
    for (ModuleFilter& source : sources) each.push_back(&source);
    ModuleFilter::store({to, name, 0}, each, true);
  };
  all.push_back({"merge in shards of a module",
                 {"bf.merge", "bf.scandump", "multi", "expire", "rename"},
                 [=](const auto& to) {
                   store(to, "both", {"one", "two"});
                 }});
  all.push_back({"replace shards of a module",
                 {"type", "expire", "persist", "rename", "unlink"},
                 [=](const auto& to) { store(to, "two", {"one"}); }});
  all.push_back({"load over another", {"type", "persist", "rename"}, [=](const auto& to) {
                   const Filter filter(small);
                   ModuleLoader loader({to, "bloom"}, true);
                   loader.load({1, module_header(filter.plan(), filter.hasher(), 0)});
                   loader.publish();
                 }});
#endif
  return all;
}

void begin_again() {
  const RedisAddress address = guarded_server().address();
  guarded_server().ask({"FLUSHALL"});
  RedisFilter::create({address, "plain"}, plan(1'000, 0.01)).insert("a key");
  auto rotating = RotatingRedisFilter::create({address, "rotating"}, 100, 0.01);
  rotating.insert("an older key");
  rotating.rotate();
  rotating.insert("a key");
  RedisFilter::create({address, "whole", 3}, plan(1'000, 0.01)).insert("a key");
  RedisPhpFilter::make({address, "rptc"}, scheme()).insert("an older key");
  RedisPhpFilter::rotate({address, "rptc"});
  RedisPhpFilter::make({address, "rptc"}, scheme()).insert("a key");
#ifdef BLOOMERY_MODULE
  ModuleFilter::create({address, "bloom"}, {.capacity = 100, .fpr = 0.01}).insert("a key");
  for (const char* name : {"one", "two"})
    ModuleFilter::create({address, name, 2}, {.capacity = 100, .fpr = 0.01}).insert("a key");
#endif
}

// What was there before a script that was refused.
void expect_all_there() {
  const RedisAddress address = guarded_server().address();
  EXPECT_TRUE(RedisFilter::open({address, "plain"}).may_contain("a key"));
  auto rotating = RotatingRedisFilter::open({address, "rotating"});
  rotating.verify();
  EXPECT_TRUE(rotating.may_contain("a key"));
  EXPECT_TRUE(rotating.may_contain("an older key"));
  EXPECT_TRUE(RedisFilter::open({address, "whole", 0}).may_contain("a key"));
  EXPECT_TRUE(RedisPhpFilter::open({address, "rptc"}, scheme()).may_contain("a key"));
  EXPECT_TRUE(RedisPhpFilter::open({address, older_redis_key("rptc")}, scheme())
                  .may_contain("an older key"));
#ifdef BLOOMERY_MODULE
  EXPECT_TRUE(ModuleFilter::open({address, "bloom"}).may_contain("a key"));
  for (const char* name : {"one", "two"})
    EXPECT_TRUE(ModuleFilter::open({address, name, 0}).may_contain("a key"));
#endif
}

// Keys that do not expire.
std::size_t keys_for_ever() {
  const detail::Reply keys = guarded_server().ask({"KEYS", "*"});
  std::size_t count = 0;
  for (std::size_t i = 0; i < keys->elements; ++i)
    count += guarded_server().ask({"TTL", keys->element[i]->str})->integer < 0 ? 1 : 0;
  return count;
}

TEST(Rights, EachCommandOfAScriptIsMissedAsARight) {
  for (const Script& script : scripts())
    for (const std::string& command : script.commands) {
      SCOPED_TRACE(std::string(script.name) + " without " + command);
      begin_again();
      const std::size_t before = keys_for_ever();
      expect_error(ErrorCode::denied, {"; give the user "}, [&] {
        script.run(guarded_server().as_user({"~*", "+@all", "-" + command}));
      });
      EXPECT_NO_THROW(expect_all_there());
      EXPECT_EQ(keys_for_ever(), before) << "something was left behind, or was lost";
    }
}

// Also where its writer does not come to remove it.
TEST(Rights, WhatIsStagedExpiresWhereItMayNotBeRenamed) {
  for (const char* name : {"whole", "new"}) {  // three shards, and one
    SCOPED_TRACE(name);
    begin_again();
    const std::size_t before = keys_for_ever();
    Scripted node(guarded_server().path());
    RedisAddress address = guarded_server().as_user({"~*", "+@all", "-rename"});
    address.socket.clear();
    address.port = node.port();
    node.say([](const Scripted::Words& words) {
      return words[0] == "UNLINK" ? std::optional<std::string>("") : std::nullopt;
    });
    expect_error(ErrorCode::denied, {}, [&] {
      RedisFilterWriter::of_keys({address, name, 0}, plan(1'000, 0.01), Hasher(), true).publish();
    });
    EXPECT_EQ(keys_for_ever(), before);
    EXPECT_NO_THROW(expect_all_there());
  }
}

#ifdef BLOOMERY_MODULE
TEST(Rights, NothingIsLoadedThatCouldNotExpire) {
  begin_again();
  const std::size_t before = keys_for_ever();
  const Filter filter(plan(1'000, 0.01));
  {
    ModuleLoader loader(
        {guarded_server().as_user({"~*", "+@all", "-expire", "-unlink"}), "loaded"});
    const ModuleChunk header{1, module_header(filter.plan(), filter.hasher(), 0)};
    error_of([&] { loader.load(header); }, ErrorCode::denied);
  }
  EXPECT_EQ(keys_for_ever(), before);
}
#endif

TEST(Rights, KeysOfAScriptAreMissedAsRights) {
  for (const Script& script : scripts()) {
    SCOPED_TRACE(script.name);
    begin_again();
    error_of(
        [&] {
          script.run(guarded_server().as_user({"~others:*", "+@all"}));
        },
        ErrorCode::denied);
  }
}

// The tables of docs/configuration.md.
TEST(Rights, ThoseThatAreDocumentedForStringsAreEnough) {
  struct Use {
    std::vector<std::string> commands;
    std::function<void(const RedisAddress&)> run;
  };
  std::vector<std::uint64_t> keys(2'000);
  std::iota(keys.begin(), keys.end(), 1);
  const Plan small = plan(1'000, 0.01);
  const std::vector<std::string> look{"getrange", "strlen", "bitfield_ro", "multi", "exec"};
  std::vector<std::string> add{"bitfield", "eval", "del"};
  add.insert(add.end(), look.begin(), look.end());
  std::vector<std::string> rotate{"eval",   "getrange", "strlen", "setrange",
                                  "expire", "persist",  "rename", "unlink"};
  std::vector<std::string> store{"exists", "type"};
  store.insert(store.end(), rotate.begin(), rotate.end());
  const std::vector<Use> uses = {
      {look,
       [&](const auto& at) {
         auto filter = RedisFilter::open({at, "plain"});
         (void)filter.may_contain("a key");
         (void)filter.may_contain_many(keys);
         (void)RotatingRedisFilter::open({at, "rotating"}).may_contain_many(keys);
         (void)RedisPhpFilter::open({at, "rptc"}, scheme()).may_contain("a key");
       }},
      {add,
       [&](const auto& at) {
         RedisFilter::open({at, "plain"}).insert_many(keys);
         RotatingRedisFilter::open({at, "rotating"}).insert_many(keys);
         RedisPhpFilter::open({at, "rptc"}, scheme()).insert("another key");
         // A filter that was deleted: an insert leaves nothing there.
         auto filter = RedisFilter::open({at, "plain"});
         guarded_server().ask({"DEL", "plain"});
         EXPECT_THROW(filter.insert("a key"), Error);
         EXPECT_EQ(guarded_server().ask({"EXISTS", "plain"})->integer, 0);
       }},
      {{"getrange", "strlen", "bitcount"},
       [](const auto& at) {
         (void)RedisFilter::open({at, "plain"}).stats();
         (void)RotatingRedisFilter::open({at, "rotating"}).stats();
       }},
      {{"eval", "exists", "setrange"},
       [=](const auto& at) {
         RedisFilter::create({at, "new"}, small);
         RotatingRedisFilter::create({at, "turns"}, 100, 0.01);
       }},
      {{"eval", "exists", "setrange", "type", "getrange", "strlen", "expire", "persist", "rename"},
       [=](const auto& at) {
         RedisFilter::create({at, "plain"}, small, Hasher(), true);
         RotatingRedisFilter::create({at, "rotating"}, 100, 0.01, Hasher(), std::nullopt, true);
       }},
      {rotate,
       [](const auto& at) {
         RotatingRedisFilter::open({at, "rotating"}).rotate();
       }},
      {store,
       [=](const auto& at) {
         RedisFilter::store({at, "plain"}, Filter(small), true);
       }},
  };
  for (const Use& use : uses) {
    SCOPED_TRACE(testing::PrintToString(use.commands));
    begin_again();
    RedisAddress user = guarded_server().as_user({"~*"});
    for (const std::string& command : use.commands)
      guarded_server().ask({"ACL", "SETUSER", "bob", "+" + command});
    EXPECT_NO_THROW(use.run(user));
  }
}

// The commands in the message, and those beside scripts that docs/redis-cluster.md names.
TEST(Rights, ThoseThatAreNamedAreEnough) {
  begin_again();
  const std::string error = error_of(
      [&] {
        RedisPhpFilter::rotate({guarded_server().as_user({"~*", "+@all", "-rename"}), "rptc"});
      },
      ErrorCode::denied);
  RedisAddress user = guarded_server().as_user(
      {"~*", "+eval", "+bitfield", "+bitfield_ro", "+multi", "+exec", "+expire", "+cluster|slots"});
  const std::size_t first = error.find("give the user ") + 14;
  const std::string_view named =
      std::string_view(error).substr(first, error.find(" (", first) - first);
  std::string word;
  for (const char c : std::string(named) + ",") {
    if (c >= 'A' && c <= 'Z') word += c;
    if (c == ',' || c == ' ') {
      if (!word.empty()) guarded_server().ask({"ACL", "SETUSER", "bob", "+" + word});
      word.clear();
    }
  }
#ifdef BLOOMERY_MODULE
  for (const char* each : {"+bf.reserve", "+bf.madd", "+bf.card", "+bf.exists", "+bf.mexists",
                           "+bf.loadchunk", "+bf.scandump", "+bf.merge", "+bf.info", "+bf.insert"})
    guarded_server().ask({"ACL", "SETUSER", "bob", each});
#endif
  for (const Script& script : scripts()) {
    SCOPED_TRACE(script.name);
    begin_again();
    EXPECT_NO_THROW(script.run(user));
  }
}

}  // namespace
}  // namespace bloomery::test
