// With TLS the right server is trusted, and every other one is refused with a reason, and so is a client.
#include <gtest/gtest.h>
#include <openssl/err.h>
#include <unistd.h>

#include <array>
#include <chrono>
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
  EXPECT_NE(said({}, ErrorCode::denied).find("; name its authority with cacert=FILE"),
            std::string::npos);
  EXPECT_NE(said({.ca_file = trusted_.ca_file, .server_name = "other.example"}, ErrorCode::denied)
                .find("hostname mismatch; name the server as its certificate does, with sni=NAME"),
            std::string::npos);
  // The certificate of the client has the name, but this authority has not signed it.
  EXPECT_NE(said({.ca_file = certificates().file("client.pem")}, ErrorCode::denied)
                .find("is not accepted"),
            std::string::npos);
  RedisAddress by_number = address(trusted_);
  by_number.host = "127.0.0.1";
  detail::Connection(by_number).ask({"PING"});
  by_number.tls->server_name = "127.0.0.2";
  EXPECT_NE(error_of([&] { detail::Connection(by_number).ask({"PING"}); }, ErrorCode::denied)
                .find("IP address mismatch; name the server"),
            std::string::npos);
  by_number.tls->server_name = "localhost";
  detail::Connection(by_number).ask({"PING"});
  detail::Connection(address({.verify = false})).ask({"PING"});
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

// In TLS 1.3 it says so after the handshake, when the client has begun to talk: what it said is heard although nothing
// can be sent any more.
TEST_F(TlsServer, SaysWhyItRefusesACertificate) {
  RedisTls stranger = trusted_;
  stranger.certificate_file = certificates().file("stranger.pem");
  stranger.key_file = certificates().file("client.key");
  detail::Socket socket(address(stranger, true), "it");
  const std::string text = error_of(
      [&] {
        for (int i = 0; i < 100; ++i) {
          std::this_thread::sleep_for(20ms);
          socket.send("PING\r\n");
        }
      },
      ErrorCode::denied);
  EXPECT_NE(
      text.find("it: the server refuses this client: tlsv1 alert unknown ca; if that is about "
                "the certificate in cert=FILE"),
      std::string::npos)
      << text;
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
  const std::string text = error_of([&] { second.ask({"PING"}); }, ErrorCode::unavailable);
  EXPECT_NE(text.find("maxclients"), std::string::npos) << text;
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
  EXPECT_NE(error_of(ask, ErrorCode::denied).find("expired; renew it, or"), std::string::npos);
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
  EXPECT_NE(said("\x15\3\1\0\2\2\x46"sv, ErrorCode::unavailable).find("no TLS 1.2 or later"),
            std::string::npos);
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
