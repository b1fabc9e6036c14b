// A filter in shards of module filters: its record and its marks let no shard go missing unseen.
#include <bloomery/sharded_module_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/module_record.hpp"
#include "redis/scripted.hpp"
#include "redis/server.hpp"
#include "redis/shard_of.hpp"

namespace bloomery {
namespace {

using test::error_of;
using test::Scripted;
using test::Server;

Server& server() {
  static Server one({"--loadmodule", test::module_file()});
  return one;
}

struct Keys {
  Keys(const std::string& prefix, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) texts.push_back(prefix + std::to_string(i));
    views.assign(texts.begin(), texts.end());
  }
  std::vector<std::string> texts;
  std::vector<std::string_view> views;
};

TEST(ShardedModuleFilter, TellsNewAbsentAndHowMany) {
  auto filter = ShardedModuleFilter::create(server().address(), "first",
                                            {.capacity = 20'000, .rate = 0.01}, 5);
  EXPECT_FALSE(filter.may_contain("a key"));
  EXPECT_TRUE(filter.insert("a key"));
  EXPECT_FALSE(filter.insert("a key"));
  EXPECT_TRUE(filter.may_contain("a key"));
  EXPECT_EQ(filter.items(), 1U);
  const Keys keys("present:", 20'000);
  const auto answers = std::make_unique<bool[]>(keys.views.size());
  const std::span<bool> answer(answers.get(), keys.views.size());
  const std::size_t fresh = filter.insert_many(keys.views, answer);
  EXPECT_EQ(fresh, static_cast<std::size_t>(std::count(answer.begin(), answer.end(), true)));
  EXPECT_GT(fresh, 19'800U);
  EXPECT_EQ(filter.acknowledged(), keys.views.size());
  EXPECT_EQ(filter.items(), fresh + 1);

  auto other = ShardedModuleFilter::open(server().address(), "first");
  EXPECT_EQ(other.plan(), filter.plan());
  EXPECT_EQ(other.keys(), filter.keys());
  EXPECT_EQ(other.may_contain_many(keys.views, answer), keys.views.size());
  EXPECT_TRUE(std::all_of(answer.begin(), answer.end(), [](bool each) { return each; }));
  // 200 of 20,000 at 1 %, standard deviation 14; a filter that grows is below its rate.
  EXPECT_LT(other.may_contain_many(Keys("absent:", 20'000).views), 300U);
  EXPECT_EQ(other.insert_many({}), 0U);
}

TEST(ShardedModuleFilter, TheStatedRateHoldsAtCapacityInFiltersThatDoNotGrow) {
  // 600,000 absent keys at 1 %: 6000, +10 % is 7.7 standard deviations. Shards have room for 7
  // deviations of their load, so that the measured rate is far below; a shard's hash that was not
  // independent of the module's would put it near 1.
  auto filter = ShardedModuleFilter::create(server().address(), "fixed",
                                            {.capacity = 30'000, .rate = 0.01, .expansion = 0}, 6);
  filter.insert_many(Keys("present:", 30'000).views);
  const std::size_t found = filter.may_contain_many(Keys("absent:", 600'000).views);
  EXPECT_LT(found, 6'600U);
  EXPECT_GT(found, 2'000U) << "the shards are unequally used, or far too large";
}

TEST(ShardedModuleFilter, AFullShardSaysSo) {
  auto filter = ShardedModuleFilter::create(server().address(), "full",
                                            {.capacity = 100, .rate = 0.01, .expansion = 0}, 2);
  const Keys keys("key:", 1'000);
  EXPECT_NE(error_of([&] { filter.insert_many(keys.views); }, ErrorCode::no_space)
                .find("make a larger filter"),
            std::string::npos);
  const std::size_t done = filter.acknowledged();
  EXPECT_EQ(filter.may_contain_many(std::span(keys.views).first(done)), done);
}

TEST(ShardedModuleFilter, IsMadeOnceAndWhole) {
  const auto make = [](std::uint32_t shards) {
    return ShardedModuleFilter::create(server().address(), "made",
                                       {.capacity = 1'000, .rate = 0.01}, shards);
  };
  const auto made = make(4);
  error_of([&] { make(4); }, ErrorCode::exists);
  error_of([&] { make(7); }, ErrorCode::exists);
  error_of([] { ShardedModuleFilter::open(server().address(), "never"); }, ErrorCode::missing);

  // The record is gone, the shards are as a maker leaves them that dies: they are taken over.
  server().ask({"DEL", made.record_key()});
  error_of([] { ShardedModuleFilter::open(server().address(), "made"); }, ErrorCode::missing);
  auto again = make(4);
  again.insert("a key");
  // With a key in one of them they are not, and what was begun is taken back.
  server().ask({"DEL", again.record_key()});
  error_of([&] { make(4); }, ErrorCode::exists);
  EXPECT_EQ(server().ask({"EXISTS", again.record_key()})->integer, 0);
  for (const std::string& key : again.keys()) server().ask({"DEL", key});
  server().ask({"SET", again.keys()[3], "something"});
  error_of([&] { make(4); }, ErrorCode::exists);
  EXPECT_EQ(server().get(again.keys()[3]), "something");
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(server().ask({"EXISTS", again.keys()[i]})->integer, 0);
  server().ask({"DEL", again.keys()[3]});
  // Someone else's filter that is nearly empty is not a maker's leaving.
  server().ask({"BF.ADD", again.keys()[2], "theirs"});
  error_of([&] { make(4); }, ErrorCode::exists);
  EXPECT_EQ(server().ask({"BF.EXISTS", again.keys()[2], "theirs"})->integer, 1);
  // Another is at it.
  server().ask({"SET", again.record_key(),
                "\x89"
                "BLC\r\n\x1A\n12345678",
                "PX", "60000"});
  error_of([&] { make(4); }, ErrorCode::locked);
  error_of([] { ShardedModuleFilter::open(server().address(), "made"); }, ErrorCode::locked);
}

TEST(ShardedModuleFilter, NoShardCanBeMissedUnseen) {
  const auto address = server().address();
  auto filter = ShardedModuleFilter::create(address, "gone", {.capacity = 1'000, .rate = 0.001}, 3);
  const Keys keys("key:", 300);
  filter.insert_many(keys.views);
  const auto refused = [&] {
    error_of([&] { (void)filter.may_contain_many(keys.views); }, ErrorCode::missing);
    EXPECT_LT(filter.acknowledged(), keys.views.size());
    error_of([&] { filter.insert_many(keys.views); }, ErrorCode::missing);
    // And again: an insert has not made another's filter look like ours.
    error_of([&] { (void)filter.may_contain_many(keys.views); }, ErrorCode::missing);
    error_of([&] { (void)filter.items(); }, ErrorCode::missing);
    error_of([&] { ShardedModuleFilter::open(address, "gone"); }, ErrorCode::missing);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string& key = filter.keys()[i];
    server().ask({"RENAME", key, "kept"});
    refused();
    EXPECT_EQ(server().ask({"EXISTS", key})->integer, 0) << "an insert has made a filter";
    server().ask({"BF.ADD", key, "anything"});  // what any client does
    refused();
    server().ask({"COPY", filter.keys()[(i + 1) % 3], key, "REPLACE"});
    refused();
    server().ask({"RENAME", "kept", key});
    EXPECT_EQ(filter.may_contain_many(keys.views), keys.views.size());
  }
  server().ask({"SET", filter.keys()[1], "a string"});
  // The module takes it for an absent filter where it is asked, and refuses it where it inserts.
  error_of([&] { (void)filter.may_contain_many(keys.views); }, ErrorCode::missing);
  error_of([&] { filter.insert_many(keys.views); }, ErrorCode::not_a_filter);
}

TEST(ShardedModuleFilter, AServerWithoutTheModuleSaysSo) {
  const Server plain;
  EXPECT_NE(error_of(
                [&] {
                  ShardedModuleFilter::create(plain.address(), "none",
                                              {.capacity = 100, .rate = 0.01}, 2);
                },
                ErrorCode::io)
                .find("lacks a module"),
            std::string::npos);
  EXPECT_EQ(plain.ask({"DBSIZE"})->integer, 0);
  error_of([&] { ShardedModuleFilter::create(plain.address(), "none", {.rate = 0.01}); },
           ErrorCode::invalid_argument);
  error_of([&] { ShardedModuleFilter::create(plain.address(), "none", {.capacity = 5}); },
           ErrorCode::invalid_argument);
}

TEST(ModuleRecord, RefusesEveryChangedByte) {
  const detail::ModuleRecord record{
      .plan = {.capacity = 1'000, .rate = 0.01, .expansion = 4}, .shards = 3, .identity = {1, 2}};
  const std::string whole = detail::encode_module_record(record);
  EXPECT_EQ(detail::decode_module_record(whole, "it").plan, record.plan);
  EXPECT_EQ(detail::decode_module_record(whole, "it").shards, 3U);
  EXPECT_EQ(detail::decode_module_record(whole, "it").identity, record.identity);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    EXPECT_THROW((void)detail::decode_module_record(changed, "it"), Error) << i;
    EXPECT_THROW((void)detail::decode_module_record(whole.substr(0, i), "it"), Error) << i;
  }
}

TEST(ModuleRecord, IsTheSameForEver) {
  const detail::ModuleRecord record{.plan = {.capacity = 1'000, .rate = 0.25, .expansion = 4},
                                    .shards = 3,
                                    .identity = {'i', 'd', 'e', 'n', 't', 'i', 't', 'y'}};
  std::string hex;
  for (const char byte : detail::encode_module_record(record).substr(0, 72)) {
    std::array<char, 3> two;
    std::snprintf(two.data(), two.size(), "%02x", static_cast<unsigned char>(byte));
    hex += two.data();
  }
  EXPECT_EQ(hex,
            "89424c460d0a1a0a"
            "0100"
            "0000"
            "03000000"
            "e803000000000000"
            "000000000000d03f"
            "04000000"
            "00000000000000000000000000000000000000000000000000000000"
            "6964656e74697479");
  // 16 / log10(4) marks of 24 bytes, and room for 7 deviations more than a third.
  EXPECT_EQ(record.marks(2).size(), 27U);
  EXPECT_EQ(record.marks(2)[1], std::string("\x89"
                                            "BLF\r\n\x1A\nidentity\2\0\0\0\1\0\0\0",
                                            24));
  EXPECT_EQ(record.capacity_of_each(), 334U + 128 + 30 + 27 + 1);
  EXPECT_EQ(detail::in_shard(detail::shard_hasher()("a key"), 1'000).shard, 354U);
}

// ---- copies ---------------------------------------------------------------------------------------

class ModuleCopies : public testing::Test {
 protected:
  ModuleCopies() : old_("old:", 3'000), next_("next:", 3'000) {
    server().ask({"FLUSHALL"});
    make("a", old_.views);
    make("b", next_.views);
  }
  static ShardedModuleFilter make(const char* name, std::span<const std::string_view> keys) {
    auto filter = ShardedModuleFilter::create(server().address(), name,
                                              {.capacity = 3'000, .rate = 0.001}, 3);
    filter.insert_many(keys);
    return filter;
  }
  static ShardedModuleFilter open(const char* name) {
    return ShardedModuleFilter::open(server().address(), name);
  }
  static void store(const char* name, std::initializer_list<const char*> from,
                    bool replace = false) {
    std::vector<ShardedModuleFilter> sources;
    std::vector<ShardedModuleFilter*> each;
    for (const char* source : from) sources.push_back(open(source));
    for (ShardedModuleFilter& source : sources) each.push_back(&source);
    ShardedModuleFilter::store(server().address(), name, each, replace);
  }
  static long long keys_there() { return server().ask({"DBSIZE"})->integer; }

  Keys old_, next_;
};

TEST_F(ModuleCopies, HaveTheKeysAndTheMarksOfAll) {
  store("copy", {"a"});
  store("both", {"a", "b", "a"});
  EXPECT_EQ(open("copy").may_contain_many(old_.views), old_.views.size());
  EXPECT_LT(open("copy").may_contain_many(next_.views), 30U);
  EXPECT_EQ(open("copy").items(), open("a").items());
  auto both = open("both");
  EXPECT_EQ(both.may_contain_many(old_.views) + both.may_contain_many(next_.views), 6'000U);
  EXPECT_TRUE(both.insert("one more"));
  EXPECT_EQ(keys_there(), 4 * 4) << "something was left behind";
  for (const std::string& key : both.keys())
    EXPECT_EQ(server().ask({"PTTL", key})->integer, -1) << "it would expire";
  error_of([] { store("both", {"b"}); }, ErrorCode::exists);
  auto other = ShardedModuleFilter::create(server().address(), "other",
                                           {.capacity = 3'000, .rate = 0.001}, 4);
  error_of([] { store("x", {"a", "other"}); }, ErrorCode::mismatch);
  error_of([] { store("other", {"a"}, true); }, ErrorCode::mismatch);
  error_of([] { ShardedModuleFilter::store(server().address(), "x", {}); },
           ErrorCode::invalid_argument);
}

TEST_F(ModuleCopies, ReplaceAFilterWholeOrNotAtAll) {
  auto before = open("b");
  store("b", {"a"}, true);
  EXPECT_EQ(open("b").may_contain_many(old_.views), old_.views.size());
  error_of([&] { (void)before.may_contain_many(next_.views); }, ErrorCode::missing);
  EXPECT_EQ(keys_there(), 8);
  // A copy cannot be told from what it was copied from, and may not take its place.
  error_of([] { store("a", {"b"}, true); }, ErrorCode::exists);
  EXPECT_EQ(open("a").may_contain_many(old_.views), old_.views.size());

  // Where one shard's key has something else, the others come back.
  make("c", next_.views);
  auto c = open("c");
  server().ask({"RENAME", c.keys()[2], "aside"});
  server().ask({"SET", c.keys()[2], "text"});
  error_of([] { store("c", {"a"}, true); }, ErrorCode::exists);
  EXPECT_EQ(server().get(c.keys()[2]), "text");
  server().ask({"RENAME", "aside", c.keys()[2]});
  EXPECT_EQ(c.may_contain_many(next_.views), next_.views.size());
  EXPECT_EQ(open("c").may_contain_many(next_.views), next_.views.size());
  for (const std::string& key : c.keys()) EXPECT_EQ(server().ask({"PTTL", key})->integer, -1);
  EXPECT_EQ(keys_there(), 12) << "something was left behind";
}

TEST_F(ModuleCopies, TakeNoShardWithKeysThatNobodySpeaksFor) {
  const auto b = open("b");
  server().ask({"DEL", b.record_key()});
  error_of([] { store("b", {"a"}); }, ErrorCode::exists);
  for (const std::string& key : b.keys()) EXPECT_EQ(server().ask({"EXISTS", key})->integer, 1);
  EXPECT_EQ(keys_there(), 7) << "something was left behind";
  // Also where they are of the filter itself, and have its marks.
  const auto a = open("a");
  store("copy", {"a"});
  server().ask({"DEL", a.record_key()});
  server().ask({"DEL", a.keys()[2]});
  error_of([] { store("a", {"copy"}); }, ErrorCode::exists);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(server().ask({"EXISTS", a.keys()[i]})->integer, 1) << i;
  store("a", {"copy"}, true);
  EXPECT_EQ(open("a").may_contain_many(old_.views), old_.views.size());
}

// A server that is full evicts what expires; the module's BF.MERGE would begin a new filter there.
TEST_F(ModuleCopies, MissNoShardThatTheServerDropsBeforeAMerge) {
  Scripted node(server().path());
  for (const char* name : {"a", "x"}) {  // over another and not, with the marks of the last source
    bool dropped = false;
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (dropped || (words[0] != "BF.MERGE" &&
                      (words[0] != "EVAL" || words[1].find("BF.MERGE") == std::string::npos)))
        return std::nullopt;
      dropped = true;
      EXPECT_EQ(server().ask({"DEL", words[words[0] == "EVAL" ? 3 : 1]})->integer, 1);
      return std::nullopt;
    });
    auto first = open("b"), second = open("a"), third = open("b");
    const std::vector<ShardedModuleFilter*> sources{&first, &second, &third};
    const auto text =
        error_of([&] { ShardedModuleFilter::store({.port = node.port()}, name, sources, true); },
                 ErrorCode::no_space);
    EXPECT_TRUE(dropped);
    EXPECT_NE(text.find("dropped the new shard"), std::string::npos) << text;
    EXPECT_EQ(open("a").may_contain_many(old_.views), old_.views.size());
    EXPECT_EQ(keys_there(), 8) << "something was left behind";
  }
}

// A shard that never moved has the marks too, where it is of the filter that the source is a copy of.
TEST_F(ModuleCopies, RemoveNothingThatWasThereBefore) {
  store("copy", {"a"});
  const auto a = open("a");
  server().ask({"DEL", a.record_key()});
  Scripted node(server().path());
  bool dropped = false;
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (!dropped && words[0] == "EVAL" && words[2] == "3" && words[3] == a.keys()[1]) {
      dropped = true;
      server().ask({"DEL", words[4]});
    }
    return std::nullopt;
  });
  auto copy = open("copy");
  ShardedModuleFilter* from = &copy;
  error_of(
      [&] {
        ShardedModuleFilter::store({.port = node.port()}, "a", {&from, 1}, true);
      },
      ErrorCode::no_space);
  EXPECT_TRUE(dropped);
  for (const std::string& key : a.keys()) {
    EXPECT_EQ(server().ask({"EXISTS", key})->integer, 1) << key;
    EXPECT_EQ(server().ask({"TTL", key})->integer, -1) << key;
  }
  EXPECT_EQ(keys_there(), 11) << "something was left behind";
}

TEST_F(ModuleCopies, TakeNoPlaceOfWhatIsNoRecord) {
  const std::string record = open("b").record_key();
  Scripted node(server().path());
  bool put = false;
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "EVAL" && words[2] == "2" && words[4] == record) {
      put = true;
      server().ask({"SET", record, "a text"});
    }
    return std::nullopt;
  });
  auto first = open("a");
  ShardedModuleFilter* from = &first;
  error_of(
      [&] {
        ShardedModuleFilter::store({.port = node.port()}, "b", {&from, 1}, true);
      },
      ErrorCode::unavailable);
  EXPECT_TRUE(put);
  EXPECT_EQ(server().get(record), "a text");
  EXPECT_EQ(keys_there(), 8) << "something was left behind";
}

TEST_F(ModuleCopies, AreNotMergedByAModuleThatCannot) {
  for (const char* text : {"Unknown Redis command called from script", "Unknown command called"}) {
    Scripted node(server().path());
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] != "EVAL" || words[1].find("BF.MERGE") == std::string::npos) return std::nullopt;
      return std::string("-ERR ").append(text).append("\r\n");
    });
    auto first = open("a"), second = open("b");
    const std::vector<ShardedModuleFilter*> sources{&first, &second};
    error_of([&] { ShardedModuleFilter::store({.port = node.port()}, "x", sources); },
             ErrorCode::wrong_kind);
    EXPECT_EQ(keys_there(), 8) << "something was left behind";
  }
}

// Another in a shard's place for one chunk alone, as where a writer fails and puts back.
TEST_F(ModuleCopies, HaveNoChunkOfAnotherFilter) {
  const Keys keys("grown:", 5'000), others("other:", 5'000);
  const auto grown = [](const char* name, const Keys& with) {
    auto filter =
        ShardedModuleFilter::create(server().address(), name, {.capacity = 300, .rate = 0.001}, 1);
    filter.insert_many(with.views);
    return filter;
  };
  const std::string key = grown("grown", keys).keys()[0], other = grown("other", others).keys()[0];
  for (int swapped = 1; swapped <= 5; ++swapped) {  // the header, and one of four links
    Scripted node(server().path());
    auto source = ShardedModuleFilter::open({.port = node.port()}, "grown");
    int dumps = 0;
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] != "EXEC") return std::nullopt;
      if (++dumps == swapped) {
        server().ask({"RENAME", key, "aside"});
        server().ask({"COPY", other, key});
      } else if (dumps == swapped + 1) {
        server().ask({"RENAME", "aside", key});
      }
      return std::nullopt;
    });
    ShardedModuleFilter* from = &source;
    error_of(
        [&] {
          ShardedModuleFilter::store(server().address(), "copy", {&from, 1});
        },
        ErrorCode::missing);
    EXPECT_GE(dumps, swapped);
    EXPECT_EQ(server().ask({"KEYS", "copy*"})->elements, 0U) << "something was left behind";
    if (server().ask({"EXISTS", "aside"})->integer == 1) server().ask({"RENAME", "aside", key});
  }
  ShardedModuleFilter source = open("grown");
  ShardedModuleFilter* from = &source;
  ShardedModuleFilter::store(server().address(), "copy", {&from, 1});
  EXPECT_EQ(open("copy").may_contain_many(keys.views), keys.views.size());
}

TEST_F(ModuleCopies, OfAShardThatIsAnotherFilterAreAnError) {
  auto a = open("a");
  const auto b = open("b");
  server().ask({"COPY", b.keys()[1], a.keys()[1], "REPLACE"});
  ShardedModuleFilter* source = &a;
  error_of(
      [&] {
        ShardedModuleFilter::store(server().address(), "x", {&source, 1});
      },
      ErrorCode::missing);
  EXPECT_EQ(keys_there(), 8) << "something was left behind";
}

}  // namespace
}  // namespace bloomery
