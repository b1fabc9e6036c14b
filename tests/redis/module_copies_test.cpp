// A copy of a filter in shards of a module has all keys of its sources, or is not there; and what had
// its name before is there until then.
#include <bloomery/filter.hpp>
#include <bloomery/module_dump.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redis/module_copies.hpp"
#include "redis/node_pair.hpp"
#include "redis/scripted.hpp"

namespace bloomery {
namespace {

using test::error_of;
using test::module_server;
using test::NumberedKeys;
using test::Scripted;

class ModuleCopies : public test::ModuleCopies {};

// The server that answers next may be a replica that took over, and lack a chunk that the one before has acknowledged.
TEST_F(ModuleCopies, OfChunksAreNotPublishedAfterALostConnection) {
  Scripted node(module_server().path());
  const Filter filter(plan(10'000, 0.01));
  const std::string half(filter.bytes().size() / 2, '\x55');
  for (const bool goes_on : {true, false}) {
    ModuleLoader loader({{.port = node.port()}, "loaded"});
    loader.load({1, module_header(filter.plan(), filter.hasher(), 0)});
    node.say([](const Scripted::Words& words) {
      return words[0] == "BF.LOADCHUNK" ? std::optional<std::string>("") : std::nullopt;
    });
    error_of([&] { loader.load({1 + half.size(), half}); }, ErrorCode::unavailable);
    node.say({});
    const std::string message = error_of(
        [&] {
          if (goes_on) loader.load({1 + 2 * half.size(), half});
          if (!goes_on) loader.publish();
        },
        ErrorCode::unavailable);
    EXPECT_NE(message.find("run it again"), std::string::npos) << message;
  }
  EXPECT_EQ(module_server().ask({"EXISTS", "loaded"})->integer, 0);
}

TEST_F(ModuleCopies, HaveTheKeysAndTheMarkersOfAll) {
  store("copy", {"a"});
  store("both", {"a", "b", "a"});
  EXPECT_EQ(open("copy").may_contain_many(old_.views), old_.views.size());
  EXPECT_LT(open("copy").may_contain_many(next_.views), 30U);
  // A marker that was falsely there is no item more.
  EXPECT_NEAR(static_cast<double>(open("copy").info().items),
              static_cast<double>(open("a").info().items), 10);
  auto both = open("both");
  EXPECT_EQ(both.may_contain_many(old_.views) + both.may_contain_many(next_.views), 6'000U);
  EXPECT_TRUE(both.insert("one more"));
  EXPECT_EQ(keys_there(), 4 * 4) << "something was left behind";
  for (const std::string& key : both.keys())
    EXPECT_EQ(module_server().ask({"PTTL", key})->integer, -1) << "it would expire";
  error_of([] { store("both", {"b"}); }, ErrorCode::exists);
  // The number of shards is the sources', and may be named.
  auto source = open("a");
  ModuleFilter* const one[] = {&source};
  ModuleFilter::store({module_server().address(), "named", 3}, one);
  EXPECT_EQ(open("named").may_contain_many(old_.views), old_.views.size());
  error_of(
      [&] {
        ModuleFilter::store({module_server().address(), "x", 2}, one);
      },
      ErrorCode::mismatch);
  auto other = ModuleFilter::create({module_server().address(), "other", 4},
                                    {.capacity = 3'000, .fpr = 0.001});
  error_of([] { store("x", {"a", "other"}); }, ErrorCode::mismatch);
  error_of([] { store("other", {"a"}, true); }, ErrorCode::mismatch);
  error_of(
      [] {
        ModuleFilter::store({module_server().address(), "x", 0}, {});
      },
      ErrorCode::invalid_argument);
}

// A new node that is a replica that took over may lack what the old one has acknowledged.
TEST_F(ModuleCopies, WhoseSlotMovesMeanwhileAreAnError) {
  Scripted first(module_server().path()), second(module_server().path());
  const std::string slots = test::all_slots_at(first.port());
  const std::string moved = "-MOVED 1 127.0.0.1:" + std::to_string(second.port()) + "\r\n";
  auto source = open("a");
  ModuleFilter* const one[] = {&source};
  int errors = 0;
  long long published = 0;
  bool sent_on = true;
  // The slots move after so many commands.
  for (int calls = 0; sent_on; ++calls) {
    SCOPED_TRACE(calls);
    const std::string name = "copy-" + std::to_string(calls);
    int left = calls;
    sent_on = false;
    bool put_there = false;
    first.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] == "CLUSTER") return slots;
      if (left > 0) {
        --left;
        return std::nullopt;
      }
      sent_on = true;
      return moved;
    });
    second.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      for (const char* moves : {"'RENAME'", "'SET'"})
        put_there = put_there || (words[0] == "EVAL" && words[1].find(moves) != std::string::npos);
      return std::nullopt;
    });
    try {
      ModuleFilter::store({{.port = first.port()}, name, 0}, one);
      EXPECT_TRUE(!put_there || errors == 0) << "the new node got a part without a word";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable);
      EXPECT_NE(std::string(error.what()).find("run it again"), std::string::npos) << error.what();
      ++errors;
      published += module_server().ask({"EXISTS", name + ":{0}:shards"})->integer;
    }
  }
  EXPECT_GT(errors, 10);
  EXPECT_EQ(published, 0);
}

TEST_F(ModuleCopies, ReplaceAFilterWholeOrNotAtAll) {
  auto before = open("b");
  store("b", {"a"}, true);
  EXPECT_EQ(open("b").may_contain_many(old_.views), old_.views.size());
  error_of([&] { (void)before.may_contain_many(next_.views); }, ErrorCode::missing);
  EXPECT_EQ(keys_there(), 8);
  // A copy may take the place of what it was copied from.
  auto source = open("a");
  store("a", {"b"}, true);
  EXPECT_EQ(open("a").may_contain_many(old_.views), old_.views.size());
  const auto text =
      error_of([&] { (void)source.may_contain_many(old_.views); }, ErrorCode::mismatch);
  EXPECT_NE(text.find("was replaced by a copy of the filter; open it again"), std::string::npos);
  error_of([&] { (void)source.insert("x"); }, ErrorCode::mismatch);
  error_of([&] { (void)source.info(); }, ErrorCode::mismatch);

  // Where one shard's key has something else, the others come back.
  make("c", next_.views);
  auto c = open("c");
  module_server().ask({"RENAME", c.keys()[2], "aside"});
  module_server().ask({"SET", c.keys()[2], "text"});
  error_of([] { store("c", {"a"}, true); }, ErrorCode::exists);
  EXPECT_EQ(module_server().get(c.keys()[2]), "text");
  module_server().ask({"RENAME", "aside", c.keys()[2]});
  EXPECT_EQ(c.may_contain_many(next_.views), next_.views.size());
  EXPECT_EQ(open("c").may_contain_many(next_.views), next_.views.size());
  for (const std::string& key : c.keys())
    EXPECT_EQ(module_server().ask({"PTTL", key})->integer, -1);
  EXPECT_EQ(keys_there(), 12) << "something was left behind";

  // What one that was killed half way has left is in the way of none that does the same again.
  module_server().ask({"COPY", open("a").keys()[1], c.keys()[1], "REPLACE"});
  error_of([] { open("c"); }, ErrorCode::missing);
  store("c", {"a"}, true);
  EXPECT_EQ(open("c").may_contain_many(old_.views), old_.views.size());
  EXPECT_EQ(keys_there(), 12) << "something was left behind";
}

TEST_F(ModuleCopies, TakeNoShardWithKeysThatNobodySpeaksFor) {
  const auto b = open("b");
  module_server().ask({"DEL", b.record_key()});
  error_of([] { store("b", {"a"}); }, ErrorCode::exists);
  for (const std::string& key : b.keys())
    EXPECT_EQ(module_server().ask({"EXISTS", key})->integer, 1);
  EXPECT_EQ(keys_there(), 7) << "something was left behind";
  // Also where they are of the filter itself, and have its markers.
  const auto a = open("a");
  store("copy", {"a"});
  module_server().ask({"DEL", a.record_key()});
  module_server().ask({"DEL", a.keys()[2]});
  error_of([] { store("a", {"copy"}); }, ErrorCode::exists);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(module_server().ask({"EXISTS", a.keys()[i]})->integer, 1) << i;
  error_of([] { store("a", {"copy"}, true); }, ErrorCode::exists);
  EXPECT_EQ(keys_there(), 9) << "something was left behind";
}

TEST_F(ModuleCopies, TakeNoShardOfAClientWhoseRecordWasLost) {
  auto client = open("a");
  store("both", {"b", "a"});
  module_server().ask({"DEL", client.record_key()});
  EXPECT_TRUE(client.insert("a late key"));
  error_of([] { store("a", {"both"}, true); }, ErrorCode::exists);
  EXPECT_TRUE(client.may_contain("a late key"));
  EXPECT_EQ(keys_there(), 11) << "something was left behind";
}

// A server that is full evicts what expires; the module's BF.MERGE would begin a new filter there.
TEST_F(ModuleCopies, MissNoShardThatTheServerDropsBeforeAMerge) {
  Scripted node(module_server().path());
  make("c", next_.views);
  for (const char* name : {"c", "x"}) {  // over another and not
    bool dropped = false;
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (dropped || (words[0] != "BF.MERGE" &&
                      (words[0] != "EVAL" || words[1].find("BF.MERGE") == std::string::npos)))
        return std::nullopt;
      dropped = true;
      EXPECT_EQ(module_server().ask({"DEL", words[words[0] == "EVAL" ? 3 : 1]})->integer, 1);
      return std::nullopt;
    });
    const auto text = error_of(
        [&] {
          store(name, {"b", "a", "b"}, true, {.port = node.port()});
        },
        ErrorCode::no_space);
    EXPECT_TRUE(dropped);
    EXPECT_NE(text.find("dropped the new key"), std::string::npos) << text;
    EXPECT_EQ(open("c").may_contain_many(next_.views), next_.views.size());
    EXPECT_EQ(keys_there(), 12) << "something was left behind";
  }
}

TEST_F(ModuleCopies, MissNoSourceThatTheServerDropsBeforeAMerge) {
  Scripted node(module_server().path());
  bool dropped = false;
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (!dropped && words[0] == "EVAL" && words[1].find("BF.MERGE") != std::string::npos)
      dropped = module_server().ask({"DEL", words[4]})->integer == 1;
    return std::nullopt;
  });
  const auto text = error_of(
      [&] {
        store("x", {"a", "b"}, false, {.port = node.port()});
      },
      ErrorCode::no_space);
  EXPECT_TRUE(dropped);
  EXPECT_NE(text.find("dropped the new key"), std::string::npos) << text;
  EXPECT_EQ(keys_there(), 8) << "something was left behind";
}

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
  Scripted node(module_server().path());
  node.say([](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] != "BF.INSERT") return std::nullopt;
    return "*1\r\n-OOM command not allowed when used memory > 'maxmemory'.\r\n";
  });
  const std::string text =
      error_of([&] { store("c", {"a"}, false, {.port = node.port()}); }, ErrorCode::no_space);
  EXPECT_NE(text.find("maxmemory"), std::string::npos) << text;
  EXPECT_EQ(keys_there(), 8) << "something was left behind";
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
    const std::string text =
        error_of([&] { store("x", {"a"}, false, {.port = node.port()}); }, each.code);
    EXPECT_NE(text.find(each.says), std::string::npos) << text;
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
    error_of([&] { store("x", {"a"}, replace); }, ErrorCode::locked);
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
    const std::string text = error_of([&] { copy(sources, in); }, ErrorCode::wrong_kind);
    EXPECT_NE(text.find(says), std::string::npos) << text;
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
    error_of(
        [&] {
          ModuleFilter::store({module_server().address(), "copy", 0}, {&from, 1});
        },
        ErrorCode::missing);
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
  error_of(
      [&] {
        ModuleFilter::store({module_server().address(), "x", 0}, {&source, 1});
      },
      ErrorCode::missing);
  EXPECT_EQ(keys_there(), 8) << "something was left behind";
}

}  // namespace
}  // namespace bloomery
