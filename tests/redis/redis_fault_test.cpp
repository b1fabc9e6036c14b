// Whatever goes wrong between a client and its server is an error that says so, and what was
// acknowledged is there.
#include <bloomery/filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/time.h>

#include <algorithm>

#include "redis/forms.hpp"
#include "redis/parsed.hpp"
#include "redis/proxy.hpp"
#include "redis/scripted.hpp"
#include "redis/server.hpp"
#include "redis/strings/redis_header.hpp"
#include "redis/strings/string_bits.hpp"
#include "support/random.hpp"

namespace bloomery {
namespace {

using test::error_of;
using test::Proxy;
using test::Scripted;
using test::Server;

using namespace std::chrono_literals;

class BrokenConnection : public test::OfEachForm {};

INSTANTIATE_TEST_SUITE_P(In, BrokenConnection, testing::Values(test::Form(), test::Form(2)),
                         test::name_of_form);

TEST_P(BrokenConnection, MayBreakAtEveryByte) {
  const test::Scratch scratch;
  Proxy proxy(scratch / "proxy", server().path());
  const auto open = [&] {
    return RedisFilter::open({{.socket = scratch / "proxy"}, "f", place_to_open().shards});
  };
  const std::vector<std::string> items = {"one", "two", "three", "four"};
  // How many of the first keys are there, asked without the proxy.
  const auto kept = [&](std::size_t first) {
    return RedisFilter::open(place_to_open()).may_contain_many(std::span(items).first(first));
  };
  RedisFilter::create(place(), plan(1'000, 0.001));
  // The same strings each time: the answers name their identity, in as many digits as it has.
  std::vector<std::string> empty;
  for (const std::string& key : keys()) empty.push_back(server().get(key));
  std::optional<RedisFilter> filter(open());
  filter->insert_many(items);
  const std::size_t requests = proxy.requests_passed();
  const std::size_t replies = proxy.replies_passed();
  ASSERT_GT(requests, 500U);
  ASSERT_GT(replies, 200U);

  std::size_t partial = 0;
  const auto broken_at = [&](std::size_t request_bytes, std::size_t reply_bytes) {
    filter.reset();
    for (std::size_t i = 0; i < strings(); ++i) server().ask({"SET", keys()[i], empty[i]});
    proxy.cut(request_bytes, reply_bytes);
    try {
      filter.emplace(open());
      filter->insert_many(items);
      ADD_FAILURE() << "not broken at " << request_bytes << ", " << reply_bytes;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ErrorCode::unavailable) << error.what();
    }
    proxy.cut(Proxy::kNever, Proxy::kNever);
    if (!filter) return;
    const std::size_t acknowledged = filter->acknowledged();
    ASSERT_LT(acknowledged, items.size());
    ASSERT_EQ(kept(acknowledged), acknowledged);
    if (acknowledged > 0) ++partial;
    filter->insert_many(items);  // over a new connection
    ASSERT_EQ(filter->acknowledged(), items.size());
    ASSERT_EQ(kept(items.size()), items.size());
  };
  // In shards more is said: every second byte, of what is said of the keys.
  const std::size_t step = in_shards() ? 2 : 1;
  for (std::size_t byte = in_shards() ? requests - 600 : 0; byte < requests; byte += step)
    broken_at(byte, Proxy::kNever);
  for (std::size_t byte = in_shards() ? replies - 200 : 0; byte < replies; ++byte)
    broken_at(Proxy::kNever, byte);
  EXPECT_GT(partial, 10U) << "no break between the answers of a batch was tried";
}

// The bits of what was never taken are not zeros.
TEST(RedisFault, ATransactionThatIsGivenUpTwiceIsNotRead) {
  const Server real;
  RedisFilter::create({real.address(), "filter", 2}, plan(1'000, 0.01)).insert("a key");
  Scripted node(real.path());
  auto filter = RedisFilter::open({{.port = node.port()}, "filter", 0});
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "MULTI") return "+OK\r\n";
    if (words[0] == "GETRANGE") return "+QUEUED\r\n";
    return "-EXECABORT Transaction discarded because of previous errors.\r\n";
  });
  std::vector<std::byte> bytes(filter.plan().bytes());
  error_of([&] { filter.read(0, bytes); }, ErrorCode::unavailable);
  node.say(nullptr);
  filter.read(0, bytes);
  EXPECT_FALSE(std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; }));
}

TEST(RedisFault, AStoreThatBreaksLeavesNothing) {
  for (const int expires : {1, 2, 3}) {
    SCOPED_TRACE(expires);
    const Server real;
    Scripted node(real.path());
    int asked = 0;
    node.say([&](const Scripted::Words& words) {
      return words[0] == "EXPIRE" && ++asked == expires ? std::optional<std::string>("")
                                                        : std::nullopt;
    });
    Filter filter(plan(1'000, 0.01));
    filter.insert("a key");
    error_of(
        [&] {
          RedisFilter::store({{.port = node.port()}, "filter"}, filter);
        },
        ErrorCode::unavailable);
    EXPECT_EQ(real.ask({"DBSIZE"})->integer, 0) << "something was left behind";
  }
}

TEST(RedisFault, NoAnswerComesWhereThereIsNoConnection) {
  const Server server;
  detail::Connection connection(server.address());
  error_of([&] { (void)connection.receive(); }, ErrorCode::unavailable);
  connection.ask({"PING"});
  connection.drop();
  error_of([&] { (void)connection.receive(); }, ErrorCode::unavailable);
  connection.ask({"PING"});
}

TEST(RedisFault, AServerMayDieAndComeBack) {
  Server server;
  auto filter = RedisFilter::create({server.address(), "filter"}, plan(1'000, 0.01));
  filter.insert("a key");
  server.stop();
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::unavailable);
  EXPECT_NE(
      error_of([&] { filter.insert("a key"); }, ErrorCode::unavailable).find("cannot be reached"),
      std::string::npos);
  server.start();  // it has saved nothing
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::missing);
  auto made_again = RedisFilter::create({server.address(), "filter"}, plan(1'000, 0.01));
  EXPECT_TRUE(made_again.insert("a key"));
}

TEST(RedisFault, AServerMaySayNothing) {
  const Server server;
  RedisAddress address = server.address();
  address.timeout = 100ms;
  auto filter = RedisFilter::create({address, "filter"}, plan(1'000, 0.01));
  server.signal(SIGSTOP);
  // Signals do not extend the time.
  struct sigaction before = {}, nothing = {};
  nothing.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &nothing, &before);
  const itimerval often{{0, 20'000}, {0, 20'000}}, never{};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  EXPECT_NE(error_of([&] { filter.insert("a key"); }, ErrorCode::unavailable)
                .find("no answer within 100 ms"),
            std::string::npos);
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
  server.signal(SIGCONT);
  // The answer to the first insert is not taken for that of the second.
  filter.insert("a key");
  EXPECT_FALSE(filter.may_contain("another key"));
  EXPECT_TRUE(filter.may_contain("a key"));
}

TEST(RedisFault, AReplicaAnswersAndTakesNothing) {
  const Server server;
  auto filter = RedisFilter::create({server.address(), "filter"}, plan(1'000, 0.01));
  filter.insert("a key");
  server.ask({"REPLICAOF", "127.0.0.1", "1"});
  EXPECT_TRUE(filter.may_contain("a key"));
  error_of([&] { filter.insert("another key"); }, ErrorCode::read_only);
  EXPECT_EQ(filter.acknowledged(), 0U);
  server.ask({"REPLICAOF", "NO", "ONE"});
  EXPECT_TRUE(filter.insert("another key"));
}

TEST(RedisFault, AFullServerSaysSo) {
  const Server server;
  auto filter = RedisFilter::create({server.address(), "filter"}, plan(1'000, 0.01));
  filter.insert("a key");
  server.ask({"CONFIG", "SET", "maxmemory", "1"});
  error_of([&] { filter.insert_many(std::vector{1, 2, 3}); }, ErrorCode::no_space);
  EXPECT_EQ(filter.acknowledged(), 0U);
  EXPECT_TRUE(filter.may_contain("a key"));
  error_of(
      [&] {
        RedisFilter::create({server.address(), "more"}, plan(1'000, 0.01));
      },
      ErrorCode::no_space);
}

// It refuses each command in a transaction, those that read too.
TEST(RedisFault, AFullServerIsStillRead) {
  const Server server;
  const auto keys = test::keys_from(1, 5'000);
  for (const test::Form form : {test::Form(), test::Form(3)}) {
    SCOPED_TRACE(form.value_or(0));
    server.ask({"CONFIG", "SET", "maxmemory", "0"});
    auto filter = RedisFilter::create({server.address(), "filter", form}, plan(6'000, 0.01));
    filter.insert_many(keys);
    std::vector<std::byte> before(filter.plan().bytes()), after(before.size());
    filter.read(0, before);
    server.ask({"CONFIG", "SET", "maxmemory", "1"});
    EXPECT_EQ(filter.may_contain_many(keys), keys.size());
    EXPECT_EQ(filter.acknowledged(), keys.size());
    EXPECT_LT(filter.may_contain_many(test::keys_from(1'000'000, 5'000)), 150U);
    filter.read(0, after);
    EXPECT_EQ(before, after);
  }
}

TEST(RedisFault, AClusterWithoutSlotsSaysSo) {
  const Server server({"--cluster-enabled", "yes"});
  error_of(
      [&] {
        RedisFilter::create({server.address(), "filter"}, plan(1'000, 0.01));
      },
      ErrorCode::unavailable);
}

TEST(RedisFault, AnAnswerHasABound) {
  const Server server;
  test::Scripted between(server.path());
  const RedisAddress address{.port = between.port(), .timeout = 2'000ms};
  const auto told = [&](const std::string& answer) {
    between.say([answer](const test::Scripted::Words&) { return answer; });
    return error_of([&] { RedisFilter::open({address, "filter"}); }, ErrorCode::unavailable);
  };
  // More than a chunk of a dump has, and no end is in sight.
  EXPECT_NE(told("$3000000000\r\n" + std::string(std::size_t{70} << 20, 'x')).find("65 MiB"),
            std::string::npos);
  EXPECT_NE(told("*2000000\r\n").find("1048576 elements"), std::string::npos);
  // Small in bytes, and large in memory; and so deep that to free it would take a stack of its own.
  const auto many = [](const char* text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  EXPECT_NE(told("*2\r\n*1000000\r\n" + many(":1\r\n", 1'000'000) + "*1000000\r\n")
                .find("1048576 elements"),
            std::string::npos);
  told(many("*1\r\n", 300'000));
  between.say(nullptr);
  RedisFilter::create({address, "filter"}, plan(1'000, 0.01));
}

// Also behind one that broke off: a reader of a large filter gets more in all.
TEST(RedisFault, EveryAnswerHasTheWholeBound) {
  const Server server;
  Scripted between(server.path());
  detail::Connection connection({.port = between.port(), .timeout = 2'000ms});
  const auto ask = [&](const std::string& answer) {
    between.say([answer](const Scripted::Words&) { return answer; });
    return connection.ask({"GET", "key"});
  };
  const std::string large = "$41943040\r\n" + std::string(std::size_t{40} << 20, 'x') + "\r\n";
  std::string many = "*600000\r\n";
  for (int i = 0; i < 600'000; ++i) many += ":1\r\n";
  for (const std::string& answer : {large, many}) {
    for (int again = 0; again < 2; ++again)
      EXPECT_EQ(ask(answer)->type, answer[0] == '$' ? REDIS_REPLY_STRING : REDIS_REPLY_ARRAY);
    test::expect_error(ErrorCode::unavailable, {"not a Redis server"},
                       [&] { ask("*2\r\n" + answer + "?\r\n"); });
    EXPECT_NO_THROW(ask(answer));
  }
  // As much as there may be, and one more.
  const auto nested = [](int depth) {
    std::string all;
    for (int i = 0; i < depth; ++i) all += "*1\r\n";
    return all + ":1\r\n";
  };
  EXPECT_EQ(ask(nested(8))->type, REDIS_REPLY_ARRAY);
  test::error_of([&] { ask(nested(9)); }, ErrorCode::unavailable);
  std::string most = "*1048576\r\n";
  for (int i = 0; i < 1'048'576; ++i) most += ":1\r\n";
  EXPECT_EQ(ask(most)->elements, 1'048'576U);
  test::expect_error(ErrorCode::unavailable, {"1048576 elements"}, [&] { ask("*1048577\r\n"); });
}

// A key is not absent, nor new, because something that is no bit is in the place of one.
TEST(RedisFault, WhatIsNoBitIsNotZero) {
  const Server server;
  Scripted between(server.path());
  auto filter = RedisFilter::create({{.port = between.port()}, "filter"}, plan(1'000, 0.01));
  filter.insert(7);
  const std::string identity = std::to_string(detail::kRedisIdentityAt * 8);
  const auto field = server.ask({"BITFIELD_RO", "filter", "GET", "i64", identity});
  const std::string by_command = ":" + std::to_string(field->element[0]->integer) + "\r\n";
  const std::string by_script =
      test::raw_text(server.get("filter").substr(detail::kRedisIdentityAt, 16));
  std::string ones;
  for (std::uint32_t i = 1; i < filter.plan().hashes; ++i) ones += ":1\r\n";
  for (const std::string none : {"$-1\r\n", "$1\r\n1\r\n", "*0\r\n", "-ERR none\r\n"}) {
    between.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      const bool is_script = words[0] == "EVAL";
      if (!is_script && !words[0].starts_with("BITFIELD")) return std::nullopt;
      return "*" + std::to_string(filter.plan().hashes + 1) + "\r\n" +
             (is_script ? by_script : by_command) + ones + none;
    });
    error_of([&] { (void)filter.may_contain(7); }, ErrorCode::io);
    error_of([&] { (void)filter.insert(7); }, ErrorCode::io);
  }
}

// Nor are bits that are fewer than were asked for those of the filter.
TEST(RedisFault, BytesThatAreMissingAreNotZeros) {
  const Server server;
  Scripted between(server.path());
  auto filter = RedisFilter::create({{.port = between.port()}, "filter"},
                                    {Layout::blocked, 2'048, 6, 300, 0.05});
  const auto keys = test::keys_from(1, 100);
  filter.insert_many(keys);
  const std::string whole = server.get("filter");
  int blocks = 0;
  const auto answering = [&](const std::string& block) {
    between.say([&, block](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] == "MULTI") return "+OK\r\n";
      if (words[0] == "STRLEN") return "+QUEUED\r\n";
      if (words[0] == "GETRANGE") {
        ++blocks;
        return "+QUEUED\r\n";
      }
      std::vector<std::string> replies = {
          ":" + std::to_string(whole.size()) + "\r\n",
          test::raw_text(whole.substr(detail::kRedisIdentityAt, 8))};
      replies.resize(1 + static_cast<std::size_t>(std::exchange(blocks, 0)), test::raw_text(block));
      return test::raw_array(replies);
    });
  };
  answering(std::string(64, '\xFF'));
  EXPECT_EQ(filter.may_contain_many(keys), keys.size());
  for (const std::size_t size : {0, 63, 65}) {
    answering(std::string(size, '\xFF'));
    error_of([&] { (void)filter.may_contain_many(keys); }, ErrorCode::corrupt);
    EXPECT_EQ(filter.acknowledged(), 0U);
  }
  between.say([](const Scripted::Words& words) -> std::optional<std::string> {
    return words[0] == "GETRANGE" && words[3] != "71"
               ? std::optional<std::string>(test::raw_text("too few"))
               : std::optional<std::string>();
  });
  std::vector<std::byte> bits(filter.plan().bytes());
  EXPECT_NE(error_of([&] { filter.read(0, bits); }, ErrorCode::corrupt).find("cut short"),
            std::string::npos);
}

TEST(RedisFault, WhatIsThrownMidwayLeavesNoAnswersBehind) {
  const Server server;
  const Plan plan = bloomery::plan(10'000, 0.01);
  RedisFilter::create({server.address(), "filter"}, plan);
  const auto identity = server.get("filter").substr(detail::kRedisIdentityAt, 8);
  detail::BitString::Guard guard;
  guard.bytes = detail::kRedisHeaderBytes + plan.bytes();
  guard.has_blocks = true;
  std::copy(identity.begin(), identity.end(), guard.identity.emplace().begin());
  detail::StringBits bits(detail::Cluster({server.address(), "filter"}),
                          {{"filter", "filter", guard, 1}});
  // The second batch finds no memory, while the first is in flight.
  const std::size_t keys = 2'000;
  const auto key_bits = [](bool fails) {
    return [fails, first = std::size_t{0}](std::size_t most, detail::KeyBits& to) mutable {
      if (fails && first > 0) throw std::bad_alloc();
      const std::size_t count = std::min(most, keys - first);
      to.strings.resize(count);
      for (std::size_t i = 0; i < count; ++i) to.offsets.push_back(2'048 + first + i);
      first += count;
      return count;
    };
  };
  using enum detail::BitOperation;
  EXPECT_EQ(bits.run(set, key_bits(false), {}), keys);
  EXPECT_THROW(bits.run(set, key_bits(true), {}), std::bad_alloc);
  EXPECT_EQ(bits.run(set, key_bits(false), {}), 0U);
  EXPECT_THROW(bits.run(test, key_bits(true), {}), std::bad_alloc);
  EXPECT_EQ(bits.run(test, key_bits(false), {}), keys);
}

TEST(RedisFault, WhatIsNotRedisIsNotBelieved) {
  error_of([] { RedisFilter::open({{.port = 1}, "filter"}); }, ErrorCode::unavailable);
  error_of([] { RedisFilter::open({{.host = "no such host"}, "filter"}); }, ErrorCode::unavailable);
  error_of([] { RedisFilter::open({{.socket = "/nowhere"}, "filter"}); }, ErrorCode::unavailable);
  error_of(
      [] {
        RedisFilter::open({{.socket = std::string(200, 'x')}, "filter"});
      },
      ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace bloomery
