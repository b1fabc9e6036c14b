// Clients that still insert when their string is deleted, or another one takes its place.
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redis/forms.hpp"
#include "redis/scripted.hpp"
#include "support/random.hpp"

namespace bloomery {
namespace {

using test::error_of;
using test::expect_error;
using test::keys_from;
using Words = test::Scripted::Words;

constexpr std::size_t kMany = 3'000;  // are not set by scripts
constexpr std::size_t kHeader = 128, kShardEnd = 8;

class ReplacedStrings : public testing::Test {
 protected:
  ReplacedStrings() { server().ask({"DEL", "f"}); }
  static test::Server& server() { return test::strings_server(); }
  static RedisFilter create(std::size_t capacity) {
    return RedisFilter::create({server().address(), "f"}, plan(capacity, 0.01), Hasher(), true);
  }
  RedisFilter open_between() const { return RedisFilter::open({{.port = between_.port()}, "f"}); }
  // Calls `then` before the command of this number, of those that begin with the word.
  void before(const char* word, int number, const std::function<void()>& then) {
    seen_ = 0;
    between_.say([this, word, number, then](const Words& words) -> std::optional<std::string> {
      if (words[0] == word && ++seen_ == number) then();
      return std::nullopt;
    });
  }

  test::Scripted between_{server().path()};
  std::atomic<int> seen_ = 0;
};

TEST_F(ReplacedStrings, AreNotTouchedByFewKeys) {
  const auto keys = keys_from(1, 4);
  const std::vector<std::string> others = {
      std::string(2'000, '\0'),  // a bucket of a PHP class in which few bits are set
      "a text", ""};
  for (const std::string& other : others) {
    create(1'000);
    auto client = open_between();
    before("EVAL", 1, [&] {
      server().ask({"DEL", "f"});
      if (!other.empty()) server().ask({"SET", "f", other});
    });
    EXPECT_ANY_THROW(client.insert_many(keys));
    EXPECT_EQ(seen_, 4);
    EXPECT_EQ(client.acknowledged(), 0U);
    EXPECT_EQ(server().get("f"), other);
    server().ask({"DEL", "f"});
  }
  for (const std::size_t capacity : {100, 1'000, 10'000}) {
    create(1'000);
    auto client = open_between();
    std::string whole;
    before("EVAL", 1, [&] {
      create(capacity).insert_many(keys_from(50, 10));
      whole = server().get("f");
    });
    error_of([&] { client.insert("a key"); },
             capacity < 1'000 ? ErrorCode::corrupt : ErrorCode::mismatch);
    EXPECT_EQ(seen_, 1);
    EXPECT_EQ(server().get("f"), whole);
  }
}

// A command is a round trip here.
TEST_F(ReplacedStrings, CostFewKeysNoQuestion) {
  create(1'000);
  auto client = open_between();
  before("STRLEN", 0, [] {});
  EXPECT_EQ(client.insert_many(keys_from(1, 4)), 4U);
  EXPECT_EQ(client.insert_many(keys_from(1, 4)), 0U);
  EXPECT_EQ(seen_, 0);
  EXPECT_EQ(client.insert_many(keys_from(5, 5)), 5U);
  EXPECT_EQ(seen_, 3) << "before the batch, and twice with it";
}

TEST_F(ReplacedStrings, LeaveNothingBehindWhereTheyGoWhileKeysAreInserted) {
  create(1'000);
  auto client = open_between();
  before("STRLEN", 2, [] { server().ask({"DEL", "f"}); });
  error_of([&] { client.insert_many(keys_from(1, 10)); }, ErrorCode::missing);
  EXPECT_EQ(server().ask({"EXISTS", "f"})->integer, 0);
}

// Another client has made such a string too, and removes it between the length and the bits.
TEST_F(ReplacedStrings, LeaveNothingBehindWhereAnotherLeavesSomethingForAMoment) {
  for (const std::size_t bytes : {200, 5'000}) {
    create(1'000);
    auto client = open_between();
    int lengths = 0;
    between_.say([&](const Words& words) -> std::optional<std::string> {
      if (words[0] == "STRLEN" && ++lengths == 2)
        server().ask({"SET", "f", std::string(bytes, '\0')});
      if (words[0] == "BITFIELD") server().ask({"DEL", "f"});
      return std::nullopt;
    });
    error_of([&] { client.insert_many(keys_from(1, 10)); },
             bytes == 200 ? ErrorCode::corrupt : ErrorCode::mismatch);
    between_.say(nullptr);
    EXPECT_EQ(server().ask({"EXISTS", "f"})->integer, 0);
  }
}

// Its first bits may be off, as those of a string that was made again.
TEST_F(ReplacedStrings, MayBeABucketOfAPhpClass) {
  create(1'000);
  auto client = open_between();
  const std::string bucket = std::string(kHeader, '\0') + std::string(1'000, '\xff');
  before("STRLEN", 2, [&] { server().ask({"SET", "f", bucket}); });
  EXPECT_ANY_THROW(client.insert_many(keys_from(1, 10)));
  EXPECT_EQ(server().ask({"BITCOUNT", "f", "0", "1127"})->integer, 8'000);
}

// It came after the keys: none of their bits is in it, however few it has.
TEST_F(ReplacedStrings, MayBeABucketThatCameAfterTheKeys) {
  create(1'000);
  auto client = open_between();
  const std::string bucket = std::string(kHeader, '\0') + '\x01' + std::string(2'000, '\0');
  before("STRLEN", 3, [&] { server().ask({"SET", "f", bucket}); });
  error_of([&] { client.insert_many(keys_from(1, 10)); }, ErrorCode::mismatch);
  EXPECT_EQ(server().get("f"), bucket);
}

// A client of the larger filter has asked for the length, and then inserts.
TEST_F(ReplacedStrings, AreWholeWhenTheyAreOpenedAfterALargerOneWasThere) {
  create(100'000);
  auto client = open_between();
  const auto keys = keys_from(1, 100);
  before("BITFIELD", 1, [&] {
    create(1'000).insert_many(keys);
    server().ask({"EXPIRE", "f", "1000"});
  });
  error_of([&] { client.insert_many(keys_from(5'000, kMany)); }, ErrorCode::mismatch);
  between_.say(nullptr);
  const std::size_t longer = server().get("f").size();
  for (const char* right : {"-eval", "-set"}) {
    const RedisAddress reader = server().as_user({"~*", "+@all", right});
    const std::string said = error_of(
        [&] {
          RedisFilter::open({reader, "f"});
        },
        ErrorCode::corrupt);
    EXPECT_NE(said.find("cannot be cut off"), std::string::npos) << said;
    EXPECT_NE(said.find("give the user"), std::string::npos) << said;
    EXPECT_EQ(server().get("f").size(), longer);
  }
  const std::size_t whole = kHeader + plan(1'000, 0.01).bytes();
  EXPECT_LT(whole, longer);
  EXPECT_EQ(RedisFilter::open({server().address(), "f"}).may_contain_many(keys), keys.size());
  EXPECT_EQ(server().get("f").size(), whole);
  EXPECT_GT(server().ask({"TTL", "f"})->integer, 900);
}

// A maker of shards takes over no longer strings (shard_maker.hpp), but they may have been removed.
class ReplacedShards : public testing::Test {
 protected:
  ReplacedShards() { server().ask({"FLUSHALL"}); }
  static test::Server& server() { return test::strings_server(); }
  static RedisPlace place() { return {server().address(), "s", 2}; }
  // Removes the filter, and makes one in its place, whose keys are returned.
  static std::vector<std::uint64_t> replace(std::size_t capacity) {
    const RedisFilter before = RedisFilter::open(place());
    for (const std::string& key : before.keys()) server().ask({"DEL", key});
    RedisFilter made = RedisFilter::create(place(), plan(capacity, 0.01));
    auto keys = keys_from(1, capacity);
    made.insert_many(keys);
    for (const std::string& key : made.keys()) server().ask({"EXPIRE", key, "1000"});
    return keys;
  }
};

TEST_F(ReplacedShards, AreWholeWhenTheyAreOpenedAfterLargerOnesWereThere) {
  RedisFilter larger = RedisFilter::create(place(), plan(100'000, 0.01));
  const auto keys = replace(1'000);
  const std::size_t bytes = server().get(larger.keys()[0]).size();
  RedisFilter client = RedisFilter::open(place());
  error_of([&] { larger.insert_many(keys_from(500'000, 1'000)); }, ErrorCode::corrupt);
  for (const std::string& key : larger.keys()) EXPECT_GT(server().get(key).size(), bytes) << key;
  error_of([&] { client.insert(5'000'000); }, ErrorCode::mismatch);
  RedisFilter opened = RedisFilter::open(place());
  EXPECT_EQ(opened.may_contain_many(keys), keys.size());
  for (const std::string& key : opened.keys()) {
    EXPECT_EQ(server().get(key).size(), bytes) << key;
    EXPECT_GT(server().ask({"TTL", key})->integer, 500);
  }
  client.insert(5'000'000);
  EXPECT_TRUE(opened.may_contain(5'000'000));
  EXPECT_EQ(client.may_contain_many(keys), keys.size());
}

TEST_F(ReplacedShards, GetTheirEndsBackIfThatIsAll) {
  RedisFilter filter = RedisFilter::create(place(), plan(1'000, 0.01));
  filter.insert_many(keys_from(1, 1'000));
  const std::string key = filter.keys()[1], whole = server().get(key);
  const std::string last = std::to_string(whole.size() - 1);
  server().ask({"SETRANGE", key, last, "\xff"});
  if (server().get(key) != whole)
    error_of([&] { filter.insert_many(keys_from(1, 100)); }, ErrorCode::mismatch);
  EXPECT_EQ(RedisFilter::open(place()).may_contain_many(keys_from(1, 1'000)), 1'000U);
  EXPECT_EQ(server().get(key), whole);
}

// What was cut has lost keys, however long it is made again.
TEST_F(ReplacedShards, AreNotHealedIfTheyWereCut) {
  RedisFilter filter = RedisFilter::create(place(), plan(1'000, 0.01));
  const std::string key = filter.keys()[1], whole = server().get(key);
  for (const std::size_t left : {whole.size() - 4, whole.size() - 8, std::size_t{300}}) {
    server().ask({"SET", key, whole.substr(0, left)});
    EXPECT_ANY_THROW(RedisFilter::open(place()));
    // Zeros in the end, and then as many ones as there can be.
    const std::string ones(kShardEnd, '\xff');
    for (const auto& [at, bytes] : {std::pair(whole.size() + 500, std::string("x")),
                                    {whole.size() - ones.size(), ones},
                                    {whole.size() + 9, ones}}) {
      server().ask({"SETRANGE", key, std::to_string(at), bytes});
      const std::string longer = server().get(key);
      EXPECT_ANY_THROW(RedisFilter::open(place()));
      EXPECT_EQ(server().get(key), longer);
    }
  }
}

TEST_F(ReplacedShards, MayBeCutByAnotherClientMeanwhile) {
  const RedisFilter filter = RedisFilter::create(place(), plan(1'000, 0.01));
  server().ask({"APPEND", filter.keys()[1], "x"});
  std::atomic<bool> is_cut = false;
  test::Scripted between(server().path());
  between.say([&](const Words& words) -> std::optional<std::string> {
    if (words[0] == "EVAL" && !is_cut.exchange(true)) RedisFilter::open(place());
    return std::nullopt;
  });
  EXPECT_NO_THROW(RedisFilter::open({{.port = between.port()}, "s", 2}));
  EXPECT_TRUE(is_cut);
}

// A longer shard is not replaced, but these are only as long as their headers say.
TEST_F(ReplacedShards, CanBeReplacedAgain) {
  const RedisFilter filter = RedisFilter::create(place(), plan(1'000, 0.01));
  for (const std::string& key : filter.keys()) server().ask({"APPEND", key, "x"});
  RedisFilter::create(place(), plan(1'000, 0.01), Hasher(), true).insert(7);
  EXPECT_TRUE(RedisFilter::open(place()).may_contain(7));
}

// A user without the right to cut them off is told what is wrong.
TEST_F(ReplacedShards, AreLeftToThoseWhoMayChangeThem) {
  RedisFilter filter = RedisFilter::create(place(), plan(1'000, 0.01));
  const std::string key = filter.keys()[1], whole = server().get(key);
  server().ask({"APPEND", key, "x"});
  RedisPlace reader = place();
  reader.address = server().as_user({"~*", "+@read", "+info", "+cluster"});
  expect_error(ErrorCode::mismatch, {"behind its end", "cannot be cut off", "give the user"},
               [&] { RedisFilter::open(reader); });
  EXPECT_EQ(server().get(key), whole + "x");
  EXPECT_NO_THROW(RedisFilter::open(place()));
  EXPECT_EQ(server().get(key), whole);
}

}  // namespace
}  // namespace bloomery
