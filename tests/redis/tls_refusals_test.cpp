// With TLS the right server is trusted, and every other one is refused with a reason, and so is a client.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <string>
#include <string_view>
#include <thread>

#include "redis/certificates.hpp"
#include "redis/listener.hpp"
#include "redis/server.hpp"
#include "redis/tls_server.hpp"

namespace bloomery::test {
namespace {

using std::chrono_literals::operator""ms;

TEST_F(TlsServer, IsTheOneThatWasMeant) {
  expect_refusal(ErrorCode::denied, "; name its authority with cacert=FILE", {});
  expect_refusal(ErrorCode::denied,
                 "hostname mismatch; name the server as its certificate does, with sni=NAME",
                 {.ca_file = trusted_.ca_file, .server_name = "other.example"});
  // The certificate of the client has the name, but this authority has not signed it.
  expect_refusal(ErrorCode::denied, "is not accepted",
                 {.ca_file = certificates().file("client.pem")});
  RedisAddress by_number = address(trusted_);
  by_number.host = "127.0.0.1";
  detail::Connection(by_number).ask({"PING"});
  by_number.tls->server_name = "127.0.0.2";
  expect_error(ErrorCode::denied, {"IP address mismatch; name the server"},
               [&] { detail::Connection(by_number).ask({"PING"}); });
  by_number.tls->server_name = "localhost";
  detail::Connection(by_number).ask({"PING"});
  detail::Connection(address({.verify = false})).ask({"PING"});
}

TEST_F(TlsServer, KnowsItsClients) {
  expect_refusal(ErrorCode::denied, "cert=FILE and certkey=FILE", trusted_, true);
  RedisTls known = trusted_;
  known.certificate_file = certificates().file("client.pem");
  known.key_file = certificates().file("client.key");
  detail::Connection(address(known, true)).ask({"PING"});
  known.certificate_file = certificates().file("both.pem");
  known.key_file.clear();
  detail::Connection(address(known, true)).ask({"PING"});
}

// In TLS 1.3 it says so after the handshake, when the client has begun to talk: what it said is heard although nothing
// can be sent any more.
TEST_F(TlsServer, SaysWhyItRefusesACertificate) {
  RedisTls stranger = trusted_;
  stranger.certificate_file = certificates().file("stranger.pem");
  stranger.key_file = certificates().file("client.key");
  detail::Socket socket(address(stranger, true), "it");
  expect_error(ErrorCode::denied,
               {"it: the server refuses this client: tlsv1 alert unknown ca; if that is about "
                "the certificate in cert=FILE"},
               [&] {
                 for (int i = 0; i < 100; ++i) {
                   std::this_thread::sleep_for(20ms);
                   socket.send("PING\r\n");
                 }
               });
}

// Redis closes a connection beyond `maxclients` before it has said a word of TLS.
TEST_F(TlsServer, MayHaveTooManyClients) {
  const std::uint16_t port = free_port();
  auto options = certificates().options(port, false);
  options.insert(options.end(), {"--maxclients", "1"});
  const Server full(options);
  detail::Connection first({.host = "localhost", .port = port, .tls = trusted_});
  for (int tries = 0;; ++tries)
    try {  // who asked whether the server had started may still be there
      first.ask({"PING"});
      break;
    } catch (const Error&) {
      ASSERT_LT(tries, 1'000);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  detail::Connection second({.host = "localhost", .port = port, .tls = trusted_});
  expect_error(ErrorCode::unavailable, {"maxclients"}, [&] { second.ask({"PING"}); });
}

TEST_F(TlsServer, FilesThatAreNoneAreNamed) {
  const std::string none = certificates().file("none"), text = certificates().file("make.sh");
  for (const std::string& file : {none, text}) {
    expect_refusal(ErrorCode::invalid_argument, file, {.ca_file = file});
    expect_refusal(ErrorCode::invalid_argument, file, {.certificate_file = file});
  }
  expect_refusal(ErrorCode::invalid_argument, "No such file or directory",
                 {.certificate_file = none});
  // A certificate with the key of another.
  expect_refusal(ErrorCode::invalid_argument, "server.key",
                 {.certificate_file = certificates().file("client.pem"),
                  .key_file = certificates().file("server.key")});
  EXPECT_EQ(ERR_peek_error(), 0U);
}

TEST_F(TlsServer, AndOneWithoutAreToldApart) {
  RedisAddress plain = address(trusted_);
  plain.tls.reset();
  expect_error(ErrorCode::unavailable, {"rediss://"},
               [&] { detail::Connection(plain).ask({"PING"}); });
  const std::uint16_t port = free_port();
  const Server without({"--port", std::to_string(port)});
  const RedisAddress with{.host = "localhost", .port = port, .timeout = 300ms, .tls = trusted_};
  // It waits for the end of a line.
  expect_error(ErrorCode::unavailable,
               {"no answer within 300 ms; if its port is one without TLS, write redis://"},
               [&] { detail::Connection(with).ask({"PING"}); });
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
  expect_error(ErrorCode::unavailable, {"does not answer with TLS"}, ask);
  expect_error(ErrorCode::unavailable,
               {"hung up before it said anything; if its port is one without TLS, write redis://"},
               ask);
}

// Bytes that are no TLS, behind an answer: the next question finds them.
TEST_F(TlsServer, WithOddBytesBehindAnAnswerLeavesNoErrorToOthers) {
  const std::uint16_t port = address(trusted_).port;
  const Listener between;
  std::atomic<bool> adds = false;
  std::jthread passes([&] {
    std::array<pollfd, 2> ends = {{{accept(between.fd(), nullptr, nullptr), POLLIN, 0},
                                   {socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), POLLIN, 0}}};
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (connect(ends[1].fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return;
    const auto move = [&](int from, int into, std::string_view more) {
      std::array<char, 65'536> bytes;
      const ssize_t size = read(from, bytes.data(), bytes.size());
      if (size <= 0) return false;
      const std::string all =
          std::string(bytes.data(), static_cast<std::size_t>(size)).append(more);
      return write(into, all.data(), all.size()) == static_cast<ssize_t>(all.size());
    };
    while (poll(ends.data(), ends.size(), 60'000) > 0) {
      if (ends[0].revents != 0 && !move(ends[0].fd, ends[1].fd, "")) break;
      if (ends[1].revents != 0 && !move(ends[1].fd, ends[0].fd, adds ? "this is no TLS" : ""))
        break;
    }
    for (const pollfd& end : ends) close(end.fd);
  });
  detail::Connection connection({.host = "localhost", .port = between.port(), .tls = trusted_});
  connection.ask({"PING"});
  adds = true;
  connection.ask({"PING"});
  expect_error(ErrorCode::unavailable, {"what nobody had asked for"},
               [&] { connection.ask({"PING"}); });
  EXPECT_EQ(ERR_peek_error(), 0U) << "what else uses OpenSSL in this thread would find it";
}

TEST_F(TlsServer, WhoseTimeIsOverIsRefused) {
  const std::uint16_t port = free_port();
  const Server late(certificates().options(port, false, "expired.pem"));
  RedisAddress to{.host = "localhost", .port = port, .tls = trusted_};
  const auto ask = [&] { detail::Connection(to).ask({"PING"}); };
  expect_error(ErrorCode::denied, {"expired; renew it, or"}, ask);
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

// The cause of a failure that the server has not stated is no refusal of this client.
TEST(Tls, SaysWhatIsWrongWithTheBytesOfAServer) {
  const auto expect_failure = [](ErrorCode code, const char* words, std::string_view bytes) {
    detail::Tls tls({.verify = false}, "h", "it");
    EXPECT_FALSE(tls.shake_hands());
    tls.feed(bytes);
    expect_error(code, {words}, [&] { (void)tls.shake_hands(); });
  };
  using namespace std::string_view_literals;
  expect_failure(ErrorCode::unavailable, "write redis://", "HTTP/1.1 400 Bad Request\r\n"sv);
  expect_failure(ErrorCode::unavailable, "TLS fails", "\x16\3\3\xFF\xFFxxxxxxxx"sv);
  expect_failure(ErrorCode::denied, "refuses this client", "\x15\3\3\0\2\2\x28"sv);
  expect_failure(ErrorCode::unavailable, "no TLS 1.2 or later", "\x15\3\1\0\2\2\x46"sv);
}

// It speaks TLS, so nobody is told to do without.
TEST_F(TlsServer, MayStandStillInTheHandshake) {
  const Listener stalled;
  std::promise<void> over;
  const std::jthread server([&] {
    const int client = accept(stalled.fd(), nullptr, nullptr);
    // The beginning of a record: of 65 bytes, 60.
    const std::string part = std::string("\x16\3\3\0\x41", 5) + std::string(60, 'x');
    EXPECT_EQ(write(client, part.data(), part.size()), static_cast<ssize_t>(part.size()));
    over.get_future().wait();
    close(client);
  });
  const RedisAddress to{
      .host = "localhost", .port = stalled.port(), .timeout = 300ms, .tls = trusted_};
  const std::string text =
      error_of([&] { detail::Connection(to).ask({"PING"}); }, ErrorCode::unavailable);
  over.set_value();
  EXPECT_NE(text.find("; find out why"), std::string::npos) << text;
}

}  // namespace
}  // namespace bloomery::test
