// Everything that speaks to a server at once with TLS: clusters whose nodes know their clients, sentinels, and the module.
#include <bloomery/any_filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "redis/certificates.hpp"
#include "redis/nodes.hpp"
#include "redis/server.hpp"

namespace bloomery::test {
namespace {

RedisTls trusted() { return {.ca_file = certificates().file("ca.pem")}; }
RedisTls with_certificate() {
  RedisTls tls = trusted();
  tls.certificate_file = certificates().file("client.pem");
  tls.key_file = certificates().file("client.key");
  return tls;
}
// What an address has behind the key.
std::string certificate_words() {
  return "&cacert=" + certificates().file("ca.pem") + "&cert=" + certificates().file("client.pem") +
         "&certkey=" + certificates().file("client.key");
}

// Three nodes that speak TLS with each other and with clients, all with one password. A slot moves while the filter is
// used: the node that is named then is asked over TLS too, by the same user.
class TlsCluster : public testing::TestWithParam<bool> {};

TEST_P(TlsCluster, IsUsedWhileSlotsMove) {
  const bool of_clients = GetParam();
  std::vector<std::uint16_t> ports;
  std::vector<std::unique_ptr<Server>> servers;
  std::vector<detail::Connection> nodes;
  RedisAddress to{.host = "127.0.0.1", .password = "word", .tls = trusted()};
  if (of_clients) to.tls = with_certificate();
  for (int i = 0; i < 3; ++i) {
    ports.push_back(free_port());
    auto options = certificates().options(ports.back(), of_clients);
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
  if (of_clients) {
    RedisAddress unknown = to;
    unknown.tls = trusted();
    expect_error(ErrorCode::denied, {"cert=FILE and certkey=FILE"}, [&] {
      (void)RedisFilter::open({unknown, "shards", 0});
    });
  }
  to.password = "other";
  error_of([&] { (void)RedisFilter::open({to, "shards", 0}); }, ErrorCode::denied);
}

INSTANTIATE_TEST_SUITE_P(OfClients, TlsCluster, testing::Bool());

// A master, its replica and a sentinel that speak nothing but TLS, each with a port of its own, and want certificates.
TEST(TlsSentinel, LeadsToTheMasterAndToTheNextOne) {
  const std::uint16_t ports[] = {free_port(), free_port(), free_port()};
  const auto options = [&](int i) {
    auto words = certificates().options(ports[i], true);
    for (const char* word : {"--tls-replication", "yes", "--bind", "127.0.0.1"})
      words.emplace_back(word);
    return words;
  };
  const auto server = [&](int i) {
    auto words = options(i);
    for (const char* word : {"--repl-diskless-sync-delay", "0"}) words.emplace_back(word);
    if (i == 1) {
      words.emplace_back("--replicaof");
      words.push_back("127.0.0.1 " + std::to_string(ports[0]));
    }
    return std::make_unique<Server>(words);
  };
  const auto master = server(0), replica = server(1);
  replica->wait_for("replication", "master_link_status:up");
  const Scratch scratch;
  const std::string file = scratch / "sentinel.conf";
  std::ofstream(file) << "sentinel monitor urls 127.0.0.1 " << ports[0] << " 1\n"
                      << "sentinel down-after-milliseconds urls 60000\n"
                      << "sentinel failover-timeout urls 3000\n";
  auto words = options(2);
  words.emplace_back("--sentinel");
  const Server sentinel(words, file);
  sentinel.wait_for("sentinel", "slaves=1");

  const std::string url = "rediss+sentinel://localhost:" + std::to_string(ports[2]) +
                          "?key=seen&master=urls" + certificate_words();
  const std::vector<std::string> keys{"a", "b", "c"}, more{"d"};
  auto filter = AnyFilter::create(url, {.capacity = 1'000, .fpr = 0.0001});
  EXPECT_EQ(filter.insert_many(keys), 3U);
  const auto dump = [](const Server& of) {
    const auto reply = of.ask({"DUMP", "seen"});
    return reply->str == nullptr ? "" : std::string(reply->str, reply->len);
  };
  Nodes::until([&] { return dump(*replica) == dump(*master); });
  // Neither a sentinel nor a server takes one without a certificate.
  const std::string unknown = url.substr(0, url.find("&cert="));
  error_of([&] { (void)AnyFilter::open(unknown); }, ErrorCode::denied);
  // Nor is one believed that is no master of a trusted authority.
  const std::string untrusted = url.substr(0, url.find("&cacert=")) +
                                "&cacert=" + certificates().file("client.pem") +
                                url.substr(url.find("&cert="));
  error_of([&] { (void)AnyFilter::open(untrusted); }, ErrorCode::denied);

  // Not before: a machine that is busy would have another master while the filter is made.
  EXPECT_STREQ(sentinel.ask({"SENTINEL", "SET", "urls", "down-after-milliseconds", "500"})->str,
               "OK");
  master->stop();
  EXPECT_EQ(found_at_next_master(filter, keys), 3U);
  EXPECT_EQ(filter.insert_many(more), 1U);
  EXPECT_EQ(AnyFilter::open(url).may_contain_many(more), 1U);
}

#ifdef BLOOMERY_MODULE
TEST(TlsModule, HasFiltersUnderOneKeyAndInShards) {
  const std::uint16_t port = free_port();
  auto options = certificates().options(port, true);
  options.emplace_back("--loadmodule");
  options.push_back(module_file());
  const Server server(options);
  std::vector<std::string> keys;
  for (int i = 0; i < 50'000; ++i) keys.push_back("a key " + std::to_string(i));
  for (const std::string scheme : {"rediss+module", "valkeys+module", "rediss+module+cluster"}) {
    SCOPED_TRACE(scheme);
    const bool shards = scheme.ends_with("cluster");
    const std::string url = scheme + "://localhost:" + std::to_string(port) + "?key=" + scheme +
                            (shards ? "&shards=4" : "") + certificate_words();
    auto filter = AnyFilter::create(url, {.kind = Kind::scalable, .capacity = 10'000, .fpr = 1e-6});
    EXPECT_GT(filter.insert_many(keys), 49'990U);
    EXPECT_EQ(AnyFilter::open(url).may_contain_many(keys), keys.size());
    error_of([&] { (void)AnyFilter::open(url.substr(0, url.find("&cert="))); }, ErrorCode::denied);
    if (shards) continue;
    // A dump of more than one reply goes to another key of the same server.
    const std::string copy =
        scheme + "://localhost:" + std::to_string(port) + "?key=copy" + certificate_words();
    AnyFilter::convert(url, copy, {.replace = true});
    EXPECT_EQ(AnyFilter::open(copy).may_contain_many(keys), keys.size());
  }
}
#endif

}  // namespace
}  // namespace bloomery::test
