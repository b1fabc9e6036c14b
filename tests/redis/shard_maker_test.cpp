// A maker whose connection breaks leaves the whole filter, or nothing that is in the way.
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redis/scripted.hpp"
#include "redis/server.hpp"
#include "redis/shards/shard_maker.hpp"
#include "redis/shards/staged_keys.hpp"
#include "redis/strings/staged_strings.hpp"

namespace bloomery::test {
namespace {

using Words = Scripted::Words;
using Said = std::optional<std::string>;

struct Maker {
  Maker() : node(real.path()) {}

  // EVAL, the script, one key: the header, its end and the claim.
  static bool is_commit(const Words& words) { return words[0] == "EVAL" && words.size() == 7; }
  void when_committing(std::function<void(const Words&)> act) {
    node.say(
        [act = std::move(act), done = std::make_shared<bool>(false)](const Words& words) -> Said {
          if (!is_commit(words) || std::exchange(*done, true)) return std::nullopt;
          act(words);
          return "";  // hangs up
        });
  }
  void commit(const Words& words) const {
    ASSERT_EQ(
        real.ask({words[0], words[1], words[2], words[3], words[4], words[5], words[6]})->integer,
        1);
  }
  [[nodiscard]] RedisFilter create() const {
    return RedisFilter::create({{.port = node.port()}, "filter", 3}, plan(10'000, 0.01));
  }
  [[nodiscard]] RedisFilter open() const {
    return RedisFilter::open({real.address(), "filter", 0});
  }

  Server real;
  Scripted node;
};

TEST(ShardMaker, ACommitWhoseAnswerIsLostHasMadeTheFilter) {
  Maker maker;
  std::vector<std::uint64_t> keys(500);
  std::iota(keys.begin(), keys.end(), 1);
  // Another has found the filter, and has inserted, before the maker knows that it is made.
  maker.when_committing([&](const Words& words) {
    maker.commit(words);
    maker.open().insert_many(keys);
  });
  RedisFilter filter = maker.create();
  EXPECT_EQ(filter.may_contain_many(keys), keys.size());
  EXPECT_EQ(maker.open().may_contain_many(keys), keys.size());
}

TEST(ShardMaker, ACommitThatDidNotArriveLeavesNothing) {
  Maker maker;
  Words late;
  maker.when_committing([&](const Words& words) { late = words; });
  error_of([&] { (void)maker.create(); }, ErrorCode::unavailable);
  EXPECT_EQ(maker.real.ask({"DBSIZE"})->integer, 0);
  // It comes after all, out of the old connection: it finds no claim.
  EXPECT_EQ(
      maker.real.ask({late[0], late[1], late[2], late[3], late[4], late[5], late[6]})->integer, 0);
  EXPECT_EQ(maker.real.ask({"DBSIZE"})->integer, 0);
  EXPECT_TRUE(maker.create().insert(std::uint64_t{1}));
}

TEST(ShardMaker, WhateverIsThrownLeavesNothing) {
  const Server real;
  detail::Cluster cluster(real.address());
  detail::ShardsToMake shards;
  shards.first = shards.claimed = "first";
  shards.committed = "whole";
  for (int i = 0; i < 40; ++i) shards.keys.push_back(std::to_string(i));
  using Made = detail::ShardsToMake::Words;
  shards.make = [&](std::size_t i) {
    if (i == 35) throw std::bad_alloc();
    return Made{"SETNX", shards.keys[i], "x"};
  };
  shards.remove = [&](std::size_t i, bool) { return Made{"DEL", shards.keys[i]}; };
  EXPECT_THROW(detail::make_shards(cluster, shards), std::bad_alloc);
  EXPECT_EQ(real.ask({"DBSIZE"})->integer, 0);
}

// After an error it looks at the first key. Only if it has neither the claim nor the new filter, what was made is
// removed; and what it replaced comes back only to a filter.
TEST(ShardMaker, LooksAtWhatIsThereAfterAnError) {
  const Server real;
  detail::Cluster cluster(real.address());
  const std::string other = detail::claim_of({'a', 'n', 'o', 't', 'h', 'e', 'r'});
  const struct {
    std::string there;  // instead of the claim, after the last step has failed
    std::optional<bool> put_back;
  } cases[] = {
      {"a whole filter", std::nullopt}, {"another filter", true}, {other, false}, {"", false}};
  for (const auto& each : cases)
    for (const bool throws : {false, true}) {
      const std::string& there = each.there;
      SCOPED_TRACE(there);
      real.ask({"FLUSHALL"});
      std::optional<bool> removed;
      detail::ShardsToMake shards;
      shards.first = shards.claimed = "first";
      shards.committed = "a whole filter";
      shards.keys = {"shard"};
      shards.make = [](std::size_t) { return Words{"SETNX", "shard", "x"}; };
      shards.remove = [&](std::size_t, bool back) {
        removed = back;
        return Words{"DEL", "shard"};
      };
      shards.commit = [&](const std::string&) {
        if (there.empty())
          real.ask({"DEL", "first"});
        else
          real.ask({"SET", "first", there});
        if (throws) throw std::bad_alloc();
        return Words{"SETNX", "shard", "y"};  // replies with 0: not done
      };
      if (!each.put_back)
        detail::make_shards(cluster, shards);
      else if (throws)
        EXPECT_THROW(detail::make_shards(cluster, shards), std::bad_alloc);
      else
        error_of([&] { detail::make_shards(cluster, shards); }, ErrorCode::unavailable);
      EXPECT_EQ(removed, each.put_back);
      EXPECT_EQ(real.get("first"), there);
    }
}

TEST(ShardMaker, WhoCannotSeeWhetherItIsMadeRemovesNothing) {
  Maker maker;
  bool gone = false;
  maker.node.say([&](const Words& words) -> Said {
    if (gone) return "";
    if (!Maker::is_commit(words)) return std::nullopt;
    gone = true;
    maker.commit(words);
    return "";
  });
  error_of([&] { (void)maker.create(); }, ErrorCode::unavailable);
  EXPECT_EQ(maker.real.ask({"DBSIZE"})->integer, 3);
  EXPECT_TRUE(maker.open().insert(std::uint64_t{1}));
}

// What takes long to make would expire meanwhile. Only what is made is there to be renewed, and that it is gone is
// an error.
TEST(StagedKeys, AreKeptWhileTheyAreMade) {
  const Server real;
  detail::Cluster cluster(real.address());
  const detail::StagedKeys::Rules rules{};
  detail::StagedKeys always({"a", "b", "c"}, rules, std::chrono::seconds(0));
  for (const std::string& name : always.names()) real.ask({"SET", name, "x", "EX", "20"});
  const auto lives = [&](const detail::StagedKeys& keys, std::size_t i) {
    return real.ask({"TTL", keys.names()[i]})->integer;
  };
  always.keep_alive(cluster, 2);
  EXPECT_GT(lives(always, 0), 590);
  EXPECT_GT(lives(always, 1), 590);
  EXPECT_LE(lives(always, 2), 20);
  real.ask({"DEL", always.names()[1]});
  error_of([&] { always.keep_alive(cluster, 3); }, ErrorCode::no_space);

  detail::StagedStrings strings(cluster, std::move(always), 100);
  for (const std::string& name : strings.keys().names()) real.ask({"DEL", name});
  const std::vector<std::string> edges(3, "edge");
  strings.make(edges, edges);
  for (const std::string& name : strings.keys().names()) real.ask({"EXPIRE", name, "20"});
  strings.keep_alive();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_GT(lives(strings.keys(), i), 590) << i;

  detail::StagedKeys later({"d"}, rules, std::chrono::hours(1));
  real.ask({"SET", later.names()[0], "x", "EX", "20"});
  later.keep_alive(cluster, 1);
  EXPECT_LE(lives(later, 0), 20);
}

}  // namespace
}  // namespace bloomery::test
