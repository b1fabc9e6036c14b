// Servers that speak TLS: the right one is trusted, every other one refused with a reason.
#include <bloomery/any_filter.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
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
#include "redis/nodes.hpp"
#include "redis/server.hpp"

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

class TlsServer : public testing::Test {
 protected:
  static RedisAddress address(const RedisTls& tls, bool of_clients = false) {
    static const std::uint16_t ports[] = {free_port(), free_port()};
    static Server for_all(certificates().options(ports[0], false));
    static Server for_known(certificates().options(ports[1], true));
    return {.host = "localhost", .port = ports[of_clients ? 1 : 0], .tls = tls};
  }
  static std::string said(const RedisTls& tls, ErrorCode code, bool of_clients = false) {
    return error_of([&] { detail::Connection(address(tls, of_clients)).ask({"PING"}); }, code);
  }
  const RedisTls trusted_{.ca_file = certificates().file("ca.pem")};
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
      const std::string text = error_of([&] { connection.send(ping); }, ErrorCode::unavailable);
      EXPECT_NE(text.find("what nobody had asked for"), std::string::npos) << text;
      asked.set_value();
    } else {
      connection.send(ping);
      asked.set_value();
      EXPECT_STREQ(connection.receive()->str, "next");
    }
  }
}

TEST_F(TlsServer, IsTheOneThatWasMeant) {
  EXPECT_NE(said({}, ErrorCode::denied).find("cacert=FILE"), std::string::npos);
  EXPECT_NE(said({.ca_file = trusted_.ca_file, .server_name = "other.example"}, ErrorCode::denied)
                .find("hostname mismatch"),
            std::string::npos);
  // The certificate of the client has the name, but this authority has not signed it.
  EXPECT_NE(said({.ca_file = certificates().file("client.pem")}, ErrorCode::denied)
                .find("is not accepted"),
            std::string::npos);
  RedisAddress by_number = address(trusted_);
  by_number.host = "127.0.0.1";
  detail::Connection(by_number).ask({"PING"});
  by_number.tls->server_name = "127.0.0.2";
  error_of([&] { detail::Connection(by_number).ask({"PING"}); }, ErrorCode::denied);
  by_number.tls->server_name = "localhost";
  detail::Connection(by_number).ask({"PING"});
  detail::Connection(address({.verify = false})).ask({"PING"});
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

// The cause of a failure that the server has not stated is no refusal of this client.
TEST(Tls, SaysWhatIsWrongWithTheBytesOfAServer) {
  const auto said = [](std::string_view bytes, ErrorCode code) {
    detail::Tls tls({.verify = false}, "h", "it");
    EXPECT_FALSE(tls.shake_hands());
    tls.feed(bytes);
    return error_of([&] { (void)tls.shake_hands(); }, code);
  };
  using namespace std::string_view_literals;
  EXPECT_NE(said("HTTP/1.1 400 Bad Request\r\n"sv, ErrorCode::unavailable).find("write redis://"),
            std::string::npos);
  EXPECT_NE(said("\x16\3\3\xFF\xFFxxxxxxxx"sv, ErrorCode::unavailable).find("TLS fails"),
            std::string::npos);
  EXPECT_NE(said("\x15\3\3\0\2\2\x28"sv, ErrorCode::denied).find("refuses this client"),
            std::string::npos);
}

TEST_F(TlsServer, KnowsItsClients) {
  const std::string text = said(trusted_, ErrorCode::denied, true);
  EXPECT_NE(text.find("cert=FILE and certkey=FILE"), std::string::npos) << text;
  RedisTls known = trusted_;
  known.certificate_file = certificates().file("client.pem");
  known.key_file = certificates().file("client.key");
  detail::Connection(address(known, true)).ask({"PING"});
  known.certificate_file = certificates().file("both.pem");
  known.key_file.clear();
  detail::Connection(address(known, true)).ask({"PING"});
}

TEST_F(TlsServer, FilesThatAreNoneAreNamed) {
  const std::string none = certificates().file("none"), text = certificates().file("make.sh");
  for (const std::string& file : {none, text}) {
    EXPECT_NE(said({.ca_file = file}, ErrorCode::invalid_argument).find(file), std::string::npos);
    EXPECT_NE(said({.certificate_file = file}, ErrorCode::invalid_argument).find(file),
              std::string::npos);
  }
  EXPECT_NE(said({.certificate_file = none}, ErrorCode::invalid_argument)
                .find("No such file or directory"),
            std::string::npos);
  // A certificate with the key of another.
  EXPECT_NE(said({.certificate_file = certificates().file("client.pem"),
                  .key_file = certificates().file("server.key")},
                 ErrorCode::invalid_argument)
                .find("server.key"),
            std::string::npos);
  EXPECT_EQ(ERR_peek_error(), 0U);
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
    const std::string text = said(locked, ErrorCode::invalid_argument, true);
    std::_Exit(text.find("locked.key' has no key of the certificate, without a pass phrase,") ==
                       std::string::npos
                   ? 1
                   : 0);
  };
  EXPECT_EXIT(ask(), testing::ExitedWithCode(0), "");
}

TEST_F(TlsServer, AndOneWithoutAreToldApart) {
  RedisAddress plain = address(trusted_);
  plain.tls.reset();
  EXPECT_NE(error_of([&] { detail::Connection(plain).ask({"PING"}); }, ErrorCode::unavailable)
                .find("rediss://"),
            std::string::npos);
  const std::uint16_t port = free_port();
  const Server without({"--port", std::to_string(port)});
  const RedisAddress with{.host = "localhost", .port = port, .timeout = 300ms, .tls = trusted_};
  // It waits for the end of a line.
  EXPECT_NE(error_of([&] { detail::Connection(with).ask({"PING"}); }, ErrorCode::unavailable)
                .find("no answer within 300 ms; if its port is one without TLS, write redis://"),
            std::string::npos);
}

// What another server says at once, and one that hangs up.
TEST_F(TlsServer, ThatIsNoneIsNamedAsThat) {
  const Listener other;
  std::jthread says([&] {
    for (const std::string_view words : {"-ERR I am another\r\n", ""}) {
      const int client = accept(other.fd(), nullptr, nullptr);
      (void)!write(client, words.data(), words.size());
      shutdown(client, SHUT_WR);
      std::array<char, 4'096> rest;
      while (read(client, rest.data(), rest.size()) > 0) continue;
      close(client);
    }
  });
  const RedisAddress to{.host = "localhost", .port = other.port(), .tls = trusted_};
  const auto ask = [&] { detail::Connection(to).ask({"PING"}); };
  EXPECT_NE(error_of(ask, ErrorCode::unavailable).find("does not answer with TLS"),
            std::string::npos);
  EXPECT_NE(
      error_of(ask, ErrorCode::unavailable)
          .find("hung up before it said anything; if its port is one without TLS, write redis://"),
      std::string::npos);
}

TEST_F(TlsServer, WhoseTimeIsOverIsRefused) {
  const std::uint16_t port = free_port();
  const Server late(certificates().options(port, false, "expired.pem"));
  RedisAddress to{.host = "localhost", .port = port, .tls = trusted_};
  const auto ask = [&] { detail::Connection(to).ask({"PING"}); };
  EXPECT_NE(error_of(ask, ErrorCode::denied).find("expired"), std::string::npos);
  EXPECT_EQ(ERR_peek_error(), 0U) << "what else uses OpenSSL in this thread would find it";
  to.tls->verify = false;
  ask();
}

TEST_F(TlsServer, MayHaveAnyNameOfItsDomain) {
  const std::uint16_t port = free_port();
  const Server any(certificates().options(port, false, "wildcard.pem"));
  RedisAddress to{.host = "localhost", .port = port, .tls = trusted_};
  const auto ask = [&](const char* name) {
    to.tls->server_name = name;
    detail::Connection(to).ask({"PING"});
  };
  ask("one.example.test");
  for (const char* other : {"example.test", "a.b.example.test", "localhost"})
    error_of([&] { ask(other); }, ErrorCode::denied);
}

// A byte every 20 ms, over which the layer of TLS waits for the end of a record: never silent for a second.
TEST_F(TlsServer, ADripEnds) {
  Relay relay(address(trusted_).port);
  detail::Connection connection(
      {.host = "localhost", .port = relay.port(), .timeout = 1'000ms, .tls = trusted_});
  connection.ask({"SET", "k", std::string(1'000, 'x')});
  relay.drip();
  EXPECT_NE(error_of(
                [&] {
                  connection.ask({"GET", "k"});
                },
                ErrorCode::unavailable)
                .find("the answer comes too slowly"),
            std::string::npos);
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
