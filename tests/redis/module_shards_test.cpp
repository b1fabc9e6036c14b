// A filter in shards of module filters: its record and its markers let no shard go missing unseen.
#include <bloomery/module_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/module_server.hpp"
#include "redis/scripted.hpp"

namespace bloomery::test {
namespace {

using Said = std::optional<std::string>;
using Shards = std::optional<std::uint32_t>;

TEST(ModuleShards, TellsNewAbsentAndHowMany) {
  auto filter = ModuleFilter::create({module_server().address(), "first", 5},
                                     {.capacity = 20'000, .fpr = 0.01});
  EXPECT_FALSE(filter.may_contain("a key"));
  EXPECT_TRUE(filter.insert("a key"));
  EXPECT_FALSE(filter.insert("a key"));
  EXPECT_TRUE(filter.may_contain("a key"));
  EXPECT_EQ(filter.info().items, 1U);
  const NumberedKeys keys("present:", 20'000);
  const auto answers = std::make_unique<bool[]>(keys.views.size());
  const std::span<bool> answer(answers.get(), keys.views.size());
  const std::size_t fresh = filter.insert_many(keys.views, answer);
  EXPECT_EQ(fresh, static_cast<std::size_t>(std::count(answer.begin(), answer.end(), true)));
  EXPECT_GT(fresh, 19'800U);
  EXPECT_EQ(filter.acknowledged(), keys.views.size());
  EXPECT_EQ(filter.info().items, fresh + 1);

  auto other = ModuleFilter::open({module_server().address(), "first", 0});
  EXPECT_EQ(other.info().capacity, 20'000U);
  EXPECT_EQ(other.reserved()->fpr, 0.01);
  EXPECT_EQ(other.info().expansion, 2U);
  EXPECT_EQ(other.keys(), filter.keys());
  EXPECT_EQ(other.may_contain_many(keys.views, answer), keys.views.size());
  EXPECT_TRUE(std::all_of(answer.begin(), answer.end(), [](bool each) { return each; }));
  std::vector<std::string> texts(keys.views.begin(), keys.views.end());
  texts.emplace_back("absent");
  std::vector<bool> found(texts.size(), true);
  EXPECT_EQ(other.may_contain_many(texts, found), keys.views.size());
  EXPECT_EQ(std::ranges::count(found, false), 1);
  EXPECT_FALSE(found.back());
  found.pop_back();
  error_of([&] { (void)other.may_contain_many(texts, found); }, ErrorCode::invalid_argument);
  EXPECT_EQ(other.acknowledged(), 0U);
  // 200 of 20,000 at 1 %, standard deviation 14; a filter that grows is below its rate.
  EXPECT_LT(other.may_contain_many(NumberedKeys("absent:", 20'000).views), 300U);
  EXPECT_EQ(other.insert_many({}), 0U);
}

// More keys than go out at once: none of them does.
TEST(ModuleShards, SendsNothingWithoutRoomForTheAnswers) {
  auto filter = ModuleFilter::create({module_server().address(), "no room", 2},
                                     {.capacity = 20'000, .fpr = 0.01});
  const NumberedKeys keys("key:", 20'000);
  const auto room = std::make_unique<bool[]>(keys.views.size());
  const std::span<bool> answers(room.get(), keys.views.size() - 1);
  error_of([&] { filter.insert_many(keys.views, answers); }, ErrorCode::invalid_argument);
  error_of([&] { filter.may_contain_many(keys.views, answers); }, ErrorCode::invalid_argument);
  error_of([&] { filter.remove_many(keys.views, answers); }, ErrorCode::invalid_argument);
  EXPECT_EQ(filter.info().items, 0U);
}

TEST(ModuleShards, TheStatedFprHoldsAtCapacityInFiltersThatDoNotGrow) {
  // 600,000 absent keys at 1 %: 6000, +10 % is 7.7 standard deviations. Shards have room for 7
  // deviations of their load, so that the measured rate is far below; a shard's hash that was not
  // independent of the module's would put it near 1.
  auto filter = ModuleFilter::create({module_server().address(), "fixed", 6},
                                     {.kind = Kind::plain, .capacity = 30'000, .fpr = 0.01});
  filter.insert_many(NumberedKeys("present:", 30'000).views);
  const std::size_t found = filter.may_contain_many(NumberedKeys("absent:", 600'000).views);
  EXPECT_LT(found, 6'600U);
  EXPECT_GT(found, 2'000U) << "the shards are unequally used, or far too large";
}

TEST(ModuleShards, AFullShardSaysSo) {
  auto filter = ModuleFilter::create({module_server().address(), "full", 2},
                                     {.kind = Kind::plain, .capacity = 100, .fpr = 0.01});
  const NumberedKeys keys("key:", 1'000);
  expect_error(ErrorCode::no_space, {"make a larger filter"},
               [&] { filter.insert_many(keys.views); });
  const std::size_t done = filter.acknowledged();
  EXPECT_EQ(filter.may_contain_many(std::span(keys.views).first(done)), done);
}

// What its one command did before it was refused is told.
TEST(ModuleShards, AFullFilterUnderOneKeyHasWhatItTook) {
  constexpr std::size_t kCapacity = 100;
  auto filter = ModuleFilter::create({module_server().address(), "full-one"},
                                     {.kind = Kind::plain, .capacity = kCapacity, .fpr = 0.01});
  const NumberedKeys keys("key:", 1'000);
  expect_error(ErrorCode::no_space, {"make a larger filter"},
               [&] { filter.insert_many(keys.views); });
  const std::size_t done = filter.acknowledged();
  EXPECT_GE(done, kCapacity);
  EXPECT_EQ(filter.may_contain_many(std::span(keys.views).first(done)), done);
}

TEST(ModuleShards, IsMadeOnceAndWhole) {
  const auto make = [](std::uint32_t shards) {
    return ModuleFilter::create({module_server().address(), "made", shards},
                                {.capacity = 1'000, .fpr = 0.01});
  };
  const auto made = make(4);
  error_of([&] { make(4); }, ErrorCode::exists);
  error_of([&] { make(7); }, ErrorCode::exists);
  error_of([] { ModuleFilter::open({module_server().address(), "never", 0}); }, ErrorCode::missing);
  for (const std::uint32_t shards : {0U, 4U})
    EXPECT_EQ(ModuleFilter::open({module_server().address(), "made", shards}).nodes(), 1U);
  expect_error(ErrorCode::mismatch, {"it has 4 shards"}, [] {
    ModuleFilter::open({module_server().address(), "made", 5});
  });

  // The record is gone, the shards are as a maker leaves them that dies: they are taken over.
  module_server().ask({"DEL", made.record_key()});
  error_of([] { ModuleFilter::open({module_server().address(), "made", 0}); }, ErrorCode::missing);
  auto again = make(4);
  again.insert("a key");
  // With a key in one of them they are not, and what was begun is taken back.
  module_server().ask({"DEL", again.record_key()});
  error_of([&] { make(4); }, ErrorCode::exists);
  EXPECT_EQ(module_server().ask({"EXISTS", again.record_key()})->integer, 0);
  for (const std::string& key : again.keys()) module_server().ask({"DEL", key});
  module_server().ask({"SET", again.keys()[3], "something"});
  error_of([&] { make(4); }, ErrorCode::exists);
  EXPECT_EQ(module_server().get(again.keys()[3]), "something");
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_EQ(module_server().ask({"EXISTS", again.keys()[i]})->integer, 0);
  module_server().ask({"DEL", again.keys()[3]});
  // Someone else's filter that is nearly empty is not a maker's leaving.
  module_server().ask({"BF.ADD", again.keys()[2], "theirs"});
  error_of([&] { make(4); }, ErrorCode::exists);
  EXPECT_EQ(module_server().ask({"BF.EXISTS", again.keys()[2], "theirs"})->integer, 1);
  // Another is at it.
  module_server().ask({"SET", again.record_key(),
                       "\x89"
                       "BLC\r\n\x1A\n12345678",
                       "PX", "60000"});
  error_of([&] { make(4); }, ErrorCode::locked);
  error_of([] { ModuleFilter::open({module_server().address(), "made", 0}); }, ErrorCode::locked);
}

TEST(ModuleShards, NoShardCanBeMissedUnseen) {
  const auto address = module_server().address();
  auto filter = ModuleFilter::create({address, "gone", 3}, {.capacity = 1'000, .fpr = 0.001});
  const NumberedKeys keys("key:", 300);
  filter.insert_many(keys.views);
  const auto refused = [&] {
    error_of([&] { (void)filter.may_contain_many(keys.views); }, ErrorCode::missing);
    EXPECT_LT(filter.acknowledged(), keys.views.size());
    error_of([&] { filter.insert_many(keys.views); }, ErrorCode::missing);
    // And again: an insert has not made another's filter look like ours.
    error_of([&] { (void)filter.may_contain_many(keys.views); }, ErrorCode::missing);
    error_of([&] { (void)filter.info().items; }, ErrorCode::missing);
    error_of([&] { ModuleFilter::open({address, "gone", 0}); }, ErrorCode::missing);
  };
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string& key = filter.keys()[i];
    module_server().ask({"RENAME", key, "kept"});
    refused();
    EXPECT_EQ(module_server().ask({"EXISTS", key})->integer, 0) << "an insert has made a filter";
    module_server().ask({"BF.ADD", key, "anything"});  // what any client does
    refused();
    module_server().ask({"COPY", filter.keys()[(i + 1) % 3], key, "REPLACE"});
    refused();
    module_server().ask({"RENAME", "kept", key});
    EXPECT_EQ(filter.may_contain_many(keys.views), keys.views.size());
  }
  module_server().ask({"SET", filter.keys()[1], "a string"});
  // The module takes it for an absent filter where it is asked, and refuses it where it inserts.
  error_of([&] { (void)filter.may_contain_many(keys.views); }, ErrorCode::missing);
  error_of([&] { filter.insert_many(keys.views); }, ErrorCode::not_a_filter);
}

TEST(ModuleShards, HaveWhatTheirRecordSays) {
  const RedisPlace place(module_server().address(), "record", 2);
  auto filter = ModuleFilter::create(place, {.capacity = 1'000, .fpr = 0.001, .expansion = 2});
  Scripted node(module_server().path());
  const RedisPlace through({.port = node.port()}, "record", 0);
  const auto info = [&](int capacity, const std::string& expansion) {
    node.say([=](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] != "BF.INFO") return std::nullopt;
      return "*6\r\n+Capacity\r\n:" + std::to_string(capacity) + "\r\n+Expansion rate\r\n" +
             expansion + "+Number of items inserted\r\n:1\r\n";
    });
    return
        [&] { EXPECT_EQ(ModuleFilter::open(through).info().items, 0U) << "markers are no keys"; };
  };
  info(2'000, ":2\r\n")();
  error_of(info(5, ":2\r\n"), ErrorCode::mismatch);
  error_of(info(2'000, ":3\r\n"), ErrorCode::mismatch);
  error_of(info(2'000, "$-1\r\n"), ErrorCode::mismatch);
  // One shard whose fill is not known: nor is that of the whole.
  EXPECT_TRUE(filter.fill());
  for (const std::string& key : filter.keys()) {
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      return words[0] == "BF.DEBUG" && words[1] == key ? Said("-NOPERM no\r\n") : Said();
    });
    EXPECT_FALSE(ModuleFilter::open(through).fill());
  }
  EXPECT_NO_THROW((void)filter.dump(0, 1));
  error_of([&] { (void)filter.dump(0, 2); }, ErrorCode::invalid_argument);
}

// They are plain or grow, so that no key can be removed.
TEST(ModuleShards, RemoveNothing) {
  Scripted node(module_server().path());
  auto filter =
      ModuleFilter::create({{.port = node.port()}, "kept", 2}, {.capacity = 1'000, .fpr = 0.001});
  const NumberedKeys keys("key:", 100);
  filter.insert_many(keys.views);
  node.say({});
  error_of([&] { filter.remove_many(keys.views); }, ErrorCode::wrong_kind);
  EXPECT_EQ(node.asked(), 0) << "what is in a shard's place now may count";
  EXPECT_EQ(filter.acknowledged(), 0U);
  EXPECT_EQ(filter.may_contain_many(keys.views), keys.views.size());
}

// A server that sends more answers than it was asked for, or other ones, is not believed.
TEST(ModuleShards, AnswersAreAsManyAsKeys) {
  Scripted node(module_server().path());
  const NumberedKeys keys("key:", 2);
  for (const std::optional<std::uint32_t> shards : {Shards(), Shards(1)}) {
    auto filter = ModuleFilter::create({{.port = node.port()}, "counted", shards},
                                       {.capacity = 1'000, .fpr = 0.001});
    for (const char* answers :
         {"*3\r\n:1\r\n:1\r\n:1\r\n", "*1\r\n:1\r\n", "*2\r\n:1\r\n$1\r\n1\r\n"}) {
      node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
        const bool asked = words[0] == "BF.INSERT" || words[0] == "BF.MEXISTS";
        return asked ? Said(answers) : Said();
      });
      if (!shards) error_of([&] { filter.insert_many(keys.views); }, ErrorCode::io);
      EXPECT_THROW((void)filter.may_contain_many(keys.views), Error);
      EXPECT_EQ(filter.acknowledged(), 0U);
    }
    node.say(nullptr);
  }
}

// Of large keys fewer go out at once, and one of any size does.
TEST(ModuleShards, LargeKeysGoOutInParts) {
  Scripted node(module_server().path());
  auto filter =
      ModuleFilter::create({{.port = node.port()}, "large"}, {.capacity = 1'000, .fpr = 0.001});
  std::vector<std::string> texts = {std::string(std::size_t{3} << 20, 'z')};
  for (char i = 'a'; i < 'i'; ++i) texts.emplace_back(std::size_t{400} << 10, i);
  const std::vector<std::string_view> keys(texts.begin(), texts.end());
  std::size_t most = 0;
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    std::size_t bytes = 0;
    for (const std::string& word : words) bytes += word.size();
    if (words[0] == "BF.INSERT" && words.size() > 5) most = std::max(most, bytes);
    return std::nullopt;
  });
  EXPECT_EQ(filter.insert_many(keys), keys.size());
  // At most a mebibyte, but for the last of them.
  EXPECT_GT(most, std::size_t{1} << 20);
  EXPECT_LT(most, (std::size_t{1} << 20) + (std::size_t{401} << 10));
  EXPECT_EQ(filter.may_contain_many(keys), keys.size());
}

TEST(ModuleShards, AServerWithoutTheModuleSaysSo) {
  const Server plain;
  expect_error(ErrorCode::io, {"lacks a module"}, [&] {
    ModuleFilter::create({plain.address(), "none", 2}, {.capacity = 100, .fpr = 0.01});
  });
  EXPECT_EQ(plain.ask({"DBSIZE"})->integer, 0);
  expect_error(ErrorCode::invalid_argument, {}, [&] {
    ModuleFilter::create({plain.address(), "none", 0}, {.fpr = 0.01});
  });
  expect_error(ErrorCode::invalid_argument, {}, [&] {
    ModuleFilter::create({plain.address(), "none", 0}, {.capacity = 5, .fpr = 0});
  });
}

}  // namespace
}  // namespace bloomery::test
