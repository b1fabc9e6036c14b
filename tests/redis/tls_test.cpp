// Servers that speak TLS: the right one is trusted, every other one refused with a reason.
#include <bloomery/any_filter.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "redis/nodes.hpp"
#include "redis/server.hpp"

namespace bloomery::test {
namespace {

using std::chrono_literals::operator""ms;

// An authority, and what it has signed: a server for localhost and 127.0.0.1, also one whose time is over and one for
// all names of a domain, and a client.
class Certificates {
 public:
  Certificates() {
    std::ofstream(file("make.sh")) << R"(set -e
cd "$1"
make() { openssl req -newkey rsa:2048 -nodes -keyout "$1.key" -subj "/CN=$1" "${@:2}" 2>/dev/null; }
make ca -x509 -days 2 -out ca.pem
for name in server client; do
  make "$name" -out "$name.csr"
  openssl x509 -req -in "$name.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -out "$name.pem" \
    -extfile <(echo subjectAltName=DNS:localhost,IP:127.0.0.1) 2>/dev/null
done
cat client.pem client.key > both.pem
sign() { openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial "$@" 2>/dev/null; }
sign -days -1 -out expired.pem -extfile <(echo subjectAltName=DNS:localhost)
sign -days 2 -out wildcard.pem -extfile <(echo "subjectAltName=DNS:*.example.test")
)";
    const std::string command = "bash '" + file("make.sh") + "' '" + (scratch_ / ".") + "'";
    if (std::system(command.c_str()) != 0) std::abort();
  }
  [[nodiscard]] std::string file(const std::string& name) const { return scratch_ / name; }
  // As redis-server takes them.
  [[nodiscard]] std::vector<std::string> options(std::uint16_t port, bool of_clients,
                                                 const char* server = "server.pem") const {
    return {"--tls-port",         std::to_string(port),     "--tls-cert-file",    file(server),
            "--tls-key-file",     file("server.key"),       "--tls-ca-cert-file", file("ca.pem"),
            "--tls-auth-clients", of_clients ? "yes" : "no"};
  }

 private:
  Scratch scratch_;
};

const Certificates& certificates() {
  static const Certificates made;
  return made;
}

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
  // A certificate with the key of another.
  EXPECT_NE(said({.certificate_file = certificates().file("client.pem"),
                  .key_file = certificates().file("server.key")},
                 ErrorCode::invalid_argument)
                .find("server.key"),
            std::string::npos);
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
  EXPECT_NE(error_of(ask, ErrorCode::unavailable).find("speaks no TLS"), std::string::npos);
  EXPECT_NE(error_of(ask, ErrorCode::unavailable).find("hung up"), std::string::npos);
}

TEST_F(TlsServer, WhoseTimeIsOverIsRefused) {
  const std::uint16_t port = free_port();
  const Server late(certificates().options(port, false, "expired.pem"));
  RedisAddress to{.host = "localhost", .port = port, .tls = trusted_};
  const auto ask = [&] { detail::Connection(to).ask({"PING"}); };
  EXPECT_NE(error_of(ask, ErrorCode::denied).find("expired"), std::string::npos);
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

// Three nodes that speak TLS with each other and with clients, all with one password. A slot moves while the filter is
// used: the node that is named then is asked over TLS too, by the same user.
TEST_F(TlsServer, LeadsToACluster) {
  std::vector<std::uint16_t> ports;
  std::vector<std::unique_ptr<Server>> servers;
  std::vector<detail::Connection> nodes;
  RedisAddress to{.host = "127.0.0.1", .password = "word", .tls = trusted_};
  for (int i = 0; i < 3; ++i) {
    ports.push_back(free_port());
    auto options = certificates().options(ports.back(), false);
    for (const char* word : {"--tls-cluster", "yes", "--tls-replication", "yes",
                             "--cluster-enabled", "yes", "--requirepass", "word"})
      options.emplace_back(word);
    servers.push_back(std::make_unique<Server>(options));
    to.port = ports.back();
    nodes.emplace_back(to);
  }
  const auto text = [](const detail::Reply& reply) { return std::string(reply->str, reply->len); };
  const std::array<std::array<const char*, 2>, 3> slots = {
      {{"0", "5000"}, {"5001", "11000"}, {"11001", "16383"}}};
  for (std::size_t i = 0; i < 3; ++i) {
    nodes[i].ask({"CLUSTER", "ADDSLOTSRANGE", slots[i][0], slots[i][1]});
    nodes[i].ask({"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
    nodes[0].ask({"CLUSTER", "MEET", "127.0.0.1", std::to_string(ports[i])});
  }
  Nodes::until([&] {
    return std::ranges::all_of(nodes, [&](detail::Connection& node) {
      const std::string info = text(node.ask({"CLUSTER", "INFO"}));
      return info.find("cluster_state:ok") != std::string::npos &&
             info.find("cluster_known_nodes:3") != std::string::npos;
    });
  });

  const RedisPlace place(to, "shards", 12);
  std::vector<std::uint64_t> keys(3'000);
  std::iota(keys.begin(), keys.end(), 1);
  auto filter = RedisFilter::create(place, plan(10'000, 0.001));
  filter.insert_many(keys);
  EXPECT_EQ(filter.nodes(), 3U);
  for (detail::Connection& node : nodes) EXPECT_GT(node.ask({"DBSIZE"})->integer, 0);

  const std::string key = filter.keys()[0], slot = std::to_string(detail::slot_of(key));
  const std::size_t from = detail::slot_of(key) > 11'000 ? 2 : detail::slot_of(key) > 5'000 ? 1 : 0;
  const std::size_t into = (from + 1) % 3;
  const std::string id = text(nodes[into].ask({"CLUSTER", "MYID"}));
  nodes[into].ask(
      {"CLUSTER", "SETSLOT", slot, "IMPORTING", text(nodes[from].ask({"CLUSTER", "MYID"}))});
  nodes[from].ask({"CLUSTER", "SETSLOT", slot, "MIGRATING", id});
  EXPECT_EQ(text(nodes[from].ask({"MIGRATE", "127.0.0.1", std::to_string(ports[into]), key, "0",
                                  "30000", "AUTH", "word"})),
            "OK");
  EXPECT_EQ(filter.may_contain_many(keys), keys.size()) << "by ASK";
  for (const std::size_t node : {into, from})
    nodes[node].ask({"CLUSTER", "SETSLOT", slot, "NODE", id});
  EXPECT_EQ(filter.may_contain_many(keys), keys.size()) << "by MOVED";
  for (const std::uint16_t port : ports) {
    to.port = port;
    EXPECT_EQ(RedisFilter::open({to, "shards", 0}).may_contain_many(keys), keys.size());
  }
  to.password = "other";
  error_of([&] { (void)RedisFilter::open({to, "shards", 0}); }, ErrorCode::denied);
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
