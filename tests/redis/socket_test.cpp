// One connection: how long it waits, what it leaves behind, and which descriptor it has.
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "redis/listener.hpp"
#include "redis/server.hpp"
#include "support/in_child.hpp"

namespace bloomery::test {
namespace {

using namespace std::chrono_literals;

TEST(Socket, SaysHowItsProgramMayOpenMore) {
  EXPECT_TRUE(in_child([] {
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    ::setrlimit(RLIMIT_NOFILE, &none);
    const std::string said = error_of(
        [] {
          RedisFilter::open({{.socket = "/nowhere"}, "filter"});
        },
        ErrorCode::unavailable);
    return said.find("ulimit -n") != std::string::npos;
  }));
}

TEST(Socket, WaitsNoLongerThanItsTimeout) {
  // A client that nobody accepts fills the queue, and the server drops the packets of the next.
  const Listener full(0);
  const detail::Socket first({.port = full.port()}, "first");
  std::string said =
      error_of([&] { detail::Connection({.port = full.port(), .timeout = 20ms}).ask({"PING"}); },
               ErrorCode::unavailable);
  EXPECT_NE(said.find("cannot be reached: Connection timed out"), std::string::npos) << said;
  // One that is not read takes as many bytes as the system has room for.
  const Listener deaf;
  detail::Socket socket({.port = deaf.port(), .timeout = 20ms}, "deaf");
  said = error_of([&] { socket.send(std::string(std::size_t{32} << 20, 'x')); },
                  ErrorCode::unavailable);
  EXPECT_NE(said.find("no answer within 20 ms"), std::string::npos) << said;
}

// It has hung up when the command is sent, but said why before.
TEST(Socket, SaysWhyTheServerTookNoCommand) {
  const Listener listener;
  for (const std::string said : {"-ERR max number of clients reached\r\n", "+OK\r\n", ""}) {
    detail::Socket socket({.port = listener.port()}, "full");
    const int client = ::accept(listener.fd(), nullptr, nullptr);
    ASSERT_EQ(::write(client, said.data(), said.size()), static_cast<ssize_t>(said.size()));
    ::close(client);
    const std::string error = error_of(
        [&] {
          for (int i = 0; i < 1'000; ++i) {  // the first may go before its end is known
            socket.send("PING\r\n");
            std::this_thread::sleep_for(1ms);
          }
        },
        ErrorCode::unavailable);
    EXPECT_EQ(error, said[0] == '-'
                         ? "full: max number of clients reached; try again when some have gone, "
                           "or raise the server's maxclients"
                         : "full: the connection broke: Broken pipe before it said "
                           "anything; if its port is one for TLS, write rediss:// or "
                           "valkeys://");
  }
}

// A balancer that hears nothing for 4 minutes forgets the connection.
TEST(Socket, IsKeptAliveOverTcp) {
  const auto value = [](int fd, int level, int name) {
    int number = 0;
    socklen_t size = sizeof number;
    return ::getsockopt(fd, level, name, &number, &size) == 0 ? number : 0;
  };
  const auto kept = [&] {
    int count = 0;
    for (int fd = 0; fd < 1'000; ++fd)
      count +=
          value(fd, SOL_SOCKET, SO_KEEPALIVE) != 0 && value(fd, IPPROTO_TCP, TCP_KEEPIDLE) == 60 &&
          value(fd, IPPROTO_TCP, TCP_KEEPINTVL) == 15 && value(fd, IPPROTO_TCP, TCP_KEEPCNT) == 4;
    return count;
  };
  const Listener deaf;
  const int before = kept();
  const detail::Socket socket({.port = deaf.port()}, "deaf");
  EXPECT_EQ(kept(), before + 1);
}

TEST(Socket, ConnectsAgainWhenTheServerHungUp) {
  Server server;
  detail::Connection connection({.socket = server.path()});
  connection.ask({"PING"});
  server.ask({"CLIENT", "KILL", "TYPE", "normal"});
  expect_error(ErrorCode::unavailable, {"; the next call connects again"},
               [&] { connection.ask({"PING"}); });
  connection.ask({"PING"});
}

// A busy server takes the next client when it comes to it.
TEST(Socket, WaitsForRoomInTheQueueOfAPath) {
  const Scratch scratch;
  const std::string path = scratch / "socket";
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  path.copy(name.sun_path, sizeof name.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
  ASSERT_EQ(::listen(listener, 0), 0);
  const detail::Socket first({.socket = path}, "first");
  expect_error(ErrorCode::unavailable, {"cannot be reached", "timed out"},
               [&] { detail::Connection({.socket = path, .timeout = 20ms}).ask({"PING"}); });
  std::jthread server([&] {
    std::this_thread::sleep_for(5ms);
    ::close(::accept(listener, nullptr, nullptr));
  });
  const detail::Socket second({.socket = path}, "second");
  server.join();
  ::close(listener);
}

TEST(Connection, HasNoAnswersOfTheOneBefore) {
  const Server server;
  detail::Connection connection(server.address());
  detail::Commands ping;
  ping.command({"PING"});
  connection.send(ping);
  const std::uint64_t first = connection.count();
  (void)connection.receive(first);
  connection.drop();
  error_of([&] { (void)connection.receive(first); }, ErrorCode::unavailable);
  connection.send(ping);
  error_of([&] { (void)connection.receive(first); }, ErrorCode::unavailable);
  EXPECT_EQ(connection.count(), first + 1);
  EXPECT_EQ(connection.receive(first + 1)->type, REDIS_REPLY_STATUS);
}

// Only a refused AUTH has words that nobody may see.
TEST(Connection, SaysWhichDatabaseThereIsNot) {
  const Server server({"--requirepass", "word"});
  RedisAddress address = server.address();
  address.password = "word";
  address.database = 99;
  expect_error(ErrorCode::io, {"DB index is out of range"},
               [&] { detail::Connection(address).ask({"PING"}); });
}

// A program may have closed its standard streams and print all the same, which must not get to the server.
TEST(Socket, IsNotInThePlaceOfAStandardStream) {
  const Server server;
  const int input = ::fcntl(0, F_DUPFD_CLOEXEC, 3);
  ::close(0);
  detail::Connection connection(server.address());
  connection.ask({"PING"});
  const int free_still = ::fcntl(0, F_GETFD);
  if (input >= 0) {
    ::dup2(input, 0);
    ::close(input);
  }
  EXPECT_EQ(free_still, -1);
}

}  // namespace
}  // namespace bloomery::test
