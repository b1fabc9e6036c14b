// A connection that is closed while it idles is made again without an error, unless the server may have lost something
// meanwhile.
#include <bloomery/redis_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "redis/listener.hpp"
#include "redis/scripted.hpp"
#include "redis/server.hpp"
#include "redis/wire/history.hpp"
#include "support/in_child.hpp"

namespace bloomery::test {
namespace {

using namespace std::chrono_literals;

// Long enough to be looked after.
void idle() { std::this_thread::sleep_for(1050ms); }

void kill_clients(const Server& server) { server.ask({"CLIENT", "KILL", "TYPE", "normal"}); }

// A connection that knows the history of its server.
struct Idle {
  explicit Idle(const RedisAddress& address) : connection(address) {
    ping();
    idle();
    ping();
  }
  void ping() { connection.ask({"PING"}); }
  void ping_with_error(const char* said) {
    expect_error(ErrorCode::unavailable, {said}, [this] { ping(); });
  }
  detail::Connection connection;
};

TEST(IdleConnection, IsMadeAgainToTheSameServer) {
  const Server server;
  Idle idle_one(server.address());
  for (const std::uint64_t times : {2, 3}) {
    kill_clients(server);
    idle();
    idle_one.ping();
    EXPECT_EQ(idle_one.connection.count(), times);
  }
  // The server was asked when the first connection idled, and over each of the others.
  EXPECT_NE(server.get_info("commandstats").find("cmdstat_info:calls=9,"), std::string::npos);
}

// Then the connection breaks as any other, and nothing that the next one finds was lost since.
TEST(IdleConnection, IsNoneIfItWasJustUsed) {
  Server server;
  Idle idle_one(server.address());
  server.stop();
  server.start();
  idle_one.ping_with_error("; the next call connects again");
  for (int i = 0; i < 2; ++i) {
    idle_one.ping();
    idle();
  }
  kill_clients(server);
  idle();
  idle_one.ping();
}

// Who idles at once gets one error; from then on the history is asked for in time.
TEST(IdleConnection, IsAnErrorOnlyOnceWithoutAHistory) {
  const Server server;
  detail::Connection connection(server.address());
  connection.ask({"PING"});
  kill_clients(server);
  idle();
  expect_error(ErrorCode::unavailable, {"; the next call connects again"},
               [&] { connection.ask({"PING"}); });
  connection.ask({"PING"});
  kill_clients(server);
  idle();
  connection.ask({"PING"});
  EXPECT_EQ(connection.count(), 3);
}

TEST(IdleConnection, IsAnErrorIfTheServerWasStartedAgain) {
  Server server;
  Idle idle_one(server.address());
  server.stop();
  server.start();
  idle();
  idle_one.ping_with_error("what was added last may be lost");
  // That is told once.
  idle_one.ping();
  kill_clients(server);
  idle();
  idle_one.ping();
}

TEST(IdleConnection, IsAnErrorIfTheServerWasAReplica) {
  const Server server;
  Idle idle_one(server.address());
  server.become_replica_and_master_again();
  kill_clients(server);
  idle();
  idle_one.ping_with_error("what was added last may be lost");
  idle_one.ping();
}

// Its data will be those of another server, and nothing else that it tells must have changed.
TEST(IdleConnection, IsAnErrorIfTheServerIsAReplicaNow) {
  const Server server;
  Idle idle_one(server.address());
  server.ask({"REPLICAOF", "127.0.0.1", "1"});
  kill_clients(server);
  idle();
  idle_one.ping_with_error("what was added last may be lost");
  idle_one.ping();
}

TEST(IdleConnection, IsAnErrorWithItsReasonIfTheServerTakesNoMore) {
  const Server server;
  Idle idle_one(server.address());
  kill_clients(server);
  detail::Connection other(server.address());
  other.ask({"CONFIG", "SET", "maxclients", "1"});
  idle();
  idle_one.ping_with_error("max number of clients");
  other.ask({"CONFIG", "SET", "maxclients", "2"});
  idle_one.ping();
}

// Nobody knows the history, so it is as it was without one.
TEST(IdleConnection, IsAnErrorWithoutTheRightToInfo) {
  const Server server;
  Idle idle_one(server.as_user({"+ping"}));
  kill_clients(server);
  idle();
  idle_one.ping_with_error("the server hung up");
  idle_one.ping();
}

// Some proxies hang up at a command that they do not know. Once may be chance.
TEST(IdleConnection, IsAnErrorOnlyTwiceIfTheServerHangsUpAtInfo) {
  const Server server;
  for (const int most : {1, 9}) {
    std::atomic<int> asked = 0;
    Scripted proxy(server.path());
    proxy.say([&](const Scripted::Words& words) {
      return words[0] == "INFO" && ++asked <= most ? std::optional<std::string>("") : std::nullopt;
    });
    detail::Connection connection({.port = proxy.port()});
    for (int i = 0; i < std::min(most, 2); ++i) {
      connection.ask({"PING"});
      idle();
      expect_error(ErrorCode::unavailable, {"; the next call connects again"},
                   [&] { connection.ask({"PING"}); });
    }
    for (int i = 0; i < 2; ++i) {
      connection.ask({"PING"});
      idle();
      connection.ask({"PING"});
    }
    EXPECT_EQ(asked, most == 1 ? 1 + 3 : 2) << "three sections, or the first of them in vain";
  }
}

// A script that runs for long keeps nobody from asking later.
TEST(IdleConnection, IsAskedAboutAgainIfTheServerWasBusy) {
  const Server server;
  std::atomic<int> asked = 0;
  Scripted node(server.path());
  node.say([&](const Scripted::Words& words) {
    return words[0] == "INFO" && ++asked <= 3 ? std::optional<std::string>("-BUSY wait\r\n")
                                              : std::nullopt;
  });
  detail::Connection connection({.port = node.port()});
  for (const int expected : {0, 3, 6, 6}) {
    connection.ask({"PING"});
    EXPECT_EQ(asked, expected);
    idle();
  }
}

// Then the child knows only whether the connection of its parent has ended.
TEST(IdleConnection, OfAParentWithoutAHistoryIsAnErrorIfItHasEnded) {
  for (const bool starts_again : {false, true}) {
    Server server;
    detail::Connection connection(server.address());
    connection.ask({"PING"});
    if (starts_again) {
      server.stop();
      server.start();
    }
    EXPECT_TRUE(in_child([&] {
      bool threw = false;
      try {
        connection.ask({"PING"});
      } catch (const Error& error) {
        threw = std::string(error.what()).find("the server hung up; ") != std::string::npos;
      }
      connection.ask({"PING"});
      return threw == starts_again && connection.count() == 2;
    })) << starts_again;
  }
}

// A child knows what its parent knew.
TEST(IdleConnection, IsComparedInTheChildOfAFork) {
  for (const bool starts_again : {false, true}) {
    Server server;
    Idle idle_one(server.address());
    if (starts_again) {
      server.stop();
      server.start();
    }
    EXPECT_TRUE(in_child([&] {
      try {
        idle_one.ping();
        return !starts_again && idle_one.connection.count() == 2;
      } catch (const Error& error) {
        return starts_again && std::string(error.what()).find("may be lost") != std::string::npos;
      }
    })) << starts_again;
  }
}

// Bytes that come unasked are no answer, with the last one or after it.
TEST(IdleConnection, TakesNothingUnaskedForAnAnswer) {
  const Listener stranger;
  for (const bool at_once : {true, false}) {
    detail::Connection connection({.port = stranger.port()});
    detail::Commands ping;
    ping.command({"PING"});
    connection.send(ping);
    const int peer = ::accept(stranger.fd(), nullptr, nullptr);
    const std::string answer = "+PONG\r\n", stray = "+stray\r\n";
    const auto say = [&](const std::string& bytes) {
      ASSERT_EQ(::write(peer, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    };
    say(at_once ? answer + stray : answer);
    EXPECT_STREQ(connection.receive()->str, "PONG");
    if (!at_once) {
      say(stray);
      idle();
    }
    expect_error(ErrorCode::unavailable, {"what nobody had asked for"},
                 [&] { connection.send(ping); });
    ::close(peer);
  }
}

// Its answers must not be taken for those of the next connection.
TEST(IdleConnection, IsNoneWhileAnswersAreUnderWay) {
  const Server server;
  Idle idle_one(server.address());
  detail::Commands three;
  for (const char* word : {"one", "two", "three"}) three.command({"ECHO", word});
  idle_one.connection.send(three);
  idle();
  detail::Commands four;
  idle_one.connection.send(four.append(detail::Commands().command({"ECHO", "four"}).bytes()));
  for (const char* word : {"one", "two", "three", "four"})
    EXPECT_STREQ(idle_one.connection.receive()->str, word);
  EXPECT_EQ(idle_one.connection.count(), 1);
  // And if the server is gone, the commands were sent to nobody.
  idle_one.connection.send(three);
  kill_clients(server);
  idle();
  expect_error(ErrorCode::unavailable, {"; the next call connects again"}, [&] {
    idle_one.connection.send(three);
    for (int i = 0; i < 6; ++i) (void)idle_one.connection.receive();
  });
  EXPECT_EQ(idle_one.connection.count(), 1);
}

// The server's own setting, with filters that have one, two and several connections.
TEST(IdleConnection, OfAFilterIsMadeAgain) {
  const Server server;
  const Plan small = plan(1'000, 0.01);
  auto single = RedisFilter::create({server.address(), "single"}, small);
  auto sharded = RedisFilter::create({server.address(), "sharded", 3}, small);
  auto rotating = RotatingRedisFilter::create({server.address(), "rotating"}, 1'000, 0.01);
  const auto insert = [&](std::uint64_t key) {
    EXPECT_TRUE(single.insert(key));
    EXPECT_TRUE(sharded.insert(key));
    EXPECT_TRUE(rotating.insert(key));
  };
  insert(1);
  idle();
  insert(2);
  server.ask({"CONFIG", "SET", "timeout", "1"});
  for (std::uint64_t key = 3; key < 5; ++key) {
    server.wait_for("clients", "connected_clients:1\r");
    insert(key);
  }
  for (std::uint64_t key = 1; key < 5; ++key)
    EXPECT_TRUE(single.may_contain(key) && sharded.may_contain(key) && rotating.may_contain(key));
}

// The cases that no test can make a server go through in time.
TEST(History, SaysWhatMayBeLost) {
  const std::string zeros(40, '0'), a(40, 'a'), b(40, 'b');
  const detail::History master{a, zeros, "0", "process", "master"};
  const auto lost = [&](const detail::History& now) { return master.may_be_lost(now); };
  EXPECT_FALSE(lost(master));
  // The first replica came, or the last left.
  EXPECT_FALSE(lost({b, zeros, "0", "process", "master"}));
  EXPECT_TRUE(lost({b, a, "0", "process", "master"}));
  EXPECT_TRUE(lost({b, zeros, "9", "process", "master"}));
  EXPECT_TRUE(lost({a, zeros, "0", "another", "master"}));
  // It copied another server, and CONFIG RESETSTAT came after that.
  EXPECT_TRUE(lost({b, zeros, "0", "process", "slave"}));
  EXPECT_TRUE(lost({}));
  EXPECT_TRUE(master.is_known());
  EXPECT_FALSE(detail::History().is_known());
  for (const detail::History& part : {detail::History{"", zeros, "0", "process", "master"},
                                      {a, zeros, "0", "", "master"},
                                      {a, zeros, "0", "process", ""}})
    EXPECT_FALSE(part.is_known());
  EXPECT_TRUE(master.is_that_of(master));
  for (const detail::History& other : {detail::History{b, zeros, "0", "process", "master"},
                                       {a, zeros, "0", "another", "master"},
                                       {a, zeros, "0", "process", "slave"},
                                       {}})
    EXPECT_FALSE(master.is_that_of(other));
}

}  // namespace
}  // namespace bloomery::test
