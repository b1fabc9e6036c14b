// A filter in shards that is written beside another takes its place whole, and nobody who asks
// meanwhile is told "absent".
#include <bloomery/filter.hpp>
#include <bloomery/sharded_redis_writer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redis/scripted.hpp"
#include "redis/server.hpp"
#include "redis/shard_keys.hpp"
#include "redis/staged_shards.hpp"
#include "support/random.hpp"

namespace bloomery {
namespace {

using test::error_of;
using test::Scripted;
using test::Server;

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = test::mix(first + i);
  return keys;
}

// A plan of so many lines.
Plan of_lines(std::uint64_t lines, Layout layout = Layout::line, std::uint64_t keys = 5'000) {
  Plan made = plan(keys, 0.01, layout);
  made.bits = lines * kLineBits;
  return made;
}

class Writer : public testing::Test {
 protected:
  Writer() { server().ask({"FLUSHALL"}); }
  static Server& server() {
    static Server one;
    return one;
  }
  static RedisAddress address() { return server().address(); }
  static long long keys_there() { return server().ask({"DBSIZE"})->integer; }
  static ShardedRedisFilter open(const std::string& name = "f") {
    return ShardedRedisFilter::open(address(), name);
  }
  static Filter filled(const Plan& plan, std::uint64_t first, std::size_t count = 2'000) {
    Filter filter(plan);
    filter.insert_many(keys_from(first, count));
    return filter;
  }
  static void put(const Filter& filter, const ShardedRedisWriterOptions& options,
                  const RedisAddress& at = address()) {
    auto writer = ShardedRedisWriter::of_bits(at, "f", filter.plan(), filter.hasher(), options);
    writer.write(0, filter.bytes());
    writer.publish();
  }
};

TEST_F(Writer, BitsAreThoseOfTheFilterInOnePieceInAnyNumberOfShards) {
  for (const Layout layout : {Layout::line, Layout::line128, Layout::line64})
    for (const std::uint32_t shards : {1U, 4U, 12U}) {
      const Hasher hasher(HashFamily::siphash, {.low = 5, .high = 6});
      Filter twin(of_lines(120, layout), hasher);
      const auto keys = keys_from(1, 2'000);
      twin.insert_many(keys);
      const std::string name = "whole-" + std::to_string(shards) + std::string(to_string(layout));
      auto writer =
          ShardedRedisWriter::of_bits(address(), name, twin.plan(), hasher, {.shards = shards});
      EXPECT_EQ(writer.shards(), shards);
      // In pieces of a size that divides nothing, the last first.
      constexpr std::size_t kPiece = 1'001;
      for (std::size_t at = (twin.bytes().size() - 1) / kPiece * kPiece;; at -= kPiece) {
        writer.write(at, twin.bytes().subspan(at, std::min(kPiece, twin.bytes().size() - at)));
        if (at == 0) break;
      }
      error_of([&] { open(name); }, ErrorCode::missing);
      writer.publish();
      auto filter = open(name);
      EXPECT_EQ(filter.plan(), twin.plan());
      EXPECT_EQ(filter.hasher().seed(), hasher.seed());
      EXPECT_EQ(filter.may_contain_many(keys), keys.size());
      std::vector<std::byte> bits(twin.bytes().size());
      filter.read(0, bits);
      EXPECT_EQ(std::memcmp(bits.data(), twin.bytes().data(), bits.size()), 0);
      filter.read(639, std::span(bits).first(1'300));
      EXPECT_EQ(std::memcmp(bits.data(), twin.bytes().data() + 639, 1'300), 0);
      error_of([&] { filter.read(1, bits); }, ErrorCode::invalid_argument);
      for (const std::string& key : filter.keys())
        EXPECT_EQ(server().ask({"PTTL", key})->integer, -1) << "it would expire";
    }
  EXPECT_EQ(keys_there(), 3 * 17) << "something was left behind";
}

TEST_F(Writer, KeysGetTheBitsOfTheLibrarysFilter) {
  for (const Layout layout : {Layout::line, Layout::pair, Layout::classic}) {
    server().ask({"FLUSHALL"});
    auto made = ShardedRedisFilter::create(address(), "made", plan(5'000, 0.001, layout), 6);
    auto writer = ShardedRedisWriter::of_keys(address(), "f", plan(5'000, 0.001, layout), Hasher(),
                                              {.shards = 6});
    const auto keys = keys_from(9, 5'000);
    std::vector<Hash128> hashes;
    for (const std::uint64_t key : keys) hashes.push_back(Hasher()(key));
    EXPECT_EQ(writer.insert_hashes(hashes), made.insert_many(keys));
    EXPECT_DOUBLE_EQ(writer.watch().ones, made.watch().ones);
    writer.publish();
    auto filter = open();
    EXPECT_EQ(filter.plan(), made.plan());
    EXPECT_EQ(filter.may_contain_many(keys), keys.size());
    for (std::size_t i = 0; i < 6; ++i) {
      const std::string ours = server().get(filter.keys()[i]);
      const std::string theirs = server().get(made.keys()[i]);
      EXPECT_EQ(ours.substr(128, ours.size() - 136), theirs.substr(128, theirs.size() - 136));
    }
    EXPECT_EQ(keys_there(), 12);
  }
}

TEST_F(Writer, TakesANumberThatDividesAndSaysWhichDo) {
  const auto shards_of = [](std::uint64_t lines, Layout layout = Layout::line) {
    return ShardedRedisWriter::of_bits(address(), "f", of_lines(lines, layout), Hasher()).shards();
  };
  EXPECT_EQ(shards_of(120), 1U);  // one server: as `create` does
  EXPECT_EQ(shards_of(120, Layout::pair), 1U);
  const auto asked = [&](std::uint64_t lines) {
    return error_of(
        [&] {
          ShardedRedisWriter::of_bits(address(), "f", of_lines(lines), Hasher(), {.shards = 12});
        },
        ErrorCode::invalid_argument);
  };
  EXPECT_NE(asked(121).find("121 lines of bits do not divide into 12 shards, but into 1, 11, 121;"),
            std::string::npos);
  // A prime number of lines, more than a string holds.
  Plan prime = of_lines(8'388'617);
  EXPECT_NE(error_of([&] { ShardedRedisWriter::of_bits(address(), "f", prime, Hasher()); },
                     ErrorCode::invalid_argument)
                .find("do not divide into shards that strings hold; build the filter anew"),
            std::string::npos);
  EXPECT_EQ(keys_there(), 0) << "something was left behind";
}

TEST_F(Writer, LeavesNothingThatStays) {
  put(filled(of_lines(120), 1), {.shards = 4});
  {
    auto writer =
        ShardedRedisWriter::of_bits(address(), "f", of_lines(240), Hasher(), {.replace = true});
    writer.write(7, std::array{std::byte{1}});
    EXPECT_EQ(keys_there(), 8);
    // As it would be left by one that dies.
    const detail::Reply keys = server().ask({"KEYS", "*:new-*"});
    ASSERT_EQ(keys->elements, 4U);
    for (std::size_t i = 0; i < keys->elements; ++i) {
      const long long left = server().ask({"TTL", keys->element[i]->str})->integer;
      EXPECT_GT(left, 500);
      EXPECT_LE(left, 600);
    }
  }
  EXPECT_EQ(keys_there(), 4);
  EXPECT_EQ(open().may_contain_many(keys_from(1, 2'000)), 2'000U);
}

TEST_F(Writer, ReplacesOnlyWhatItMay) {
  const auto refused = [&](const ShardedRedisWriterOptions& options, std::uint64_t lines,
                           ErrorCode code, const std::string& part) {
    const std::string text = error_of([&] { put(filled(of_lines(lines), 5), options); }, code);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  put(filled(of_lines(120), 1), {.shards = 4});
  refused({.shards = 4}, 120, ErrorCode::exists, "exists already");
  refused({.shards = 5, .replace = true}, 120, ErrorCode::mismatch, "has 4 shards, and keeps");
  refused({.replace = true}, 116, ErrorCode::mismatch, "would become shorter");
  refused({.replace = true}, 121, ErrorCode::invalid_argument, "do not divide into 4 shards");
  EXPECT_EQ(open().may_contain_many(keys_from(1, 2'000)), 2'000U);
  EXPECT_EQ(keys_there(), 4);

  server().ask({"FLUSHALL"});
  RedisFilter::create(address(), "f:{0}", plan(100, 0.01));
  refused({.replace = true}, 120, ErrorCode::exists, "no filter in shards");
  server().ask({"SET", "f:{0}", "text"});
  refused({.replace = true}, 120, ErrorCode::not_a_filter, "without a filter's header");
  server().ask({"DEL", "f:{0}"});
  server().ask({"RPUSH", "f:{0}", "text"});
  refused({.replace = true}, 120, ErrorCode::not_a_filter, "");
  EXPECT_EQ(keys_there(), 1);

  // Shards with bits of a filter whose shard 0 is lost, or that a writer has left half way.
  server().ask({"FLUSHALL"});
  put(filled(of_lines(120), 1), {.shards = 4});
  server().ask({"DEL", "f:{0}"});
  refused({.shards = 4}, 120, ErrorCode::exists, "holds something");
  EXPECT_EQ(keys_there(), 3);
  put(filled(of_lines(120), 70'000), {.shards = 4, .replace = true});
  EXPECT_EQ(open().may_contain_many(keys_from(70'000, 2'000)), 2'000U);
  EXPECT_EQ(keys_there(), 4);
}

TEST_F(Writer, WhereOneShardIsRefusedAllComeBack) {
  for (const bool replace : {false, true}) {
    server().ask({"FLUSHALL"});
    const auto keys = keys_from(1, 2'000);
    std::optional<ShardedRedisFilter> before;
    if (replace) {
      put(filled(of_lines(120), 1), {.shards = 4});
      before = open();
    }
    const std::string odd = detail::shard_keys("f", 4)[2];
    const std::string whole = server().get(odd);
    server().ask({"SET", odd, "something"});
    const std::string text =
        error_of([&] { put(filled(of_lines(240), 5'000), {.shards = 4, .replace = replace}); },
                 ErrorCode::exists);
    EXPECT_NE(text.find(odd + "' holds something"), std::string::npos) << text;
    EXPECT_EQ(server().get(odd), "something");
    EXPECT_EQ(server().ask({"EXISTS", "f:{0}", detail::shard_keys("f", 4)[1]})->integer,
              replace ? 2 : 0);
    if (replace) {
      server().ask({"SET", odd, whole});
      EXPECT_EQ(before->may_contain_many(keys), keys.size());
      EXPECT_EQ(open().may_contain_many(keys), keys.size());
      for (const std::string& key : before->keys())
        EXPECT_EQ(server().ask({"PTTL", key})->integer, -1) << "it would expire";
    } else {
      server().ask({"DEL", odd});
    }
    put(filled(of_lines(240), 5'000), {.shards = 4, .replace = replace});
    EXPECT_EQ(open().may_contain_many(keys_from(5'000, 2'000)), 2'000U);
    EXPECT_EQ(keys_there(), 4);
  }
}

TEST_F(Writer, AStagedShardThatIsGoneIsAnError) {
  put(filled(of_lines(120), 1), {.shards = 4});
  for (const std::size_t shard : {0U, 3U}) {
    auto writer =
        ShardedRedisWriter::of_bits(address(), "f", of_lines(120), Hasher(), {.replace = true});
    const std::string place = detail::shard_keys("f", 4)[shard];
    const detail::Reply staged = server().ask({"KEYS", place + ":new-*"});
    ASSERT_EQ(staged->elements, 1U);
    server().ask({"DEL", staged->element[0]->str});
    error_of([&] { writer.publish(); }, ErrorCode::no_space);
    const Filter bits = filled(of_lines(120), 9);
    error_of([&] { writer.write(0, bits.bytes()); }, ErrorCode::no_space);
  }
  EXPECT_EQ(open().may_contain_many(keys_from(1, 2'000)), 2'000U);
  EXPECT_EQ(keys_there(), 4);
}

TEST_F(Writer, NobodyIsToldAbsentWhileShardsChangePlaces) {
  const auto common = keys_from(1, 1'000);  // in the old filter and in the new
  for (const std::uint64_t lines : {120, 240}) {
    server().ask({"FLUSHALL"});
    put(filled(of_lines(120), 1, 1'000), {.shards = 6});
    auto before = open();
    Filter next = filled(of_lines(lines), 500'000, 1'000);
    next.insert_many(common);

    Scripted node(server().path());
    int swaps = 0;
    int told = 0;
    const auto found_or_told = [&](auto&& filter_of) {
      try {
        decltype(auto) filter = filter_of();
        EXPECT_EQ(filter.may_contain_many(common), common.size());
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::mismatch) << error.what();
        ++told;
      }
      for (std::size_t i = 0; i < common.size(); i += 97) try {
          decltype(auto) filter = filter_of();
          EXPECT_TRUE(filter.may_contain(common[i]));
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::mismatch) << error.what();
        }
    };
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (words[0] != "EVAL" || (words[2] != "3" && words[2] != "4")) return std::nullopt;
      ++swaps;
      found_or_told([&]() -> ShardedRedisFilter& { return before; });
      found_or_told([&] { return open(); });
      return std::nullopt;
    });
    put(next, {.replace = true}, {.port = node.port()});
    node.say(nullptr);
    EXPECT_EQ(swaps, 6);
    EXPECT_GT(told, 0) << "nothing was seen half way";
    EXPECT_EQ(open().may_contain_many(common), common.size());
    EXPECT_NE(error_of([&] { (void)before.may_contain_many(common); }, ErrorCode::mismatch)
                  .find("was replaced by another filter"),
              std::string::npos);
    // An insert into what it takes for the old filter does no harm to the new one.
    error_of([&] { before.insert_many(common); }, ErrorCode::mismatch);
    EXPECT_EQ(open().may_contain_many(common), common.size());
    EXPECT_EQ(keys_there(), 6);
  }
}

TEST_F(Writer, ALostAnswerToTheLastStepHasPutItThere) {
  for (const bool arrives : {false, true}) {
    server().ask({"FLUSHALL"});
    put(filled(of_lines(120), 1), {.shards = 3});
    Scripted node(server().path());
    bool hung_up = false;
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      if (hung_up || words[0] != "EVAL" || words[2] != "4") return std::nullopt;
      hung_up = true;
      if (arrives) {
        EXPECT_EQ(server()
                      .ask({words[0], words[1], words[2], words[3], words[4], words[5], words[6],
                            words[7], words[8]})
                      ->integer,
                  1);
      }
      return "";
    });
    const auto try_it = [&] {
      put(filled(of_lines(120), 9'000), {.replace = true}, {.port = node.port()});
    };
    if (arrives)
      try_it();
    else
      error_of(try_it, ErrorCode::unavailable);
    node.say(nullptr);
    EXPECT_TRUE(hung_up);
    EXPECT_EQ(open().may_contain_many(keys_from(arrives ? 9'000 : 1, 2'000)), 2'000U);
    EXPECT_EQ(keys_there(), 3);
  }
}

TEST_F(Writer, OneThatIsCutOffHalfWayLeavesAnErrorThatTheNextOneMends) {
  const auto keys = keys_from(1, 2'000);
  put(filled(of_lines(120), 1), {.shards = 4});
  auto before = open();
  {
    Scripted node(server().path());
    int swaps = 0;
    node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
      const bool swap = words[0] == "EVAL" && words[2] == "3";
      if (swaps == 2) return "";  // from now on
      swaps += swap ? 1 : 0;
      return std::nullopt;
    });
    error_of([&] { put(filled(of_lines(120), 9'000), {.replace = true}, {.port = node.port()}); },
             ErrorCode::unavailable);
    EXPECT_EQ(swaps, 2);
  }
  error_of([&] { (void)before.may_contain_many(keys); }, ErrorCode::mismatch);
  const std::string text = error_of([] { open(); }, ErrorCode::mismatch);
  EXPECT_NE(text.find("was left there half way"), std::string::npos) << text;
  error_of([] { put(filled(of_lines(120), 9'000), {.replace = true}); }, ErrorCode::locked);
  server().ask({"DEL", "f:{0}:replacing"});  // a minute later
  put(filled(of_lines(120), 1), {.replace = true});
  EXPECT_EQ(open().may_contain_many(keys), keys.size());
  // What it has left has a time to live.
  const detail::Reply left = server().ask({"KEYS", "*-*"});
  EXPECT_EQ(left->elements, 4U);
  for (std::size_t i = 0; i < left->elements; ++i)
    EXPECT_GT(server().ask({"TTL", left->element[i]->str})->integer, 500);
}

TEST(StagedShards, AreKeptAliveWhileTheyAreWritten) {
  const Server server;
  detail::Cluster cluster(server.address());
  using namespace std::chrono_literals;
  detail::StagedShards always({"a:{0}", "a:{3}"}, {}, 0s);
  detail::StagedShards seldom({"b:{0}"}, {});
  for (const auto* staged : {&always, &seldom})
    for (const std::string& name : staged->names()) server.ask({"SET", name, "x", "EX", "9"});
  always.keep_alive(cluster, 2);
  seldom.keep_alive(cluster, 1);
  for (const std::string& name : always.names())
    EXPECT_GT(server.ask({"TTL", name})->integer, 500) << name;
  EXPECT_LT(server.ask({"TTL", seldom.names()[0]})->integer, 10);
  server.ask({"DEL", always.names()[1]});
  always.keep_alive(cluster, 1);
  EXPECT_NE(error_of([&] { always.keep_alive(cluster, 2); }, ErrorCode::no_space)
                .find("'a:{3}': the server dropped the new shard"),
            std::string::npos);
}

TEST_F(Writer, OneAtATimePutsItsShardsThere) {
  put(filled(of_lines(120), 1), {.shards = 3});
  auto one =
      ShardedRedisWriter::of_bits(address(), "f", of_lines(120), Hasher(), {.replace = true});
  auto other =
      ShardedRedisWriter::of_bits(address(), "f", of_lines(120), Hasher(), {.replace = true});
  server().ask({"SET", "f:{0}:replacing",
                "\x89"
                "BLC\r\n\x1A\n12345678",
                "PX", "60000"});
  error_of([&] { one.publish(); }, ErrorCode::locked);
  server().ask({"DEL", "f:{0}:replacing"});
  one.publish();
  other.publish();
  EXPECT_EQ(keys_there(), 3);
}

TEST_F(Writer, AStringIsWrittenInPiecesToo) {
  const Filter filter = filled(of_lines(120), 1);
  {
    RedisFilterWriter writer(address(), "s", filter.plan(), filter.hasher());
    for (std::size_t at = 0; at < filter.bytes().size(); at += 1'000)
      writer.write(
          at, filter.bytes().subspan(at, std::min<std::size_t>(1'000, filter.bytes().size() - at)));
    error_of([&] { writer.write(1, filter.bytes()); }, ErrorCode::invalid_argument);
    error_of([] { RedisFilter::open(address(), "s"); }, ErrorCode::missing);
    writer.publish();
  }
  auto there = RedisFilter::open(address(), "s");
  const Filter loaded = there.load();
  EXPECT_EQ(std::memcmp(loaded.bytes().data(), filter.bytes().data(), filter.bytes().size()), 0);
  std::array<std::byte, 100> some{};
  there.read(777, some);
  EXPECT_EQ(std::memcmp(some.data(), filter.bytes().data() + 777, some.size()), 0);
  error_of([&] { there.read(filter.bytes().size() - 99, some); }, ErrorCode::invalid_argument);
  RedisFilterWriter again(address(), "s", filter.plan(), filter.hasher());
  error_of([&] { again.publish(); }, ErrorCode::exists);
  again.publish(true);
  EXPECT_EQ(keys_there(), 1);
}

}  // namespace
}  // namespace bloomery
