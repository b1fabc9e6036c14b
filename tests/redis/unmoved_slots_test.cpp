// A filter that is written as a whole, in shards or under one key, is no filter with holes where a node takes over from
// another.
#include <bloomery/error.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/php_filter.hpp>
#include <bloomery/redis_filter.hpp>
#include <bloomery/redis_php_filter.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "redis/node_pair.hpp"
#include "redis/nodes.hpp"
#include "store/scratch.hpp"

namespace bloomery::test {
namespace {

using Pair = NodePair;
using Words = Pair::Words;
using Said = Pair::Said;

// A new node that is a replica that took over may lack what the old one has acknowledged.
TEST(UnmovedSlots, AFilterWhoseSlotMovesWhileItIsWrittenIsAnError) {
  Pair pair;
  Filter whole(plan(10'000, 0.01));
  whole.insert_many(Pair::keys());
  int errors = 0;
  long long published = 0;
  // The slot moves after so many commands.
  for (int calls = 0, moved = 1; moved != 0; ++calls) {
    SCOPED_TRACE(calls);
    pair.everything_at_first();
    auto writer = RedisFilterWriter::of_bits({pair.address(), "copy-" + std::to_string(calls), 1},
                                             whole.plan(), whole.hasher());
    moved = 0;
    bool put_there = false;
    int left = calls;
    pair.first.say([&](const Words& words) -> Said {
      if (words[0] == "CLUSTER") return pair.slots();
      if (left-- > 0) return std::nullopt;
      ++moved;
      return pair.to_second("MOVED");
    });
    pair.second.say([&](const Words& words) -> Said {
      put_there = put_there || words[0] == "SETRANGE" ||
                  (words[0] == "EVAL" && words[1].find("RENAME") != std::string::npos);
      return std::nullopt;
    });
    try {
      writer.write(0, whole.bytes());
      writer.publish();
      EXPECT_FALSE(put_there) << "the new node got a part without a word";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unavailable);
      EXPECT_NE(std::string(error.what()).find("run it again"), std::string::npos) << error.what();
      ++errors;
      published += pair.real.ask({"EXISTS", "copy-" + std::to_string(calls) + ":{0}"})->integer;
    }
    pair.everything_at_first();
  }
  EXPECT_GT(errors, 3);
  EXPECT_EQ(published, 0);
}

// When the node is back it may be one that has taken over.
TEST(UnmovedSlots, AWriterThatHasLostANodeDoesNotGoOn) {
  for (const char* lost : {"", "-CLUSTERDOWN Hash slot not served\r\n"}) {
    Pair pair;
    auto writer =
        RedisFilterWriter::of_keys({pair.address(), "copy", 2}, plan(10'000, 0.01), Hasher());
    const auto hashes = hashes_of(Hasher(), 0, 100);
    writer.insert_hashes(hashes);
    pair.first.say([&](const Words& words) -> Said {
      return Pair::is_look_up(words) ? Said(lost) : std::nullopt;
    });
    error_of([&] { writer.insert_hashes(hashes); }, ErrorCode::unavailable);
    pair.everything_at_first();
    for (const bool inserts : {true, false}) {
      expect_error(ErrorCode::unavailable, {"run it again"}, [&] {
        if (inserts) writer.insert_hashes(hashes);
        if (!inserts) writer.publish();
      });
    }
    EXPECT_EQ(pair.real.ask({"EXISTS", "copy:{0}"})->integer, 0);
  }
}

// Such a server takes the data of its master, in which the last writes may be missing. Its connections stay.
TEST(UnmovedSlots, AServerThatWasAReplicaMeanwhileMayHaveLostAPart) {
  const Server server;
  Filter whole(plan(10'000, 0.01));
  whole.insert_many(Pair::keys());
  for (const bool is_replica : {false, true})
    for (const bool in_shards : {false, true}) {
      const std::string key = std::to_string(is_replica) + std::to_string(in_shards);
      const RedisPlace place =
          in_shards ? RedisPlace{server.address(), key, 3} : RedisPlace{server.address(), key};
      const std::string first = in_shards ? key + ":{0}" : key;
      auto bits = RedisFilterWriter::of_bits(place, whole.plan(), whole.hasher());
      bits.write(0, whole.bytes());
      if (is_replica) server.become_replica_and_master_again();
      if (is_replica)
        expect_error(ErrorCode::unavailable, {"run it again"}, [&] { bits.publish(); });
      else
        bits.publish();
      EXPECT_EQ(server.ask({"EXISTS", first})->integer, is_replica ? 0 : 1);
    }
  // Keys that are collected here are all written at the end.
  const RedisPlace place{server.address(), "collected"};
  auto keys = RedisFilterWriter::of_keys(place, whole.plan(), whole.hasher());
  const auto hashes = hashes_of(Hasher(), 0, 100);
  keys.insert_hashes(hashes);
  server.become_replica_and_master_again();
  keys.publish();
  EXPECT_EQ(RedisFilter::open(place).may_contain_hashes(hashes), hashes.size());
}

// A bucket of a PHP class is copied by one call.
TEST(UnmovedSlots, ABucketIsCopiedWholeOrNotAtAll) {
  Pair pair;
  const PhpFilter bits(PhpScheme::string_hashes("BKDR"));
  for (const bool is_replica : {false, true}) {
    const std::string key = is_replica ? "no bucket" : "bucket";
    // A slow machine also looks before it writes, because the connection has idled.
    bool writes = false;
    int looks = 0;
    pair.first.say([&](const Words& words) -> Said {
      writes = writes || words[0] == "SETRANGE";
      if (words[0] == "INFO" && words[1] == "replication" && writes && ++looks == 1 && is_replica)
        pair.real.become_replica_and_master_again();
      return std::nullopt;
    });
    const auto store = [&] { RedisPhpFilter::store({pair.address(), key}, bits); };
    if (is_replica)
      expect_error(ErrorCode::unavailable, {"run it again"}, store);
    else
      store();
    EXPECT_GE(looks, 1);
    EXPECT_EQ(pair.real.ask({"EXISTS", key})->integer, is_replica ? 0 : 1);
  }
}

// The history of a master has another name when its first replica has come, and when the last one left long ago.
TEST(UnmovedSlots, ACopyOfTheServersDataIsNoLoss) {
  const Server server;
  Filter whole(plan(10'000, 0.01));
  whole.insert_many(Pair::keys());
  auto writer =
      RedisFilterWriter::of_bits({server.address(), "copied"}, whole.plan(), whole.hasher());
  writer.write(0, whole.bytes());
  const auto name = [&] {
    const std::string info = server.get_info("replication");
    return info.substr(info.find("master_replid:"), 54);
  };
  const std::string before = name();
  server.send_a_copy();
  EXPECT_NE(name(), before);
  writer.publish();
  EXPECT_TRUE(RedisFilter::open({server.address(), "copied"}).may_contain(Pair::keys().front()));
  // But not afterwards.
  auto other =
      RedisFilterWriter::of_bits({server.address(), "other"}, whole.plan(), whole.hasher());
  other.write(0, whole.bytes());
  server.become_replica_and_master_again();
  server.send_a_copy();
  error_of([&] { other.publish(); }, ErrorCode::unavailable);
}

// A server that nobody has copied for long calls its history so, too.
TEST(UnmovedSlots, AServerThatWasAReplicaIsKnownWhenItsFormerNameIsGone) {
  const std::string ports[] = {std::to_string(free_port()), std::to_string(free_port())};
  const auto on = [](const std::string& port) {
    return std::vector<std::string>{"--port", port, "--repl-diskless-sync-delay", "0"};
  };
  const Server server(on(ports[0])), other(on(ports[1]));
  server.ask({"CONFIG", "SET", "repl-backlog-ttl", "1"});
  const auto copy = [&](const Server& to, const std::string& from) {
    to.ask({"REPLICAOF", "127.0.0.1", from});
    to.wait_for("replication", "master_link_status:up");
    to.ask({"REPLICAOF", "NO", "ONE"});
  };
  Filter whole(plan(10'000, 0.01));
  whole.insert_many(Pair::keys());
  for (const bool is_replica : {false, true}) {
    const std::string key = std::to_string(is_replica);
    auto writer = RedisFilterWriter::of_bits({server.address(), key}, whole.plan(), whole.hasher());
    copy(other, ports[0]);
    writer.write(0, whole.bytes());
    if (is_replica) copy(server, ports[1]);
    server.wait_for("replication", "repl_backlog_active:0");
    server.wait_for("replication", "master_replid2:0000");
    if (is_replica)
      expect_error(ErrorCode::unavailable, {"run it again"}, [&] { writer.publish(); });
    else
      writer.publish();
    EXPECT_EQ(server.ask({"EXISTS", key})->integer, is_replica ? 0 : 1);
  }
}

// A proxy keeps its connection to the client while it takes another server, or one that has started again.
TEST(UnmovedSlots, AnotherServerBehindAProxyMayLackAPart) {
  Pair pair;
  const Server other;
  Filter whole(plan(10'000, 0.01));
  auto writer = RedisFilterWriter::of_bits({pair.address(), "new"}, whole.plan(), whole.hasher());
  writer.write(0, whole.bytes());
  pair.first.say([&](const Words& words) -> Said {
    if (words[0] != "INFO") return std::nullopt;
    const std::string said = other.get_info(words[1]);
    return "$" + std::to_string(said.size()) + "\r\n" + said + "\r\n";
  });
  expect_error(ErrorCode::unavailable, {"run it again"}, [&] { writer.publish(); });
  EXPECT_EQ(pair.real.ask({"EXISTS", "new"})->integer, 0);
}

// A server that tells nothing now may tell it later.
TEST(UnmovedSlots, AnErrorOfTheServerIsNotTakenForAnotherHistory) {
  Pair pair;
  Filter whole(plan(10'000, 0.01));
  const std::string server = "127.0.0.1:" + std::to_string(pair.first.port());
  for (const std::string said : {"BUSY wait", "LOADING soon", "MASTERDOWN no link",
                                 "CLUSTERDOWN no", "NOPERM no", "ERR unknown command"})
    for (const int look : {1, 2}) {
      SCOPED_TRACE(said + std::to_string(look));
      int looks = 0;
      pair.first.say([&](const Words& words) -> Said {
        if (words[0] == "INFO" && words[1] == "replication") ++looks;
        return words[0] == "INFO" && looks >= look ? Said("-" + said + "\r\n") : std::nullopt;
      });
      const auto write = [&] {
        auto writer =
            RedisFilterWriter::of_bits({pair.address(), "new"}, whole.plan(), whole.hasher());
        writer.write(0, whole.bytes());
        writer.publish();
      };
      if (!said.starts_with("NOPERM") && !said.starts_with("ERR")) {
        expect_error(ErrorCode::unavailable, {said, server + " '{new}:"}, write);
      } else if (look == 1) {
        write();
        pair.real.ask({"DEL", "new"});
      } else {
        error_of(write, ErrorCode::unavailable);  // what it told before, it does not tell now
      }
      EXPECT_EQ(pair.real.ask({"EXISTS", "new"})->integer, 0);
    }
}

}  // namespace
}  // namespace bloomery::test
