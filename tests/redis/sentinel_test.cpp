// Sentinels that say where the master is, and another master after the first one died.
#include <bloomery/any_filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "redis/nodes.hpp"
#include "redis/parsed.hpp"
#include "redis/scripted.hpp"
#include "redis/server.hpp"

namespace bloomery::test {
namespace {

using std::chrono_literals::operator""ms;

// What one sentinel after the other answers, and what the master that it names does: nothing, or throws.
struct Asked {
  std::vector<std::string> master;  // host and port
  std::optional<ErrorCode> fault = {};
};

class WithMaster : public testing::Test {
 protected:
  void run(const std::vector<Asked>& sentinels, std::optional<ErrorCode> of_second_master = {}) {
    RedisAddress address{.user = "me", .password = "word", .sentinels = RedisSentinels{"urls", {}}};
    for (std::size_t i = 0; i < sentinels.size(); ++i)
      address.sentinels->places.push_back({"sentinel", static_cast<std::uint16_t>(i)});
    asked_.clear();
    used_.clear();
    detail::with_master(
        address,
        [&](const RedisAddress& sentinel) {
          asked_.push_back(sentinel.user + ":" + sentinel.password);
          const Asked& said = sentinels.at(sentinel.port);
          if (said.fault) throw Error(*said.fault, "of sentinel " + std::to_string(sentinel.port));
          return said.master;
        },
        [&](const RedisAddress& master) {
          EXPECT_FALSE(master.sentinels);
          EXPECT_EQ(master.password, "word");
          used_.push_back(master.host + ":" + std::to_string(master.port));
          if (used_.size() == 1 && of_first_master_) throw Error(*of_first_master_, "of the first");
          if (used_.size() == 2 && of_second_master)
            throw Error(*of_second_master, "of the second");
        });
  }

  std::optional<ErrorCode> of_first_master_;
  std::vector<std::string> asked_, used_;
};

const Asked kHere{{"here", "7"}}, kThere{{"there", "7"}}, kHereToo{{"here", "8"}};
const Asked kSilent{{}, ErrorCode::unavailable}, kKnowsNone{{}}, kDenies{{}, ErrorCode::denied};

TEST_F(WithMaster, TakesTheFirstThatWorks) {
  run({kSilent, kKnowsNone, kHere, kThere});
  EXPECT_EQ(used_, std::vector<std::string>{"here:7"});
  EXPECT_EQ(asked_.size(), 3U);
  // Each master once, however many sentinels name it: the others may know another.
  of_first_master_ = ErrorCode::unavailable;
  run({kHere, kHere, kThere});
  EXPECT_EQ(used_, (std::vector<std::string>{"here:7", "there:7"}));
  run({kHere, kHereToo, kThere});
  EXPECT_EQ(used_, (std::vector<std::string>{"here:7", "here:8"}));
}

TEST_F(WithMaster, TriesThePasswordWithTheUserAndWithout) {
  error_of([&] { run({kDenies}); }, ErrorCode::denied);
  EXPECT_EQ(asked_, (std::vector<std::string>{":", "me:word", ":word"}));
  // One that knows the user is asked no more.
  const RedisAddress address{
      .user = "me", .password = "word", .sentinels = RedisSentinels{"urls", {{"sentinel", 1}}}};
  asked_.clear();
  detail::with_master(
      address,
      [&](const RedisAddress& sentinel) {
        asked_.push_back(sentinel.user + ":" + sentinel.password);
        if (sentinel.user.empty()) throw Error(ErrorCode::denied, "no user");
        return kHere.master;
      },
      [&](const RedisAddress& master) { EXPECT_EQ(master.host, "here"); });
  EXPECT_EQ(asked_, (std::vector<std::string>{":", "me:word"}));
}

TEST_F(WithMaster, SaysWhatIsMostHelpful) {
  const auto expect = [&](const std::vector<Asked>& sentinels, ErrorCode code, const char* says) {
    expect_error(code, {says}, [&] { run(sentinels, ErrorCode::corrupt); });
  };
  expect({}, ErrorCode::invalid_argument, "no sentinel to ask for 'urls'");
  expect({kSilent, kSilent}, ErrorCode::unavailable, "of sentinel");
  expect({kSilent, kKnowsNone, kSilent}, ErrorCode::missing, "no master 'urls'");
  expect({kKnowsNone, kDenies}, ErrorCode::missing, "no master 'urls'");
  of_first_master_ = ErrorCode::io;
  expect({kSilent, kKnowsNone, kHere, kKnowsNone, kThere, kSilent}, ErrorCode::io, "of the first");
  of_first_master_ = ErrorCode::unavailable;
  expect({kHere, kKnowsNone, kHere, kThere}, ErrorCode::unavailable, "of the first");
}

TEST_F(WithMaster, BelievesNoPortThatIsNone) {
  for (const char* port : {"", "x", "7x", "0", "65536", "-1"}) {
    expect_error(ErrorCode::io, {"is not a port"}, [&] { run({{{"here", port}}}); });
  }
  run({{{"here", "65535"}}});
  EXPECT_EQ(used_, std::vector<std::string>{"here:65535"});
}

// A server that is to be the master is asked whether it is, before anything else is sent to it.
TEST(Master, IsNoServerThatSaysSomethingElse) {
  const Server real;
  Scripted server(real.path());
  const RedisAddress address{.timeout = 500ms,
                             .sentinels = RedisSentinels{"urls", {{"127.0.0.1", server.port()}}}};
  const auto answering = [&](const std::string& role) {
    server.say([&, role](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] == "SENTINEL")
        return raw_array({raw_text("127.0.0.1"), raw_text(std::to_string(server.port()))});
      if (words[0] == "ROLE") return role;
      return "-ERR asked\r\n";
    });
    return [&] { detail::Connection(address).ask({"GET", "k"}); };
  };
  for (const std::string& role :
       {raw_array({raw_text("slave")}), raw_array({raw_text("masters")}),
        raw_array({"+master\r\n"}), raw_array({":1\r\n"}), raw_array({}), raw_text("master")})
    expect_error(ErrorCode::unavailable,
                 {"redis master urls at 127.0.0.1:" + std::to_string(server.port()) +
                  ": the server that the sentinels name is not the master"},
                 answering(role));
  error_of(answering("-NOPERM no\r\n"), ErrorCode::denied);
  // What is no word of a replica leaves the connection as it is.
  expect_error(ErrorCode::io, {"ERR asked"}, answering(raw_array({raw_text("master")})));
}

// A master, its replica, and one sentinel that waits 500 ms before it takes another master.
class SentinelTest : public testing::Test {
 protected:
  SentinelTest() {
    const std::string port = std::to_string(master_port_);
    servers_.push_back(std::make_unique<Server>(on(master_port_)));
    auto replica = on(replica_port_);
    for (const std::string& word : {std::string("--replicaof"), "127.0.0.1 " + port})
      replica.push_back(word);
    servers_.push_back(std::make_unique<Server>(replica));
    servers_[1]->wait_for("replication", "master_link_status:up");
    const std::string file = scratch_ / "sentinel.conf";
    std::ofstream(file) << "sentinel monitor urls 127.0.0.1 " << port << " 1\n"
                        << "sentinel down-after-milliseconds urls 500\n"
                        << "sentinel failover-timeout urls 3000\n";
    // The file of a sentinel comes first, as the directory, the socket and the others follow.
    sentinel_ =
        std::make_unique<Server>(std::vector<std::string>{"--port", std::to_string(sentinel_port_),
                                                          "--bind", "127.0.0.1", "--sentinel"},
                                 file);
    sentinel_->wait_for("sentinel", "slaves=1");
  }

  static std::vector<std::string> on(std::uint16_t port) {
    return {"--port",    std::to_string(port),         "--bind",
            "127.0.0.1", "--repl-diskless-sync-delay", "0"};
  }
  [[nodiscard]] std::string url(const std::string& master = "urls") const {
    // The first one is not there.
    return "redis+sentinel://127.0.0.1:" + std::to_string(nobody_) +
           ",127.0.0.1:" + std::to_string(sentinel_port_) + "?key=seen&master=" + master;
  }

  const std::uint16_t master_port_ = free_port(), replica_port_ = free_port(),
                      sentinel_port_ = free_port(), nobody_ = free_port();
  Scratch scratch_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::unique_ptr<Server> sentinel_;
};

TEST_F(SentinelTest, LeadsToTheMasterAndToTheNextOne) {
  const std::vector<std::string> before{"a", "b", "c"}, after{"d", "e"};
  auto filter = AnyFilter::create(url(), {.capacity = 1'000, .fpr = 0.0001});
  EXPECT_EQ(filter.insert_many(before), 3U);
  EXPECT_EQ(servers_[0]->ask({"EXISTS", "seen"})->integer, 1);
  Nodes::until([&] { return servers_[1]->get("seen") == servers_[0]->get("seen"); });
  servers_[0]->stop();
  EXPECT_EQ(found_at_next_master(filter, before), 3U);
  EXPECT_EQ(filter.insert_many(after), 2U);
  EXPECT_EQ(AnyFilter::open(url()).may_contain_many(after), 2U);
  EXPECT_NE(servers_[1]->get_info("replication").find("role:master"), std::string::npos);
}

// A sentinel closes the connections of a master that it demotes; FAILOVER and REPLICAOF leave them open.
TEST_F(SentinelTest, LeavesAMasterThatWasDemotedByHand) {
  const std::vector<std::string> before{"a"}, after{"b"};
  auto filter = AnyFilter::create(url(), {.capacity = 1'000, .fpr = 0.0001});
  filter.insert_many(before);
  Nodes::until([&] { return servers_[1]->get("seen") == servers_[0]->get("seen"); });
  const std::string port = std::to_string(replica_port_);
  servers_[1]->ask({"REPLICAOF", "NO", "ONE"});
  servers_[0]->ask({"REPLICAOF", "127.0.0.1", port});
  servers_[0]->wait_for("replication", "master_link_status:up");
  sentinel_->ask({"SENTINEL", "REMOVE", "urls"});
  sentinel_->ask({"SENTINEL", "MONITOR", "urls", "127.0.0.1", port, "1"});
  error_of([&] { filter.insert_many(after); }, ErrorCode::unavailable);
  EXPECT_EQ(filter.insert_many(after), 1U);
  EXPECT_EQ(filter.may_contain_many(before), 1U);
}

// Such a sentinel has come back after a failover, and does not reach the others.
TEST_F(SentinelTest, NeedNotAllKnowTheMaster) {
  Scripted stale(sentinel_->path());
  stale.say([&](const Scripted::Words&) -> std::optional<std::string> {
    const std::string port = std::to_string(replica_port_);
    return "*2\r\n$9\r\n127.0.0.1\r\n$" + std::to_string(port.size()) + "\r\n" + port + "\r\n";
  });
  const std::string both = "redis+sentinel://127.0.0.1:" + std::to_string(stale.port()) +
                           ",127.0.0.1:" + std::to_string(sentinel_port_) + "?key=seen&master=urls";
  EXPECT_EQ(AnyFilter::create(both, {.capacity = 1'000, .fpr = 0.01})
                .insert_many(std::vector<std::string>{"a"}),
            1U);
  EXPECT_GT(stale.asked(), 0);
}

TEST_F(SentinelTest, SaysWhatIsWrong) {
  expect_error(ErrorCode::missing, {"no master 'other'"},
               [&] { (void)AnyFilter::open(url("other")); });
  RedisAddress nobody{.timeout = 300ms,
                      .sentinels = RedisSentinels{"urls", {{"127.0.0.1", nobody_}}}};
  expect_error(ErrorCode::unavailable, {"cannot be reached"},
               [&] { detail::Connection(nobody).ask({"PING"}); });
  // A server that is none.
  nobody.sentinels->places = {{"127.0.0.1", master_port_}};
  expect_error(ErrorCode::io, {"is not a sentinel"},
               [&] { detail::Connection(nobody).ask({"PING"}); });
}

// Sentinels with a password get that of the master.
TEST_F(SentinelTest, MayWantThePassword) {
  servers_[0]->ask({"CONFIG", "SET", "requirepass", "word"});
  detail::Connection(sentinel_->address()).ask({"SENTINEL", "SET", "urls", "auth-pass", "word"});
  detail::Connection(sentinel_->address()).ask({"ACL", "SETUSER", "default", "resetpass", ">word"});
  std::string with = url();
  with.insert(with.find("127"), ":word@");
  auto filter = AnyFilter::create(with, {.capacity = 1'000, .fpr = 0.01});
  filter.insert_many(std::vector<std::string>{"a"});
  EXPECT_EQ(AnyFilter::open(with).may_contain_many(std::vector<std::string>{"a"}), 1U);
  error_of([&] { (void)AnyFilter::open(url()); }, ErrorCode::denied);
}

// `requirepass` in a sentinel's file is a password without a user.
TEST_F(SentinelTest, MayWantThePasswordWithoutTheUser) {
  servers_[0]->ask({"ACL", "SETUSER", "writer", "on", ">word", "~*", "+@all"});
  detail::Connection(sentinel_->address()).ask({"ACL", "SETUSER", "default", "resetpass", ">word"});
  const auto with = [&](const char* user) {
    std::string text = url();
    return text.insert(text.find("127"), user);
  };
  auto filter = AnyFilter::create(with("writer:word@"), {.capacity = 1'000, .fpr = 0.01});
  EXPECT_EQ(filter.insert_many(std::vector<std::string>{"a"}), 1U);
  const std::string message =
      error_of([&] { (void)AnyFilter::open(with("writer:other@")); }, ErrorCode::denied);
  EXPECT_NE(message.find("NOAUTH"), std::string::npos) << message;
  EXPECT_EQ(message.find("other"), std::string::npos) << message;
}

// The password of the address is that of the master, and may be none of the sentinel.
TEST_F(SentinelTest, SaysBothWhatItLacksAndWhatItRefuses) {
  detail::Connection(sentinel_->address()).ask({"ACL", "SETUSER", "default", "-sentinel"});
  std::string with = url();
  with.insert(with.find("127"), "user:word@");
  expect_error(ErrorCode::denied, {"NOPERM", "WRONGPASS"}, [&] { (void)AnyFilter::open(with); });
}

}  // namespace
}  // namespace bloomery::test
