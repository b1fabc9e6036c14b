// Copies of filters in shards of a module that cannot be made: the error says why, and nothing else is changed.
#include <bloomery/module_dump.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redis/module_copies.hpp"
#include "redis/node_pair.hpp"
#include "redis/scripted.hpp"

namespace bloomery::test {
namespace {

// A shard that never moved has the markers too, where it is of the filter that the source is a copy of.
TEST_F(ModuleCopies, RemoveNothingThatWasThereBefore) {
  store("copy", {"a"});
  const auto a = open("a");
  module_server().ask({"DEL", a.record_key()});
  Scripted node(module_server().path());
  bool dropped = false;
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (!dropped && words[0] == "EVAL" && words[2] == "3" && words[3] == a.keys()[1]) {
      dropped = true;
      module_server().ask({"DEL", words[4]});
    }
    return std::nullopt;
  });
  error_of([&] { store("a", {"copy"}, true, {.port = node.port()}); }, ErrorCode::exists);
  EXPECT_TRUE(dropped);
  for (const std::string& key : a.keys()) {
    EXPECT_EQ(module_server().ask({"EXISTS", key})->integer, 1) << key;
    EXPECT_EQ(module_server().ask({"TTL", key})->integer, -1) << key;
  }
  EXPECT_EQ(keys_there(), 11) << "something was left behind";
}

// Nor of one that was found later than the one that was to be replaced: at the claim, or behind it.
TEST_F(ModuleCopies, TakeNoPlaceOfAnotherRecord) {
  auto b = open("b");
  const std::string record = b.record_key(), found = module_server().get(record);
  make("c", next_.views);
  for (const std::string& other :
       {std::string("a text"), module_server().get(open("c").record_key()), std::string()})
    for (const bool claiming : {true, false}) {
      if (other.empty() && !claiming) continue;  // what was removed is not put back
      Scripted node(module_server().path());
      bool put = false;
      node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
        if (claiming ? words[0] == "SET"
                     : words[0] == "EVAL" && words[2] == "2" && words[4] == record) {
          put = true;
          other.empty() ? module_server().ask({"DEL", record})
                        : module_server().ask({"SET", record, other});
        }
        return std::nullopt;
      });
      error_of([&] { store("b", {"a"}, true, {.port = node.port()}); }, ErrorCode::unavailable);
      EXPECT_TRUE(put);
      EXPECT_EQ(module_server().get(record), other);
      module_server().ask({"SET", record, found});
      EXPECT_EQ(b.may_contain_many(next_.views), next_.views.size());
      EXPECT_EQ(keys_there(), 12) << "something was left behind";
    }
}

// Only a full shard gets its markers in another way.
TEST_F(ModuleCopies, SayWhyAMarkerIsRefused) {
  const std::string refusal = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";
  for (const auto& [reply, code] :
       {std::pair("*1\r\n" + refusal, ErrorCode::no_space), std::pair(refusal, ErrorCode::no_space),
        std::pair(std::string("+OK\r\n"), ErrorCode::io)}) {
    Scripted node(module_server().path());
    node.say([&reply = reply](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] != "BF.INSERT") return std::nullopt;
      return reply;
    });
    const std::string text =
        error_of([&] { store("c", {"a"}, false, {.port = node.port()}); }, code);
    EXPECT_EQ(text.find("maxmemory") == std::string::npos, code == ErrorCode::io) << text;
    EXPECT_EQ(keys_there(), 8) << "something was left behind";
  }
}

TEST_F(ModuleCopies, AreNotMergedByAModuleThatCannot) {
  for (const auto& [text, code] :
       {std::pair("Unknown Redis command called from script", ErrorCode::wrong_kind),
        std::pair("Unknown command called", ErrorCode::wrong_kind),
        std::pair("the filters differ in their parameters", ErrorCode::mismatch),
        std::pair("something else", ErrorCode::io)}) {
    Scripted node(module_server().path());
    node.say([text = text](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] != "EVAL" || words[1].find("BF.MERGE") == std::string::npos) return std::nullopt;
      return std::string("-ERR ").append(text).append("\r\n");
    });
    error_of([&] { store("x", {"a", "b"}, false, {.port = node.port()}); }, code);
    EXPECT_EQ(keys_there(), 8) << "something was left behind";
  }
}

// A shard that is full gets its markers from an empty filter beside it, and only if that can be made and take them.
TEST_F(ModuleCopies, OfAFullShardSayWhatItWouldTake) {
  const struct {
    const char *insert, *make_empty;
    ErrorCode code;
    const char* says;
  } cases[] = {
      {"-ERR not found\r\n", nullptr, ErrorCode::no_space, "dropped the new key"},
      {"*1\r\n-ERR the filter is full\r\n", ":-1\r\n", ErrorCode::no_space, "dropped the new key"},
      {"*1\r\n-ERR the filter is full\r\n", "-ERR Unknown Redis command called\r\n",
       ErrorCode::no_space, "load bloomery.so into the server"},
      {"*1\r\n-ERR the filter is full\r\n", "-NOPERM no\r\n", ErrorCode::denied, "NOPERM"},
      {"*1\r\n-ERR the filter is full\r\n", "+OK\r\n", ErrorCode::no_space,
       "no room for the marker items"},
      {"*2\r\n:1\r\n-ERR odd\r\n", nullptr, ErrorCode::io, "odd"},
  };
  for (const auto& each : cases) {
    Scripted node(module_server().path());
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] == "BF.INSERT") return each.insert;
      if (each.make_empty != nullptr && words[0] == "EVAL" &&
          words[1].find("BF.CLEAR") != std::string::npos)
        return each.make_empty;
      return std::nullopt;
    });
    expect_error(each.code, {each.says, std::to_string(node.port()) + " 'x:{0}'"},
                 [&] { store("x", {"a"}, false, {.port = node.port()}); });
    EXPECT_EQ(keys_there(), 8) << "something was left behind";
  }
}

TEST_F(ModuleCopies, LeaveWhatTheyMayNotRemoveToExpire) {
  Scripted node(module_server().path());
  node.say([](const Scripted::Words& words) -> std::optional<std::string> {
    return words[0] == "UNLINK" ? std::optional<std::string>("-NOPERM no\r\n") : std::nullopt;
  });
  store("both", {"a", "b"}, false, {.port = node.port()});
  auto both = open("both");
  EXPECT_EQ(both.may_contain_many(old_.views) + both.may_contain_many(next_.views), 6'000U);
  const detail::Reply left = module_server().ask({"KEYS", "*-*"});
  EXPECT_GE(left->elements, 3U);
  for (std::size_t i = 0; i < left->elements; ++i)
    EXPECT_GT(module_server().ask({"TTL", left->element[i]->str})->integer, 0);
}

TEST_F(ModuleCopies, AreNotMadeWhereAFilterIsBeingMade) {
  module_server().ask({"SET", "x:{0}:shards",
                       "\x89"
                       "BLC\r\n\x1A\n12345678"});
  for (const bool replace : {false, true})
    expect_error(ErrorCode::locked, {" 'x:{0}:shards'"}, [&] { store("x", {"a"}, replace); });
}

TEST_F(ModuleCopies, UnderOneKeyAreOfOneSuchFilter) {
  const RedisAddress& at = module_server().address();
  auto one = ModuleFilter::create({at, "one"}, {.capacity = 3'000, .fpr = 0.001});
  one.insert_many(old_.views);
  auto shards = open("a");
  const auto copy = [&](const std::vector<ModuleFilter*>& sources, std::optional<std::uint32_t> in,
                        bool replace = false) {
    ModuleFilter::store({at, "copy", in}, sources, replace);
  };
  const auto refused = [&](const std::vector<ModuleFilter*>& sources,
                           std::optional<std::uint32_t> in, const char* says) {
    expect_error(ErrorCode::wrong_kind, {says}, [&] { copy(sources, in); });
  };
  refused({&one, &one}, {}, "BF.MERGE on their server");
  refused({&shards}, {}, "is copied from one such filter");
  refused({&one}, 3, "is only made of such filters");
  refused({&shards, &one}, 3, "is only made of such filters");
  copy({&one}, {});
  EXPECT_EQ(ModuleFilter::open({at, "copy"}).may_contain_many(old_.views), old_.views.size());
  error_of([&] { copy({&one}, {}); }, ErrorCode::exists);
  copy({&one}, {}, true);
}

// A reply to DUMP may be one of any key.
TEST_F(ModuleCopies, AreRestoredFromFiltersAlone) {
  const RedisAddress& at = module_server().address();
  ModuleFilter::create({at, "one"}, {.capacity = 3'000, .fpr = 0.001}).insert_many(old_.views);
  module_server().ask({"SET", "text", "a text"});
  const auto restore = [&](const char* key) {
    const detail::Reply dumped = module_server().ask({"DUMP", key});
    ModuleLoader loader({at, "restored"});
    loader.restore({dumped->str, dumped->len});
    loader.publish();
  };
  error_of([&] { restore("text"); }, ErrorCode::not_a_filter);
  EXPECT_EQ(keys_there(), 8 + 2) << "something was left behind";
  restore("one");
  EXPECT_EQ(ModuleFilter::open({at, "restored"}).may_contain_many(old_.views), old_.views.size());
  error_of([&] { ModuleLoader({at, "restored", 0}); }, ErrorCode::wrong_kind);
}

// Another in a shard's place for one chunk alone, as where a writer fails and puts back.
TEST_F(ModuleCopies, HaveNoChunkOfAnotherFilter) {
  const NumberedKeys keys("grown:", 5'000), others("other:", 5'000);
  const auto grown = [](const char* name, const NumberedKeys& with) {
    auto filter =
        ModuleFilter::create({module_server().address(), name, 1}, {.capacity = 300, .fpr = 0.001});
    filter.insert_many(with.views);
    return filter;
  };
  const std::string key = grown("grown", keys).keys()[0], other = grown("other", others).keys()[0];
  for (int swapped = 1; swapped <= 5; ++swapped) {  // the header, and one of four links
    Scripted node(module_server().path());
    auto source = ModuleFilter::open({{.port = node.port()}, "grown", 0});
    const auto rename = [](const std::string& from, const std::string& to) {
      module_server().ask({"RENAME", from, to});
    };
    const auto put_back = [&] {
      rename(key, other);
      rename("aside", key);
    };
    int dumps = 0;
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] != "EXEC") return std::nullopt;
      if (++dumps == swapped) {
        rename(key, "aside");
        rename(other, key);
      } else if (dumps == swapped + 1) {
        put_back();
      }
      return std::nullopt;
    });
    ModuleFilter* from = &source;
    expect_error(ErrorCode::missing, {}, [&] {
      ModuleFilter::store({module_server().address(), "copy", 0}, {&from, 1});
    });
    EXPECT_EQ(dumps, swapped);
    EXPECT_EQ(module_server().ask({"KEYS", "copy*"})->elements, 0U) << "something was left behind";
    put_back();
  }
  ModuleFilter source = open("grown");
  ModuleFilter* from = &source;
  ModuleFilter::store({module_server().address(), "copy", 0}, {&from, 1});
  EXPECT_EQ(open("copy").may_contain_many(keys.views), keys.views.size());
}

TEST_F(ModuleCopies, OfAShardThatIsAnotherFilterAreAnError) {
  auto a = open("a");
  const auto b = open("b");
  module_server().ask({"COPY", b.keys()[1], a.keys()[1], "REPLACE"});
  ModuleFilter* source = &a;
  expect_error(ErrorCode::missing, {}, [&] {
    ModuleFilter::store({module_server().address(), "x", 0}, {&source, 1});
  });
  EXPECT_EQ(keys_there(), 8) << "something was left behind";
}

}  // namespace
}  // namespace bloomery::test
