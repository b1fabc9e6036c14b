// What a program leaves that is killed while it replaces a filter in shards: the next one who comes
// undoes it, and nobody is told "absent" meanwhile.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redis/filter_writers.hpp"
#include "redis/scripted.hpp"
#include "redis/shards/interrupted.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_maker.hpp"
#include "redis/strings/redis_header.hpp"
#include "redis/strings/staged_strings.hpp"

namespace bloomery::test {
namespace {

// A program that is killed while it puts shards into their places: its connection breaks after `steps`
// scripts, and nothing that it tries after that reaches the server.
class KilledReplacement : public FilterWriters {
 protected:
  static void kill_after(int steps, bool replace) {
    Scripted node(server().path());
    int done = 0;
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (done == steps) return "";  // from now on
      if (words[0] == "EVAL" && (words[2] == "3" || words[2] == "4")) ++done;
      return std::nullopt;
    });
    const auto make = [&] {
      put(filled(of_blocks(120), 9'000), {.shards = 4, .replace = replace}, {.port = node.port()});
    };
    if (steps < 4)
      error_of(make, ErrorCode::unavailable);
    else
      make();  // it is done, and only cannot remove what it has set aside
    EXPECT_EQ(done, steps);
  }
  static void wait_a_minute() {
    server().ask({"DEL", "f:{0}:replacing"});
    if (detail::is_claim(server().get("f:{0}"))) server().ask({"DEL", "f:{0}"});
  }
  static std::size_t open_and_count() { return open().may_contain_many(keys_from(1, 2'000)); }
  // Where the shard is that was in this place.
  static std::string aside_of(std::size_t shard) {
    const detail::Reply found =
        server().ask({"KEYS", detail::shard_keys("f", 4)[shard] + ":old-*"});
    return found->elements == 1 ? std::string(found->element[0]->str) : std::string("none");
  }
  static long long left_behind() {
    return static_cast<long long>(server().ask({"KEYS", "*-*"})->elements) +
           server().ask({"EXISTS", "f:{0}:interrupted", "f:{0}:replacing"})->integer;
  }
  const std::vector<std::uint64_t> keys_ = keys_from(1, 2'000);
};

TEST_F(KilledReplacement, IsUndoneByWhoComesNext) {
  for (int steps = 1; steps <= 3; ++steps)
    for (const char* next : {"open", "look up", "insert", "replace"}) {
      SCOPED_TRACE(next + std::to_string(steps));
      server().ask({"FLUSHALL"});
      put(filled(of_blocks(120), 1), {.shards = 4});
      auto before = open();
      kill_after(steps, true);
      // It may be alive: nobody is told "absent", and nothing is undone yet.
      error_of([&] { (void)before.may_contain_many(keys_); }, ErrorCode::mismatch);
      expect_error(ErrorCode::mismatch, {"was left there half way"}, [] { open(); });
      error_of([] { put(filled(of_blocks(120), 9'000), {.replace = true}); }, ErrorCode::locked);
      for (const std::string& name : {std::string("f:{0}:interrupted"), aside_of(1)})
        EXPECT_GT(server().ask({"TTL", name})->integer, 86'000) << name;

      wait_a_minute();
      const std::string_view how = next;
      if (how == "look up" || how == "insert") {
        const auto use = [&] {
          if (how == "insert")
            before.insert_many(keys_);
          else
            (void)before.may_contain_many(keys_);
        };
        expect_error(ErrorCode::unavailable,
                     {"'f:{0}': a program was killed", "undone now; try again"}, use);
        use();
      }
      if (how == "open") (void)open();
      if (how == "replace")
        put(filled(of_blocks(120), 1), {.replace = true});
      else
        EXPECT_EQ(before.may_contain_many(keys_), keys_.size());
      EXPECT_EQ(open_and_count(), keys_.size());
      EXPECT_EQ(keys_there(), 4);
      EXPECT_EQ(left_behind(), 0);
      server().expect_to_keep(open());
    }
}

TEST_F(KilledReplacement, WhereAllShardsHadTheirPlacesOnlyTheOldOnesGo) {
  put(filled(of_blocks(120), 1), {.shards = 4});
  auto before = open();
  kill_after(4, true);
  EXPECT_GT(left_behind(), 0);
  // Nothing was undone, so it does not help to try again.
  error_of([&] { (void)before.may_contain_many(keys_); }, ErrorCode::mismatch);
  EXPECT_EQ(left_behind(), 0);
  EXPECT_EQ(open().may_contain_many(keys_from(9'000, 2'000)), 2'000U);
  kill_after(4, true);
  put(filled(of_blocks(120), 1), {.replace = true});
  EXPECT_EQ(open_and_count(), keys_.size());
  EXPECT_EQ(left_behind(), 0);
}

TEST_F(KilledReplacement, OfAFilterThatWasNotThereIsNotInTheWay) {
  for (const bool by_create : {true, false}) {
    server().ask({"FLUSHALL"});
    kill_after(2, false);
    error_of([] { open(); }, ErrorCode::locked);
    wait_a_minute();
    if (by_create)
      RedisFilter::create({address(), "f", 4}, of_blocks(120)).insert_many(keys_);
    else
      put(filled(of_blocks(120), 1), {.shards = 4});
    EXPECT_EQ(open_and_count(), keys_.size());
    EXPECT_EQ(keys_there(), 4);
    EXPECT_EQ(left_behind(), 0);
  }
}

// What a user removes does not come back, but for a day it can be put back by hand.
TEST_F(KilledReplacement, OfAFilterThatWasRemovedSinceIsNotUndone) {
  put(filled(of_blocks(120), 1), {.shards = 4});
  kill_after(2, true);
  wait_a_minute();
  for (const std::string& place : detail::shard_keys("f", 4)) server().ask({"DEL", place});
  auto created = RedisFilter::create({address(), "f", 4}, of_blocks(120));
  EXPECT_EQ(created.may_contain_many(keys_), 0U);
  created.insert_many(keys_);
  EXPECT_EQ(open_and_count(), keys_.size());
  EXPECT_EQ(server().ask({"EXISTS", "f:{0}:interrupted"})->integer, 0);
  for (const std::size_t shard : {1, 2})
    EXPECT_GT(server().ask({"TTL", aside_of(shard)})->integer, 86'000);
  EXPECT_EQ(keys_there(), 4 + 2);
}

// The same while its maker is alive: it finds that out when it commits.
TEST_F(KilledReplacement, OfAFilterThatIsRemovedMeanwhileIsGivenUp) {
  put(filled(of_blocks(120), 1), {.shards = 4});
  Scripted node(server().path());
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "EVAL" && words[2] == "4")
      for (const std::string& place : detail::shard_keys("f", 4)) server().ask({"DEL", place});
    return std::nullopt;
  });
  expect_error(ErrorCode::unavailable, {"was removed or evicted in the meantime"}, [&] {
    put(filled(of_blocks(120), 9'000), {.shards = 4, .replace = true}, {.port = node.port()});
  });
  EXPECT_EQ(keys_there(), 3) << "only what was set aside";
  for (const std::size_t shard : {1, 2, 3})
    EXPECT_GT(server().ask({"TTL", aside_of(shard)})->integer, 86'000);
  RedisFilter::create({address(), "f", 4}, of_blocks(120)).insert_many(keys_);
  EXPECT_EQ(open_and_count(), keys_.size());
}

// Somebody has removed the first key, and so the filter seems to be gone.
TEST_F(KilledReplacement, IsNotUndoneWhileItsMakerIsAlive) {
  put(filled(of_blocks(120), 1), {.shards = 4});
  kill_after(2, true);
  server().ask({"DEL", "f:{0}"});
  const std::string place = detail::shard_keys("f", 4)[1], put_there = server().get(place);
  expect_error(ErrorCode::locked, {"try again in a minute"}, [] {
    RedisFilter::create({address(), "f", 4}, of_blocks(120));
  });
  EXPECT_EQ(server().get(place), put_there);
  EXPECT_EQ(server().ask({"EXISTS", aside_of(1), "f:{0}:interrupted"})->integer, 2);
}

// Who lacks a right that is needed changes nothing, and leaves it to one who has it.
TEST_F(KilledReplacement, IsNotHalfUndoneForAWeakUser) {
  for (const char* right : {"-persist", "-rename"}) {
    server().ask({"FLUSHALL"});
    put(filled(of_blocks(120), 1), {.shards = 4});
    kill_after(2, true);
    wait_a_minute();
    const RedisAddress weak = server().as_user({"~*", "+@all", right});
    EXPECT_THROW((void)RedisFilter::open({weak, "f", 0}), Error);
    for (const std::size_t shard : {1, 2})
      EXPECT_GT(server().ask({"TTL", aside_of(shard)})->integer, 86'000) << right;
    EXPECT_EQ(open_and_count(), keys_.size());
    EXPECT_EQ(left_behind(), 0);
    server().expect_to_keep(open());
  }
}

// What is in a place may have been put there by somebody else since.
TEST_F(KilledReplacement, PutsNothingOverWhatIsNotOfItsMaker) {
  put(filled(of_blocks(120), 1), {.shards = 4});
  kill_after(2, true);
  const std::string place = detail::shard_keys("f", 4)[1];
  server().ask({"SET", place, "somebody's"});
  wait_a_minute();
  EXPECT_THROW(open(), Error);
  EXPECT_EQ(server().get(place), "somebody's");
  EXPECT_EQ(server().ask({"EXISTS", aside_of(1)})->integer, 1) << "the shard is lost";
}

TEST_F(KilledReplacement, ANoteThatLiesIsAnError) {
  put(filled(of_blocks(120), 1), {.shards = 4});
  const std::string magic(
      "\x89"
      "BLN\r\n\x1A\n",
      8),
      number = "0123456789abcdef";
  const std::string header = server().get("f:{0}").substr(0, 128);
  std::string damaged = header;
  damaged[70] ^= 1;
  detail::RedisHeader of_one{.plan = of_blocks(120), .hasher = Hasher(), .identity = {'i', 'd'}};
  for (const std::string& note :
       {std::string(8, 'x') + number + header, magic + number + detail::encode_redis_header(of_one),
        std::string("x"), magic, magic + number, magic + "0123456789abcdeX" + header,
        magic + number + damaged, magic + number + header + "x",
        magic + number + header.substr(1)}) {
    server().ask({"SET", "f:{0}:interrupted", note});
    EXPECT_THROW(put(filled(of_blocks(120), 1), {.replace = true}), Error);
    EXPECT_EQ(open_and_count(), keys_.size());
    EXPECT_EQ(server().get("f:{0}:interrupted"), note);
  }
}

// A new filter's maker has its claim at the first key.
TEST_F(KilledReplacement, IsNotUndoneWhereTheFirstKeyIsClaimed) {
  kill_after(2, false);
  const std::string first = "f:{0}", note = server().get("f:{0}:interrupted");
  const auto shards = detail::shard_keys("f", 4);
  const auto stays = [&](const char* why) {
    EXPECT_EQ(server().get("f:{0}:interrupted"), note) << why;
    EXPECT_EQ(server().ask({"EXISTS", shards[1], shards[2]})->integer, 2) << why;
    EXPECT_EQ(server().ask({"EXISTS", "f:{0}:replacing"})->integer, 0) << why;
  };
  const auto undo = [&](const RedisAddress& at) {
    detail::Cluster cluster(at);
    return detail::undo_interrupted(cluster, first, detail::strings_of_note(first));
  };
  detail::Cluster cluster(address());
  error_of([&] { (void)detail::undo_noted(cluster, first, detail::strings_of_note(first)); },
           ErrorCode::locked);
  stays("its maker may be alive");
  for (const bool replace : {false, true})
    error_of([&] { put(filled(of_blocks(120), 1), {.shards = 4, .replace = replace}); },
             ErrorCode::locked);
  stays("another finds the claim");
  server().ask({"SET", first, detail::claim_of({'a', 'n', 'o', 't', 'h', 'e', 'r'})});
  EXPECT_FALSE(undo(address()));
  stays("another makes a filter there");
  server().ask({"DEL", first});
  Scripted node(server().path());
  node.say([](const Scripted::Words& words) -> std::optional<std::string> {
    return words[0] == "GETRANGE" ? std::optional<std::string>("-NOPERM no\r\n") : std::nullopt;
  });
  EXPECT_FALSE(undo({.port = node.port()}));
  stays("the note may not be read");
  EXPECT_TRUE(undo(address()));
  EXPECT_EQ(keys_there(), 0);
}

}  // namespace
}  // namespace bloomery::test
