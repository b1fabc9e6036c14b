// A copy of a filter in shards of a module has all keys of its sources, or is not there; and what had
// its name before is there until then.
#include <bloomery/filter.hpp>
#include <bloomery/module_dump.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redis/module_copies.hpp"
#include "redis/node_pair.hpp"
#include "redis/scripted.hpp"

namespace bloomery::test {
namespace {

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
    expect_error(ErrorCode::unavailable, {"run it again"}, [&] {
      if (goes_on) loader.load({1 + 2 * half.size(), half});
      if (!goes_on) loader.publish();
    });
  }
  EXPECT_EQ(module_server().ask({"EXISTS", "loaded"})->integer, 0);
}

// Such a server may lack a chunk that it has acknowledged, although no connection was lost.
TEST_F(ModuleCopies, AreNotPublishedByAServerThatWasAReplicaMeanwhile) {
  Scripted node(module_server().path());
  const RedisAddress through{.port = node.port()};
  const Filter filter(plan(10'000, 0.01));
  const auto bits = filter.bytes();
  bool done = true;
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "BF.LOADCHUNK" && words[2] != "1" && !std::exchange(done, true))
      module_server().become_replica_and_master_again();
    return std::nullopt;
  });
  const std::vector<std::function<void()>> calls = {
      [&] {
        ModuleLoader loader({through, "loaded"}, true);
        loader.load({1, module_header(filter.plan(), filter.hasher(), 0)});
        loader.load({1 + bits.size(), {reinterpret_cast<const char*>(bits.data()), bits.size()}});
        loader.publish();
      },
      [&] { store("copy", {"a"}, true, through); }};
  for (const auto& call : calls) {
    call();
    const auto there = keys_there();
    done = false;
    expect_error(ErrorCode::unavailable, {"run it again"}, call);
    EXPECT_TRUE(done);
    EXPECT_EQ(keys_there(), there) << "something was left behind";
  }
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
  module_server().expect_to_keep(both);
  error_of([] { store("both", {"b"}); }, ErrorCode::exists);
  // The number of shards is the sources', and may be named.
  auto source = open("a");
  ModuleFilter* const one[] = {&source};
  ModuleFilter::store({module_server().address(), "named", 3}, one);
  EXPECT_EQ(open("named").may_contain_many(old_.views), old_.views.size());
  expect_error(ErrorCode::mismatch, {}, [&] {
    ModuleFilter::store({module_server().address(), "x", 2}, one);
  });
  auto other = ModuleFilter::create({module_server().address(), "other", 4},
                                    {.capacity = 3'000, .fpr = 0.001});
  error_of([] { store("x", {"a", "other"}); }, ErrorCode::mismatch);
  error_of([] { store("other", {"a"}, true); }, ErrorCode::mismatch);
  expect_error(ErrorCode::invalid_argument, {}, [] {
    ModuleFilter::store({module_server().address(), "x", 0}, {});
  });
}

// A new node that is a replica that took over may lack what the old one has acknowledged.
TEST_F(ModuleCopies, WhoseSlotMovesMeanwhileAreAnError) {
  Scripted first(module_server().path()), second(module_server().path());
  const std::string slots = all_slots_at(first.port());
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
  module_server().expect_to_keep(c);
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

}  // namespace
}  // namespace bloomery::test
