// Every error that a server replies has a code, and advice that fits.
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "redis/node_pair.hpp"
#include "redis/scripted.hpp"
#include "redis/server.hpp"

namespace bloomery::test {
namespace {

using Pair = NodePair;
using Words = Scripted::Words;
using Said = std::optional<std::string>;

TEST(ErrorReplies, HaveTheirCodesAndAdvice) {
  struct Case {
    const char* reply;
    ErrorCode code;
    const char* advice;
  };
  const std::vector<Case> cases = {
      {"CLUSTERDOWN The cluster is down", ErrorCode::unavailable, "serves all slots"},
      {"CLUSTERDOWN Hash slot not served", ErrorCode::unavailable, "serves all slots"},
      {"LOADING Redis is loading the dataset in memory", ErrorCode::unavailable, "has read its"},
      {"BUSY Redis is busy running a script.", ErrorCode::unavailable, "its script has ended"},
      {"MASTERDOWN Link with MASTER is down", ErrorCode::unavailable, "connected to its master"},
      {"CROSSSLOT Keys in request don't hash to the same slot", ErrorCode::invalid_argument,
       "no hash tag"},
      {"READONLY You can't write against a read only replica.", ErrorCode::read_only, "primary"},
      {"OOM command not allowed when used memory > 'maxmemory'.", ErrorCode::no_space, "maxmemory"},
      {"ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -OOM command not "
       "allowed",
       ErrorCode::no_space, "raise the server's maxmemory"},
      {"ERR Error running script (call to f_1): @user_script:1: @user_script: 1: -READONLY You "
       "can't write against a read only replica.",
       ErrorCode::read_only, "primary"},
      {"MISCONF Redis is configured to save RDB snapshots", ErrorCode::no_space, "cannot save"},
      {"NOREPLICAS Not enough good replicas to write.", ErrorCode::unavailable,
       "when its replicas are connected"},
      {"ERR max number of clients reached", ErrorCode::unavailable,
       "raise the server's maxclients"},
      {"NOPERM this user has no permissions", ErrorCode::denied, "rights"},
      {"ERR ACL failure in script: User bob has no permissions", ErrorCode::denied, "the user EXI"},
      {"ERR Unknown command called from script script: 1", ErrorCode::io, "lacks a module"},
      {"ERR unknown command 'EVAL'", ErrorCode::io, "rename-command"},
      {"ERR Could not find scripting engine 'lua'", ErrorCode::io, "without Lua"},
      {"ERR string exceeds maximum allowed size (proto-max-bulk-len)", ErrorCode::io, "raise the"},
      {"ERR bit offset is not an integer or out of range", ErrorCode::io, "proto-max-bulk-len"},
      {"NOAUTH Authentication required.", ErrorCode::denied, "give a password"},
      {"WRONGTYPE Operation against a key", ErrorCode::not_a_filter, "check the key"},
      {"MOVED nonsense", ErrorCode::unavailable, "named"},
      // What only has the words of an error is none.
      {"ODD script: -OOM command not allowed", ErrorCode::io, "ODD"},
      {"ODD ACL failure in script: x", ErrorCode::io, "ODD"},
      {"ERR something new", ErrorCode::io, "something new"},
  };
  Pair pair;
  for (const Case& each : cases) {
    pair.first_says(error_reply(each.reply));
    for (const bool inserting : {false, true}) {
      expect_error(each.code, {each.reply, each.advice}, [&] {
        if (inserting)
          pair.filter->insert_many(Pair::keys());
        else
          (void)pair.filter->may_contain_many(Pair::keys());
      });
      EXPECT_EQ(pair.filter->acknowledged(), 0U);
    }
  }
  pair.everything_at_first();
  EXPECT_TRUE(pair.all_there());
}

TEST(ErrorReplies, APortForTlsIsSaidToBeOne) {
  const Server real;
  Scripted node(real.path());
  const auto expect_words = [&](const char* words) {
    expect_error(ErrorCode::unavailable, {words}, [&] {
      RedisFilter::open({{.port = node.port()}, "filter", 0});
    });
  };
  // An alert, as TLS servers send it, and nothing at all, as redis-server's TLS port.
  node.say([](const Words&) -> Said { return std::string("\x15\x03\x01\x00\x02\x02\x46", 7); });
  expect_words("the server asks for TLS; write rediss:// or valkeys://");
  node.say([](const Words&) -> Said { return ""; });
  expect_words("if its port is one for TLS, write rediss://");
  node.say([](const Words&) -> Said { return "HTTP/1.1 400 Bad Request\r\n\r\n"; });
  expect_words("is not a Redis server");
}

TEST(ErrorReplies, APasswordIsAskedFor) {
  const Server server({"--requirepass", "secret"});
  RedisAddress address = server.address();
  const auto make = [&] { RedisFilter::create({address, "filter"}, plan(100, 0.01)); };
  expect_error(ErrorCode::denied, {"give a password"}, make);
  address.password = "wrong";
  error_of(make, ErrorCode::denied);
  address.password = "secret";
  make();
  address.user = "default";
  address.database = 3;
  make();  // another database: no such key there yet
  error_of(make, ErrorCode::exists);
  address.user = "nobody";
  error_of(make, ErrorCode::denied);
}

TEST(ErrorReplies, APasswordIsNotRepeatedByAServerThatKnowsNoAuth) {
  const Server server({"--rename-command", "AUTH", ""});
  RedisAddress address = server.address();
  address.user = "bob";
  address.password = "s3cret";
  const std::string error = error_of(
      [&] {
        RedisFilter::open({address, "filter"});
      },
      ErrorCode::denied);
  EXPECT_EQ(error.find("s3cret"), std::string::npos) << error;
  EXPECT_EQ(error.find("bob"), std::string::npos) << error;
  EXPECT_NE(error.find("check user and password"), std::string::npos) << error;
}

}  // namespace
}  // namespace bloomery::test
