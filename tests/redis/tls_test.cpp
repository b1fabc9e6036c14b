// Servers that speak TLS, and what they may do.
#include <bloomery/any_filter.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "redis/certificates.hpp"
#include "redis/listener.hpp"
#include "redis/server.hpp"
#include "redis/tls_server.hpp"

namespace bloomery::test {
namespace {

using std::chrono_literals::operator""ms;

// Passes the bytes of one connection on to a server, and back: those at once, these one by one as soon as it drips.
class Relay {
 public:
  explicit Relay(std::uint16_t port) : port_(port), thread_([this] { serve(); }) {}

  [[nodiscard]] std::uint16_t port() const { return listener_.port(); }
  void drip() { drips_ = true; }

 private:
  // Until the client has gone.
  void serve() const {
    const int client = accept(listener_.fd(), nullptr, nullptr);
    const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in name{};
    name.sin_family = AF_INET;
    name.sin_port = htons(port_);
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(server, reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) std::abort();
    std::array<pollfd, 2> ends = {{{client, POLLIN, 0}, {server, POLLIN, 0}}};
    std::array<char, 4'096> bytes;
    for (bool there = true; there;) {
      poll(ends.data(), ends.size(), -1);
      if (ends[0].revents != 0) {
        const ssize_t size = read(client, bytes.data(), bytes.size());
        there = size > 0 &&
                send(server, bytes.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) > 0;
      }
      if (there && ends[1].revents != 0) {
        if (drips_) std::this_thread::sleep_for(20ms);
        const ssize_t size = read(server, bytes.data(), drips_ ? 1 : bytes.size());
        there = size > 0 &&
                send(client, bytes.data(), static_cast<std::size_t>(size), MSG_NOSIGNAL) > 0;
      }
    }
    close(client);
    close(server);
  }

  std::uint16_t port_;
  std::atomic<bool> drips_ = false;
  Listener listener_;
  std::jthread thread_;
};

TEST_F(TlsServer, HasTheBitsThatAServerWithoutItHas) {
  const Plan plan_of_it = plan(1'000'000, 0.001);
  auto filter = RedisFilter::create({address(trusted_), "bits"}, plan_of_it);
  Filter same(plan_of_it);
  std::vector<std::uint64_t> keys(30'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = i * i;
  EXPECT_EQ(filter.insert_many(keys), same.insert_many(keys));
  EXPECT_EQ(filter.may_contain_many(keys), keys.size());
  // 1.9 MB in one answer, and in one command.
  const auto bits = detail::Connection(address(trusted_)).ask({"GET", "bits"});
  const std::string whole(bits->str, bits->len);
  detail::Connection writer(address(trusted_));
  writer.ask({"SET", "copy", whole});
  auto copy = RedisFilter::open({address(trusted_), "copy"});
  EXPECT_EQ(copy.may_contain_many(keys), keys.size());
  const auto again = writer.ask({"GET", "copy"});
  EXPECT_EQ(std::string(again->str, again->len), whole);
}

// Answers the first command of a connection, and goes on as `more` says.
void play_server(const Listener& listener, const std::function<void(SSL* session)>& more) {
  const std::unique_ptr<SSL_CTX, void (*)(SSL_CTX*)> context(SSL_CTX_new(TLS_server_method()),
                                                             SSL_CTX_free);
  const auto file = [](const char* name) { return certificates().file(name); };
  SSL_CTX_use_certificate_file(context.get(), file("server.pem").c_str(), SSL_FILETYPE_PEM);
  SSL_CTX_use_PrivateKey_file(context.get(), file("server.key").c_str(), SSL_FILETYPE_PEM);
  const std::unique_ptr<SSL, void (*)(SSL*)> session(SSL_new(context.get()), SSL_free);
  const int client = accept(listener.fd(), nullptr, nullptr);
  SSL_set_fd(session.get(), client);
  std::array<char, 100> command;
  EXPECT_GT(SSL_accept(session.get()), 0);
  EXPECT_GT(SSL_read(session.get(), command.data(), command.size()), 0);
  EXPECT_GT(SSL_write(session.get(), "+PONG\r\n", 7), 0);
  more(session.get());
  close(client);
}

// Also not in a record of its own that came with the last answer. A new key, which may come at any time, is no answer.
TEST_F(TlsServer, SaysNothingUnaskedThatIsTakenForAnAnswer) {
  const Listener listener;
  detail::Commands ping;
  ping.command({"PING"});
  for (const bool is_unasked : {true, false}) {
    std::promise<void> said, asked;
    const auto wait_for = [](std::promise<void>& what) {
      EXPECT_EQ(what.get_future().wait_for(std::chrono::minutes(1)), std::future_status::ready);
    };
    const std::jthread server([&] {
      play_server(listener, [&](SSL* session) {
        EXPECT_EQ(SSL_key_update(session, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
        EXPECT_EQ(SSL_do_handshake(session), 1);
        if (!is_unasked) said.set_value(), wait_for(asked);
        EXPECT_GT(SSL_write(session, "+next\r\n", 7), 0);
        if (is_unasked) said.set_value(), wait_for(asked);
      });
    });
    detail::Connection connection({.host = "localhost", .port = listener.port(), .tls = trusted_});
    connection.send(ping);
    wait_for(said);
    EXPECT_STREQ(connection.receive()->str, "PONG");
    if (is_unasked) {
      expect_error(ErrorCode::unavailable, {"what nobody had asked for"},
                   [&] { connection.send(ping); });
      asked.set_value();
    } else {
      connection.send(ping);
      asked.set_value();
      EXPECT_STREQ(connection.receive()->str, "next");
    }
  }
}

// New keys are no answer, however many come.
TEST_F(TlsServer, MayNotGoOnWithoutAnAnswer) {
  const Listener listener;
  const std::jthread server([&] {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    play_server(listener, [&](SSL* session) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
      while (std::chrono::steady_clock::now() < end &&
             SSL_key_update(session, SSL_KEY_UPDATE_NOT_REQUESTED) == 1 &&
             SSL_do_handshake(session) == 1)
        continue;
    });
  });
  detail::Connection connection({.host = "localhost", .port = listener.port(), .tls = trusted_});
  connection.ask({"PING"});
  expect_error(ErrorCode::unavailable, {"without an answer"}, [&] { (void)connection.receive(); });
}

TEST_F(TlsServer, MayFallSilentOrHangUp) {
  detail::Connection connection(address(trusted_));
  connection.ask({"QUIT"});
  std::string text = error_of([&] { (void)connection.receive(); }, ErrorCode::unavailable);
  EXPECT_NE(text.find("the server hung up; the next call connects again"), std::string::npos)
      << text;
  // What the server says at the end of TLS is no answer to the next command.
  detail::Connection idle(address(trusted_));
  idle.ask({"PING"});
  for (const std::uint64_t times : {2, 3}) {
    std::this_thread::sleep_for(1050ms);
    idle.ask({"QUIT"});
    std::this_thread::sleep_for(1050ms);
    idle.ask({"PING"});
    EXPECT_EQ(idle.count(), times);
  }
  RedisAddress hurried = address(trusted_);
  hurried.timeout = 1000ms;
  detail::Connection waiting(hurried);
  waiting.ask({"PING"});
  text = error_of([&] { waiting.ask({"BLPOP", "none", "5"}); }, ErrorCode::unavailable);
  EXPECT_NE(text.find("no answer within 1000 ms; find out why"), std::string::npos) << text;
}

TEST(Tls, SaysWhichServerItMeansUnlessThatIsAnAddress) {
  const auto hello_has = [](const std::string& host) {
    detail::Tls tls({.verify = false}, host, "it");
    EXPECT_FALSE(tls.shake_hands());
    return tls.take_outgoing().find(host) != std::string_view::npos;
  };
  EXPECT_TRUE(hello_has("a.host.example"));
  EXPECT_FALSE(hello_has("10.20.30.40"));
  EXPECT_FALSE(hello_has("fe80::1234:5678"));
}

// Standard input has the pass phrase, as a line of keys could: nobody reads it from there.
TEST_F(TlsServer, NobodyIsAskedForAPassPhrase) {
  const std::string phrase = certificates().file("phrase");
  std::ofstream(phrase) << "topsecret\n";
  RedisTls locked = trusted_;
  locked.certificate_file = certificates().file("client.pem");
  locked.key_file = certificates().file("locked.key");
  (void)address(locked, true);  // the server belongs to this process
  const auto ask = [&] {
    // Without a terminal OpenSSL turns to standard input.
    if (setsid() < 0 || std::freopen(phrase.c_str(), "r", stdin) == nullptr) std::_Exit(2);
    const std::string text =
        error_of([&] { detail::Connection(address(locked, true)).ask({"PING"}); },
                 ErrorCode::invalid_argument);
    std::_Exit(text.find("locked.key' has no key of the certificate, without a pass phrase,") ==
                       std::string::npos
                   ? 1
                   : 0);
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(0), "");
}

// A byte every 20 ms, and TLS waits for the end of a record: never silent for a second.
TEST_F(TlsServer, ADripEnds) {
  Relay relay(address(trusted_).port);
  detail::Connection connection(
      {.host = "localhost", .port = relay.port(), .timeout = 1'000ms, .tls = trusted_});
  connection.ask({"SET", "k", std::string(1'000, 'x')});
  relay.drip();
  expect_error(ErrorCode::unavailable, {"the answer comes too slowly"}, [&] {
    connection.ask({"GET", "k"});
  });
}

TEST_F(TlsServer, IsNamedByAnAddress) {
  const std::string url = "rediss://localhost:" + std::to_string(address(trusted_).port) +
                          "/3?key=named&cacert=" + trusted_.ca_file;
  auto filter = AnyFilter::create(url, {.capacity = 1'000, .fpr = 0.01});
  filter.insert_many(std::vector<std::string>{"a", "b"});
  EXPECT_EQ(AnyFilter::open(url).may_contain_many(std::vector<std::string>{"a", "b", "c"}), 2U);
}

}  // namespace
}  // namespace bloomery::test
