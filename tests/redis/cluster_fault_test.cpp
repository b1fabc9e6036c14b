// Whatever a node of a cluster says is followed, bounded, or an error that says what to do.
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "redis/cluster/cluster.hpp"
#include "redis/cluster/slots.hpp"
#include "redis/cluster/transaction.hpp"
#include "redis/node_pair.hpp"

namespace bloomery {
namespace {

using test::error_of;
using test::error_reply;
using test::Scripted;
using test::Server;
using Pair = test::NodePair;
using Words = Scripted::Words;
using Said = std::optional<std::string>;

TEST(ClusterFault, AMovedSlotIsFollowedAndRemembered) {
  for (const char* host : {"127.0.0.1", ""}) {  // a node that does not know its name
    Pair pair;
    pair.first_says(pair.to_second("MOVED", host));
    EXPECT_TRUE(pair.all_there());
    pair.first_says(pair.to_second("MOVED", host));
    EXPECT_TRUE(pair.all_there());
    EXPECT_EQ(pair.first.asked(), 0) << "the way was not remembered";
    EXPECT_FALSE(pair.filter->insert(Pair::keys()[7]));
  }
}

// The first look-up of those for a shard is asked again where the others are sent on to.
TEST(ClusterFault, ASlotThatMovesWithinABatchCountsEachKeyOnce) {
  Pair pair;
  const auto keys = Pair::keys();
  const auto few = std::span(keys).first(9);
  int left = 2;
  pair.first.say([&](const Words& words) -> Said {
    if (words[0] == "CLUSTER") return pair.slots();
    return left-- > 0 ? std::nullopt : Said(pair.to_second("MOVED"));
  });
  EXPECT_EQ(pair.filter->may_contain_many(few), few.size());
  EXPECT_EQ(pair.filter->acknowledged(), few.size());
  EXPECT_LT(left, 0);
}

TEST(ClusterFault, BitsAreReadWhereverTheirSlotGoes) {
  for (const char* word : {"MOVED", "ASK", "TRYAGAIN"}) {
    SCOPED_TRACE(word);
    Pair pair;
    const auto read = [&] {
      std::vector<std::byte> bits(pair.filter->plan().bytes());
      pair.filter->read(0, bits);
      return bits;
    };
    const auto there = read();
    int sent_on = 0;
    bool asking = false;
    // As a node answers within a transaction.
    pair.first.say([&](const Words& words) -> Said {
      if (words[0] == "CLUSTER") return pair.slots();
      if (words[0] == "MULTI") return "+OK\r\n";
      if (words[0] == "EXEC") return "-EXECABORT Transaction discarded because of errors.\r\n";
      if (word == std::string("TRYAGAIN") && words[0] == "EVAL") return std::nullopt;
      ++sent_on;
      return word == std::string("TRYAGAIN") ? "-TRYAGAIN soon\r\n" : pair.to_second(word);
    });
    pair.second.say([&](const Words& words) -> Said {
      if (words[0] == "ASKING") {
        asking = true;
        return "+OK\r\n";
      }
      return std::nullopt;
    });
    EXPECT_TRUE(read() == there);
    EXPECT_EQ(sent_on, 6);
    EXPECT_EQ(asking, word == std::string("ASK"));
  }
}

TEST(ClusterFault, AMovingSlotIsAskedForAtBothEnds) {
  Pair pair;
  pair.first_says(pair.to_second("ASK"));
  // A node takes a command for a slot that is not yet its own only after ASKING.
  const auto asked = std::make_shared<bool>(false);
  int without = 0;
  pair.second.say([&, asked](const Words& words) -> Said {
    if (words[0] == "ASKING") {
      *asked = true;
      return "+OK\r\n";
    }
    if (!std::exchange(*asked, false)) ++without;
    return std::nullopt;
  });
  EXPECT_TRUE(pair.all_there());
  EXPECT_EQ(without, 0);
  const int before = pair.first.asked();
  EXPECT_TRUE(pair.all_there());
  EXPECT_GT(pair.first.asked(), before) << "the slot is the first node's until it says MOVED";
}

TEST(ClusterFault, AUserWhoMayNotAskAtTheOtherEndIsToldSo) {
  Pair pair;
  pair.first_says(pair.to_second("ASK"));
  pair.second.say([&](const Words& words) -> Said {
    if (words[0] == "ASKING") return "-NOPERM no permissions to run the 'asking' command\r\n";
    return error_reply("MOVED 13907 127.0.0.1:" + std::to_string(pair.first.port()));
  });
  EXPECT_NE(error_of([&] { pair.all_there(); }, ErrorCode::denied)
                .find("'asking' command; give the user these rights"),
            std::string::npos);
  pair.everything_at_first();
  EXPECT_TRUE(pair.all_there());
}

TEST(ClusterFault, TryAgainIsTriedAgainForAWhile) {
  Pair pair;
  int left = 4;
  pair.first.say([&](const Words& words) -> Said {
    if (words[0] == "CLUSTER") return pair.slots();
    if (Pair::is_look_up(words) && left > 0 && left-- > 0) return "-TRYAGAIN soon\r\n";
    return std::nullopt;
  });
  pair.filter->insert_many(Pair::keys());
  EXPECT_TRUE(pair.all_there());
  EXPECT_EQ(left, 0);
  pair.first_says("-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
  EXPECT_NE(error_of([&] { pair.all_there(); }, ErrorCode::unavailable).find("16 times"),
            std::string::npos);
}

TEST(ClusterFault, NodesThatSendInCirclesAreLeft) {
  Pair pair;
  pair.first_says(pair.to_second("MOVED"));
  pair.second.say([&](const Words&) -> Said {
    return error_reply("MOVED 13907 127.0.0.1:" + std::to_string(pair.first.port()));
  });
  EXPECT_NE(error_of([&] { pair.all_there(); }, ErrorCode::unavailable).find("node to node"),
            std::string::npos);
  EXPECT_EQ(pair.filter->acknowledged(), 0U);
  EXPECT_LT(pair.first.asked() + pair.second.asked(), 18 * 510);
  pair.everything_at_first();
  EXPECT_TRUE(pair.all_there());
}

TEST(ClusterFault, AStringThatIsElsewhereEmptyIsNotAbsent) {
  // Both ways lead to a server that has never heard of the filter.
  for (const char* word : {"MOVED", "ASK"}) {
    Pair pair;
    const Server empty;
    Scripted stranger(empty.path());
    stranger.say([](const Words& words) -> Said {
      return words[0] == "ASKING" ? Said("+OK\r\n") : std::nullopt;
    });
    pair.first_says(error_reply(
        std::string(word).append(" 1 127.0.0.1:").append(std::to_string(stranger.port()))));
    error_of([&] { pair.all_there(); }, ErrorCode::missing);
    EXPECT_EQ(pair.filter->acknowledged(), 0U);
    error_of([&] { pair.filter->insert_many(Pair::keys()); }, ErrorCode::missing);
    EXPECT_EQ(empty.ask({"DBSIZE"})->integer, 0) << "an insert left something behind";
  }
}

TEST(ClusterFault, AnErrorForOneShardLeavesTheOthersInStep) {
  Pair pair;
  const std::string key = pair.filter->keys()[1];
  pair.first.say([&, key](const Words& words) -> Said {
    if (words[0] == "CLUSTER") return pair.slots();
    return words[1] == key ? Said("-OOM used memory\r\n") : std::nullopt;
  });
  const auto fresh = Pair::keys().size();
  std::vector<std::uint64_t> keys(3'000);
  std::iota(keys.begin(), keys.end(), 50'000 + fresh);
  error_of([&] { pair.filter->insert_many(keys); }, ErrorCode::no_space);
  pair.everything_at_first();
  const std::size_t done = pair.filter->acknowledged();
  EXPECT_LT(done, 50U);
  EXPECT_EQ(pair.filter->may_contain_many(std::span(keys).first(done)), done);
  EXPECT_TRUE(pair.all_there());
}

TEST(ClusterFault, WhatIsNoSlotTableIsNotBelieved) {
  const Server real;
  Scripted node(real.path());
  const std::string port = std::to_string(node.port());
  for (const std::string& reply :
       {std::string(":5\r\n"), std::string("*1\r\n:1\r\n"), std::string("*1\r\n*2\r\n:0\r\n:1\r\n"),
        "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$9\r\n127.0.0.1\r\n:" + port + "\r\n",
        "*1\r\n*3\r\n:-1\r\n:5\r\n*2\r\n$9\r\n127.0.0.1\r\n:" + port + "\r\n",
        "*1\r\n*3\r\n:9\r\n:5\r\n*2\r\n$9\r\n127.0.0.1\r\n:" + port + "\r\n",
        std::string("*1\r\n*3\r\n:0\r\n:5\r\n*2\r\n$9\r\n127.0.0.1\r\n:0\r\n"),
        std::string("*1\r\n*3\r\n:0\r\n:5\r\n*2\r\n$9\r\n127.0.0.1\r\n:65536\r\n"),
        std::string("*1\r\n*3\r\n:0\r\n:5\r\n:7\r\n")}) {
    node.say([&](const Words&) -> Said { return reply; });
    error_of([&] { RedisFilter::open({{.port = node.port()}, "filter", 0}); }, ErrorCode::io);
  }
  // Rights that are lacking are said; a server that knows no clusters has all slots.
  node.say([](const Words& words) -> Said {
    return words[0] == "CLUSTER" ? Said("-NOPERM no permissions\r\n") : std::nullopt;
  });
  error_of([&] { RedisFilter::open({{.port = node.port()}, "filter", 0}); }, ErrorCode::denied);
  node.say([](const Words& words) -> Said {
    return words[0] == "CLUSTER" ? Said("-ERR unknown command 'CLUSTER'\r\n") : std::nullopt;
  });
  error_of([&] { RedisFilter::open({{.port = node.port()}, "filter", 0}); }, ErrorCode::missing);
}

TEST(ClusterFault, ATransactionThatIsAbortedWithoutAReasonIsNotAbsent) {
  Pair pair;
  pair.first.say([slots = pair.slots()](const Words& words) -> Said {
    if (words[0] == "CLUSTER") return slots;
    if (words[0] == "EXEC")
      return "-EXECABORT Transaction discarded because of previous errors.\r\n";
    return words[0] == "MULTI" ? "+OK\r\n" : "+QUEUED\r\n";
  });
  EXPECT_NE(error_of([&] { pair.all_there(); }, ErrorCode::unavailable).find("try again"),
            std::string::npos);
  EXPECT_EQ(pair.filter->acknowledged(), 0U);
  pair.everything_at_first();
  EXPECT_TRUE(pair.all_there());
}

TEST(ClusterFault, ANodeTooManyIsTheFaultOfItsRequestAlone) {
  const Server real;
  Scripted node(real.path());
  // As many nodes as are believed; the last has all the slots of these keys.
  constexpr int kOthers = 4'095;
  const std::vector<std::string> keys = {"a", "c", "d"};
  for (const std::string& key : keys) {
    ASSERT_GE(detail::slot_of(key), kOthers);
    real.ask({"SET", key, "value of " + key});
  }
  const auto range = [](int first, int last, const std::string& host, int port) {
    return "*3\r\n:" + std::to_string(first) + "\r\n:" + std::to_string(last) + "\r\n*2\r\n$" +
           std::to_string(host.size()) + "\r\n" + host + "\r\n:" + std::to_string(port) + "\r\n";
  };
  std::string slots = "*" + std::to_string(kOthers + 1) + "\r\n";
  for (int i = 0; i < kOthers; ++i) slots += range(i, i, "host" + std::to_string(i), 1);
  slots += range(kOthers, detail::kSlots - 1, "127.0.0.1", node.port());
  bool again = true;
  node.say([&](const Words& words) -> Said {
    if (words[0] == "CLUSTER") return slots;
    if (words[1] == "a" && std::exchange(again, false)) return "-TRYAGAIN soon\r\n";
    return words[1] == "c" ? Said("-MOVED 7365 onemore:1\r\n") : std::nullopt;
  });
  detail::Cluster cluster({.port = node.port()});
  const auto text = [](const detail::Reply& reply) { return std::string(reply->str, reply->len); };
  std::vector<detail::Request> requests;
  for (const char* key : {"a", "c"}) requests.emplace_back(key).next().command({"GET", key});
  std::vector<std::string> said(2);
  cluster.run(requests, [&](std::size_t request, std::size_t, const detail::Reply& reply) {
    said[request] = text(reply);
  });
  EXPECT_EQ(said, (std::vector<std::string>{"value of a", ""}));
  ASSERT_TRUE(requests[1].fault());
  EXPECT_NE(std::string(requests[1].fault()->what()).find("4096 nodes"), std::string::npos);
  EXPECT_EQ(text(cluster.ask("d", {"GET", "d"})), "value of d") << "an answer to another command";
}

TEST(ClusterFault, AnythingThrownLeavesNoAnswerForTheNext) {
  const Server real;
  detail::Cluster cluster(real.address());
  for (const char* key : {"a", "b", "c"}) real.ask({"SET", key, key});
  std::vector<detail::Request> requests;
  for (const char* key : {"a", "b"}) requests.emplace_back(key).next().command({"GET", key});
  EXPECT_THROW(cluster.run(requests, [](std::size_t, std::size_t,
                                        const detail::Reply&) { throw std::bad_alloc(); }),
               std::bad_alloc);
  const detail::Reply reply = cluster.ask("c", {"GET", "c"});
  EXPECT_EQ(std::string(reply->str, reply->len), "c");
}

TEST(ClusterFault, ATransactionThatThrowsLeavesNoAnswerForTheNext) {
  const Server real;
  detail::Cluster cluster(real.address());
  for (const char* key : {"a", "b"}) real.ask({"SET", key, key});
  const detail::Transaction both{"a", "a", {{"GET", "a"}, {"GET", "a"}}};
  const std::vector<detail::Transaction> two(2, both);
  EXPECT_THROW(
      detail::run_transactions(cluster, two, [](std::size_t, auto) { throw std::bad_alloc(); }),
      std::bad_alloc);
  const detail::Reply reply = cluster.ask("b", {"GET", "b"});
  EXPECT_EQ(std::string(reply->str, reply->len), "b");
}

// The fault of a request is what came first; one that is answered has none.
TEST(ClusterFault, IsThatOfItsRequest) {
  const Server real;
  Scripted node(real.path());
  detail::Cluster cluster({.port = node.port()});
  std::vector<detail::Request> requests;
  for (const char* key : {"answered", "again", "refused", "lost"})
    requests.emplace_back(key).next().command({"GET", key});
  requests[2].next().command({"GET", "hangs up"});
  bool gone = false;
  node.say([&](const Words& words) -> Said {
    if (words[0] == "CLUSTER")
      return gone ? Said("-NOPERM no\r\n")
                  : Said("-ERR This instance has cluster support disabled\r\n");
    if (words[1] == "again") return "-TRYAGAIN soon\r\n";
    if (words[1] == "hangs up") {
      gone = true;
      return "";
    }
    return "+" + words[1] + "\r\n";
  });
  std::vector<std::string> said(4);
  cluster.run(requests, [&](std::size_t request, std::size_t, const detail::Reply& reply) {
    said[request].assign(reply->str, reply->len);
    if (request == 2) throw Error(ErrorCode::corrupt, "what was said is wrong");
  });
  EXPECT_EQ(said, (std::vector<std::string>{"answered", "", "refused", ""}));
  EXPECT_FALSE(requests[0].fault());
  for (const auto& [request, code] :
       {std::pair(1, ErrorCode::denied), std::pair(2, ErrorCode::corrupt),
        std::pair(3, ErrorCode::unavailable)}) {
    ASSERT_TRUE(requests[request].fault()) << request;
    EXPECT_EQ(requests[request].fault()->code(), code) << requests[request].fault()->what();
  }
}

}  // namespace
}  // namespace bloomery
