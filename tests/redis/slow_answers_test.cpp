// An answer that comes slowly: one that gets on is waited for, however large; a drip is not.
#include <bloomery/redis_url.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>

#include "redis/listener.hpp"
#include "redis/server.hpp"
#include "redis/wire/connection.hpp"

namespace bloomery::test {
namespace {

using namespace std::chrono_literals;

// Answers one client with a text, piece by piece, whatever it asks.
class Dripping {
 public:
  Dripping(std::string text, std::size_t piece, std::chrono::milliseconds pause)
      : text_(std::move(text)), piece_(piece), pause_(pause) {
    thread_ = std::thread([this] { serve(); });
  }
  ~Dripping() { thread_.join(); }
  Dripping(const Dripping&) = delete;
  Dripping& operator=(const Dripping&) = delete;

  [[nodiscard]] std::uint16_t port() const { return listener_.port(); }

 private:
  // Until all is said, or the client has gone.
  void serve() const {
    const int client = accept(listener_.fd(), nullptr, nullptr);
    char asked = 0;
    bool there = recv(client, &asked, 1, 0) > 0;
    for (std::string_view rest = text_; there && !rest.empty();) {
      std::this_thread::sleep_for(pause_);
      const std::string_view now = rest.substr(0, piece_);
      there = ::send(client, now.data(), now.size(), MSG_NOSIGNAL) > 0;
      rest.remove_prefix(now.size());
    }
    close(client);
  }

  std::string text_;
  std::size_t piece_;
  std::chrono::milliseconds pause_;
  Listener listener_;
  std::thread thread_;
};

// A byte every 20 ms is never silent for 400 ms, and would go on for 8 seconds; then the server hangs up,
// which is another error.
TEST(SlowAnswers, ADripEnds) {
  constexpr std::size_t kBytes = 400;
  std::string numbers;
  while (numbers.size() < kBytes) numbers += ":1\r\n";
  const std::string zeros(kBytes, '0');
  for (const std::string& answer :
       {"$1000000\r\n" + zeros, "+" + zeros, "*1000000\r\n" + numbers,
        "*2\r\n*1\r\n$1000\r\n" + zeros, ":1" + zeros, "$" + zeros, "-ERR " + zeros}) {
    const Dripping server(answer, 1, 20ms);
    detail::Connection connection({.port = server.port(), .timeout = 400ms});
    const std::string error = error_of([&] { connection.ask({"PING"}); }, ErrorCode::unavailable);
    EXPECT_NE(error.find("the answer comes too slowly"), std::string::npos)
        << answer.substr(0, 20) << ": " << error;
  }
}

// A client that has to send a password first has no more time.
TEST(SlowAnswers, ADripEndsBeforeTheFirstCommand) {
  const Dripping server("+" + std::string(400, 'x'), 1, 20ms);
  detail::Connection connection(
      {.port = server.port(), .password = "x", .database = 1, .timeout = 400ms});
  expect_error(ErrorCode::unavailable, {"too slowly"}, [&] { connection.ask({"PING"}); });
}

// 3 MiB in more than a second, with a timeout of half a second: 200 times the least rate.
TEST(SlowAnswers, ALargeAnswerTakesItsTime) {
  constexpr std::size_t kBytes = std::size_t{3} << 20;
  const Dripping server("$" + std::to_string(kBytes) + "\r\n" + std::string(kBytes, 'x') + "\r\n",
                        std::size_t{64} << 10, 25ms);
  detail::Connection connection({.port = server.port(), .timeout = 500ms});
  EXPECT_EQ(connection.ask({"GET", "k"})->len, kBytes);
}

// An answer that stops is not a slow one, whatever it has earned.
TEST(SlowAnswers, OneThatStopsIsSilence) {
  const Listener listener;
  detail::Connection connection({.port = listener.port(), .timeout = 50ms});
  detail::Commands get;
  connection.send(get.command({"GET", "k"}));
  const int server = accept(listener.fd(), nullptr, nullptr);
  const std::string half = "$1000000\r\n" + std::string(100'000, 'x');
  ASSERT_EQ(::send(server, half.data(), half.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(half.size()));
  expect_error(ErrorCode::unavailable, {"no answer within 50 ms"},
               [&] { (void)connection.receive(); });
  close(server);
}

// Each of many answers has its own time.
TEST(SlowAnswers, EveryAnswerHasATimeOfItsOwn) {
  std::string answers;
  for (int i = 0; i < 60; ++i) answers += "+OK\r\n";
  const Dripping server(answers, 5, 25ms);
  detail::Connection connection({.port = server.port(), .timeout = 500ms});
  for (int i = 0; i < 60; ++i) connection.ask({"PING"});
}

}  // namespace
}  // namespace bloomery::test
