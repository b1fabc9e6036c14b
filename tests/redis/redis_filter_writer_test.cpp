// Filters in shards that are written beside what has their name: their bits, and what stays of them.
#include <bloomery/rotating_redis_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "redis/filter_writers.hpp"
#include "redis/moved_clock.hpp"
#include "redis/scripted.hpp"

namespace bloomery::test {
namespace {

class Writer : public FilterWriters {};

TEST_F(Writer, BitsAreThoseOfTheFilterInOnePieceInAnyNumberOfShards) {
  for (const Layout layout : {Layout::blocked, Layout::blocked128, Layout::blocked64})
    for (const std::uint32_t shards : {1U, 4U, 12U}) {
      const Hasher hasher(HashFamily::siphash, {.low = 5, .high = 6});
      Filter in_memory(of_blocks(120, layout), hasher);
      const auto keys = keys_from(1, 2'000);
      in_memory.insert_many(keys);
      const std::string name = "whole-" + std::to_string(shards) + std::string(to_string(layout));
      auto writer = RedisFilterWriter::of_bits({address(), name, shards}, in_memory.plan(), hasher);
      EXPECT_EQ(writer.shards(), shards);
      // In pieces of a size that divides nothing, the last first.
      constexpr std::size_t kPiece = 1'001;
      for (std::size_t at = (in_memory.bytes().size() - 1) / kPiece * kPiece;; at -= kPiece) {
        writer.write(
            at, in_memory.bytes().subspan(at, std::min(kPiece, in_memory.bytes().size() - at)));
        if (at == 0) break;
      }
      error_of([&] { open(name); }, ErrorCode::missing);
      writer.publish();
      auto filter = open(name);
      EXPECT_EQ(filter.plan(), in_memory.plan());
      EXPECT_EQ(filter.hasher().seed(), hasher.seed());
      EXPECT_EQ(filter.may_contain_many(keys), keys.size());
      std::vector<std::byte> bits(in_memory.bytes().size());
      filter.read(0, bits);
      EXPECT_EQ(std::memcmp(bits.data(), in_memory.bytes().data(), bits.size()), 0);
      filter.read(639, std::span(bits).first(1'300));
      EXPECT_EQ(std::memcmp(bits.data(), in_memory.bytes().data() + 639, 1'300), 0);
      error_of([&] { filter.read(1, bits); }, ErrorCode::invalid_argument);
      server().expect_to_keep(filter);
    }
  EXPECT_EQ(keys_there(), 3 * 17) << "something was left behind";
}

TEST_F(Writer, KeysGetTheBitsOfTheLibrarysFilter) {
  for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard}) {
    server().ask({"FLUSHALL"});
    auto made = RedisFilter::create({address(), "made", 6}, plan(5'000, 0.001, layout));
    auto writer =
        RedisFilterWriter::of_keys({address(), "f", 6}, plan(5'000, 0.001, layout), Hasher());
    const auto keys = keys_from(9, 5'000);
    std::vector<Hash128> hashes;
    for (const std::uint64_t key : keys) hashes.push_back(Hasher()(key));
    EXPECT_EQ(writer.insert_hashes(hashes), made.insert_many(keys));
    EXPECT_DOUBLE_EQ(writer.stats().fill, made.stats().fill);
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

TEST_F(Writer, SendsNothingWithoutRoomForTheAnswers) {
  std::vector<Hash128> hashes;
  for (const std::uint64_t key : keys_from(1, 20'000)) hashes.push_back(Hasher()(key));
  const auto room = std::make_unique<bool[]>(hashes.size());
  const std::span<bool> answers(room.get(), hashes.size() - 1);
  for (const std::uint32_t shards : {1U, 4U}) {
    auto writer = RedisFilterWriter::of_keys({address(), "f", shards}, of_blocks(1'200), Hasher());
    error_of([&] { writer.insert_hashes(hashes, answers); }, ErrorCode::invalid_argument);
    EXPECT_EQ(writer.stats().fill, 0);
  }
}

TEST_F(Writer, TakesANumberThatDividesAndSaysWhichDo) {
  const auto shards_of = [](std::uint64_t blocks, Layout layout = Layout::blocked) {
    return RedisFilterWriter::of_bits({address(), "f", 0}, of_blocks(blocks, layout), Hasher())
        .shards();
  };
  EXPECT_EQ(shards_of(120), 1U);  // one server: as `create` does
  EXPECT_EQ(shards_of(120, Layout::blocked2), 1U);
  const auto asked = [&](std::uint64_t blocks) {
    return error_of(
        [&] {
          RedisFilterWriter::of_bits({address(), "f", 12}, of_blocks(blocks), Hasher());
        },
        ErrorCode::invalid_argument);
  };
  EXPECT_NE(
      asked(121).find("121 blocks of bits do not divide into 12 shards, but into 1, 11, 121;"),
      std::string::npos);
  // Twelve numbers are named, and that there are more.
  EXPECT_NE(asked(90).find("but into 1, 2, 3, 5, 6, 9, 10, 15, 18, 30, 45, 90;"), std::string::npos)
      << asked(90);
  EXPECT_NE(asked(10'010).find("but into 1, 2, 5, 7, 10, 11, 13, 14, 22, 26, 35, 55 …;"),
            std::string::npos)
      << asked(10'010);
  // A prime number of blocks, more than a string holds.
  Plan prime = of_blocks(8'388'617);
  expect_error(ErrorCode::invalid_argument,
               {"do not divide into shards that strings hold; build the filter again"}, [&] {
                 RedisFilterWriter::of_bits({address(), "f", 0}, prime, Hasher());
               });
  EXPECT_EQ(keys_there(), 0) << "something was left behind";
}

TEST_F(Writer, LeavesNothingThatStays) {
  put(filled(of_blocks(120), 1), {.shards = 4});
  {
    auto writer = RedisFilterWriter::of_bits({address(), "f", 0}, of_blocks(240), Hasher(), true);
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

// A server hangs up on clients that are idle. What they have staged is removed over another connection.
TEST_F(Writer, LeavesNothingBehindALostConnection) {
  {
    auto writer = RedisFilterWriter::of_bits({address(), "f", 4}, of_blocks(240), Hasher());
    EXPECT_EQ(keys_there(), 4);
    server().ask({"CLIENT", "KILL", "SKIPME", "yes"});
  }
  EXPECT_EQ(keys_there(), 0);
}

// What has no bits is not sent; the string is kept alive all the same.
TEST_F(Writer, AStringOfZerosDoesNotExpireWhileItIsWritten) {
  const Filter filter(of_blocks(120));
  auto writer = RedisFilterWriter::of_bits({address(), "s"}, filter.plan(), filter.hasher());
  const detail::Reply keys = server().ask({"KEYS", "{s}:new-*"});
  ASSERT_EQ(keys->elements, 1U);
  const std::string_view scratch(keys->element[0]->str, keys->element[0]->len);
  server().ask({"EXPIRE", scratch, "9"});
  writer.write(0, filter.bytes());
  EXPECT_GT(server().ask({"TTL", scratch})->integer, 500);
  server().ask({"DEL", scratch});
  error_of([&] { writer.write(0, filter.bytes()); }, ErrorCode::no_space);
}

// Keys that come slowly: what they are written to is kept for ten minutes, and that is renewed every minute.
TEST_F(Writer, RenewsWhatItsKeysAreWrittenTo) {
  MovedClock clock;
  for (const std::optional<std::uint32_t> shards : {std::optional<std::uint32_t>(), {3U}}) {
    server().ask({"FLUSHALL"});
    auto writer = RedisFilterWriter::of_keys({address(), "s", shards}, of_blocks(120), Hasher());
    const auto add = [&](std::uint64_t first, std::uint64_t count) {
      std::vector<Hash128> hashes;
      for (const std::uint64_t key : keys_from(first, count))
        hashes.push_back(writer.hasher()(key));
      writer.insert_hashes(hashes);
    };
    const auto scratch_keys = [] {
      const detail::Reply found = server().ask({"KEYS", "*:new-*"});
      std::vector<std::string> names;
      for (std::size_t i = 0; i < found->elements; ++i)
        names.emplace_back(found->element[i]->str, found->element[i]->len);
      return names;
    };
    const std::vector<std::string> names = scratch_keys();
    ASSERT_EQ(names.size(), shards.value_or(1));
    const auto expire = [&](std::chrono::seconds later) {
      for (const std::string& name : names) server().ask({"EXPIRE", name, "99"});
      clock.move(later);
    };
    const auto least_left = [&] {
      long long least = 1000;
      for (const std::string& name : names)
        least = std::min(least, server().ask({"TTL", name})->integer);
      return least;
    };
    expire(std::chrono::seconds(1));
    add(1, 1);
    EXPECT_LE(least_left(), 99) << "it was renewed less than a minute ago";
    expire(std::chrono::seconds(60));
    add(2, 1);
    EXPECT_GT(least_left(), 500);
    expire(std::chrono::seconds(60));
    add(3, 100);
    EXPECT_GT(least_left(), 500);
    expire(std::chrono::seconds(60));
    writer.keep_alive();
    EXPECT_GT(least_left(), 500);
    expire(std::chrono::seconds(1));
    add(1, 1);
    EXPECT_LE(least_left(), 99) << "it was renewed a second ago";
    // One that was dropped all the same is missed; a string that is only room for collected keys is made again.
    server().ask({"DEL", names.back()});
    clock.move(std::chrono::seconds(60));
    if (shards) {
      error_of([&] { writer.keep_alive(); }, ErrorCode::no_space);
      error_of([&] { add(103, 1); }, ErrorCode::no_space);
      error_of([&] { writer.publish(); }, ErrorCode::no_space);
    } else {
      writer.keep_alive();
      EXPECT_EQ(scratch_keys(), names);
      EXPECT_GT(least_left(), 500);
      writer.publish();
      EXPECT_EQ(RedisFilter::open({address(), "s"}).may_contain_many(keys_from(1, 102)), 102U);
    }
  }
}

TEST_F(Writer, AStringIsWrittenInPiecesToo) {
  const Filter filter = filled(of_blocks(120), 1);
  {
    auto writer = RedisFilterWriter::of_bits({address(), "s"}, filter.plan(), filter.hasher());
    for (std::size_t at = 0; at < filter.bytes().size(); at += 1'000)
      writer.write(
          at, filter.bytes().subspan(at, std::min<std::size_t>(1'000, filter.bytes().size() - at)));
    error_of([&] { writer.write(1, filter.bytes()); }, ErrorCode::invalid_argument);
    error_of([] { RedisFilter::open({address(), "s"}); }, ErrorCode::missing);
    writer.publish();
  }
  auto there = RedisFilter::open({address(), "s"});
  const Filter loaded = there.load();
  EXPECT_EQ(std::memcmp(loaded.bytes().data(), filter.bytes().data(), filter.bytes().size()), 0);
  std::array<std::byte, 100> some{};
  there.read(777, some);
  EXPECT_EQ(std::memcmp(some.data(), filter.bytes().data() + 777, some.size()), 0);
  error_of([&] { there.read(filter.bytes().size() - 99, some); }, ErrorCode::invalid_argument);
  const auto publish = [&](bool replace) {
    RedisFilterWriter::of_bits({address(), "s"}, filter.plan(), filter.hasher(), replace).publish();
  };
  error_of([&] { publish(false); }, ErrorCode::exists);
  publish(true);
  EXPECT_EQ(keys_there(), 1);
}

TEST_F(Writer, WhatMayNotBeReplacedIsRefusedBeforeThereAreKeys) {
  const auto begin = [&](const char* key, bool replace) {
    RedisFilterWriter::of_keys({address(), key}, of_blocks(120), Hasher(), replace);
  };
  RedisFilterWriter::of_keys({address(), "s"}, of_blocks(120), Hasher()).publish();
  RotatingRedisFilter::create({address(), "two"}, 100, 0.01);
  server().ask({"SET", "text", "text"});
  server().ask({"RPUSH", "list", "1"});
  error_of([&] { begin("s", false); }, ErrorCode::exists);
  error_of([&] { begin("two", true); }, ErrorCode::exists);
  error_of([&] { begin("text", true); }, ErrorCode::exists);
  error_of([&] { begin("list", true); }, ErrorCode::not_a_filter);
  EXPECT_EQ(keys_there(), 5);
}

// The write at the end makes a string that was evicted as long as before, but without its header and its other bits.
TEST_F(Writer, AStringThatWasEvictedMeanwhileReplacesNothing) {
  const Filter filter = filled(of_blocks(120), 1), old = filled(of_blocks(120), 10'000);
  {
    auto first = RedisFilterWriter::of_bits({address(), "s"}, old.plan(), old.hasher());
    first.write(0, old.bytes());
    first.publish();
  }
  {
    auto writer =
        RedisFilterWriter::of_bits({address(), "s"}, filter.plan(), filter.hasher(), true);
    const std::size_t half = filter.bytes().size() / 2;
    writer.write(0, filter.bytes().first(half));
    const detail::Reply keys = server().ask({"KEYS", "{s}:new-*"});
    ASSERT_EQ(keys->elements, 1U);
    server().ask({"DEL", {keys->element[0]->str, keys->element[0]->len}});
    writer.write(half, filter.bytes().subspan(half));
    error_of([&] { writer.publish(); }, ErrorCode::no_space);
  }
  EXPECT_EQ(RedisFilter::open({address(), "s"}).may_contain_many(keys_from(10'000, 2'000)), 2'000U);
  EXPECT_EQ(keys_there(), 1);
}

// A writer of keys for one string collects them here, and the bits of another filter with them.
TEST_F(Writer, CollectsKeysAndBits) {
  const auto keys = keys_from(1, 2'000), others = keys_from(50'000, 2'000);
  const Filter filter = filled(of_blocks(120), 50'000);
  auto writer = RedisFilterWriter::of_keys({address(), "s"}, filter.plan(), filter.hasher());
  EXPECT_EQ(writer.shards(), std::nullopt);
  for (const std::uint64_t key : keys) writer.insert_hashes(std::array{Hasher()(key)});
  constexpr std::size_t kFirst = 1'001;
  writer.write(0, filter.bytes().first(kFirst));
  writer.write(kFirst, filter.bytes().subspan(kFirst));
  error_of([&] { writer.write(1, filter.bytes()); }, ErrorCode::invalid_argument);
  writer.publish();
  auto there = RedisFilter::open({address(), "s"});
  EXPECT_EQ(there.may_contain_many(keys), keys.size());
  EXPECT_EQ(there.may_contain_many(others), others.size());
  EXPECT_EQ(
      RedisFilterWriter::of_keys({address(), "t", 3}, filter.plan(), filter.hasher()).shards(), 3U);
}

// Only what the server has dropped is made again.
TEST_F(Writer, CollectedKeysWaitForNoServerThatIsGone) {
  std::atomic<int> asked = 0;  // outlives the node, which is asked to the end
  Scripted node(server().path());
  MovedClock clock;
  auto writer = RedisFilterWriter::of_keys({{.port = node.port()}, "s"}, of_blocks(120), Hasher());
  clock.move(std::chrono::minutes(2));
  node.say([&](const Scripted::Words& words) {
    if (words[0] != "INFO") ++asked;  // the connection idled
    return std::optional<std::string>("-NOPERM no\r\n");
  });
  error_of([&] { writer.keep_alive(); }, ErrorCode::denied);
  EXPECT_EQ(asked, 1) << "the string was made again";
}

TEST_F(Writer, ManyShardsAreMadeInParts) {
  put(filled(of_blocks(120), 1), {.shards = 40});
  EXPECT_EQ(open().may_contain_many(keys_from(1, 2'000)), 2'000U);
  EXPECT_EQ(keys_there(), 40);
}

// Keys may come so slowly that the server drops the string that only holds room for them.
TEST_F(Writer, CollectedKeysOutliveTheirString) {
  const auto keys = keys_from(1, 2'000);
  {
    auto writer = RedisFilterWriter::of_keys({address(), "s"}, of_blocks(120), Hasher());
    for (const std::uint64_t key : keys) writer.insert_hashes(std::array{Hasher()(key)});
    const detail::Reply there = server().ask({"KEYS", "{s}:new-*"});
    ASSERT_EQ(there->elements, 1U);
    server().ask({"DEL", {there->element[0]->str, there->element[0]->len}});
    writer.publish();
  }
  EXPECT_EQ(RedisFilter::open({address(), "s"}).may_contain_many(keys), keys.size());
  EXPECT_EQ(keys_there(), 1);
}

// The server that answers next may be a replica that took over, and lack bits that the one before has acknowledged.
TEST_F(Writer, BitsAreNotPublishedAfterALostConnection) {
  Scripted node(server().path());
  Filter filter(of_blocks(120));
  filter.insert_many(keys_from(1, 2'000));
  auto writer =
      RedisFilterWriter::of_bits({{.port = node.port()}, "s"}, filter.plan(), filter.hasher());
  writer.write(0, filter.bytes());
  node.say([](const Scripted::Words& words) {
    return words[0] == "EVAL" ? std::optional<std::string>("") : std::nullopt;  // hangs up
  });
  error_of([&] { writer.publish(); }, ErrorCode::unavailable);
  node.say({});
  expect_error(ErrorCode::unavailable, {"run it again"}, [&] { writer.publish(); });
  EXPECT_EQ(server().ask({"EXISTS", "s"})->integer, 0);
}

// A writer that publishes again does not know that others use the filter already.
TEST_F(Writer, CollectedKeysDoNotReplaceTheirOwnFilter) {
  Scripted node(server().path());
  auto writer =
      RedisFilterWriter::of_keys({{.port = node.port()}, "s"}, of_blocks(120), Hasher(), true);
  writer.insert_hashes(std::array{Hasher()(std::uint64_t{1})});
  node.say([&](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] != "EVAL" || words[2] != "3") return std::nullopt;
    const detail::Reply reply = server().ask(
        {words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7], words[8]});
    EXPECT_EQ(reply->integer, 1);
    return "";  // hangs up
  });
  error_of([&] { writer.publish(); }, ErrorCode::unavailable);
  RedisFilter::open({address(), "s"}).insert(std::uint64_t{2});
  node.say({});
  writer.publish();
  RedisFilter filter = RedisFilter::open({address(), "s"});
  EXPECT_TRUE(filter.may_contain(std::uint64_t{1}));
  EXPECT_TRUE(filter.may_contain(std::uint64_t{2}));
  EXPECT_EQ(keys_there(), 1);
}

}  // namespace
}  // namespace bloomery::test
