// Two generations: found for one rotation, forgotten after two, and never "absent" by mistake.
#include <bloomery/redis_php_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "redis/proxy.hpp"
#include "redis/server.hpp"
#include "redis/strings/redis_header.hpp"
#include "support/random.hpp"

namespace bloomery {
namespace {

using test::error_of;
using test::keys_from;
using test::Server;

Server& rotating_server() {
  static Server one;
  return one;
}

RotatingRedisFilter made(const std::string& key,
                         const RedisAddress& address = rotating_server().address()) {
  return RotatingRedisFilter::create({address, key}, 10'000, 1e-6);
}

TEST(RotatingRedisFilter, ForgetsAfterTheSecondRotation) {
  auto filter = made("turns");
  auto other =
      RotatingRedisFilter::open({rotating_server().address(), "turns"});  // knows of no rotation
  EXPECT_EQ(filter.capacity(), 10'000U);
  EXPECT_DOUBLE_EQ(other.fpr(), 1e-6);
  const auto first = keys_from(1, 3'000), second = keys_from(100'000, 3'000);
  EXPECT_EQ(filter.insert_many(first), first.size());
  EXPECT_EQ(other.insert_many(first), 0U);
  const std::uint64_t generation = filter.generation();
  EXPECT_TRUE(filter.rotate());
  EXPECT_EQ(other.generation(), generation + 1);
  EXPECT_EQ(other.may_contain_many(first), first.size());
  EXPECT_EQ(other.insert_many(second), second.size());
  EXPECT_EQ(filter.may_contain_many(second), second.size());
  EXPECT_TRUE(other.rotate());
  EXPECT_EQ(filter.may_contain_many(second), second.size());
  EXPECT_EQ(filter.may_contain_many(first), 0U);
  EXPECT_EQ(other.may_contain_many(first), 0U);
  EXPECT_EQ(filter.insert_many(first), first.size()) << "what was forgotten is new";
}

TEST(RotatingRedisFilter, IsNotHealedByAnInsertWhereItsStringIsCut) {
  auto filter = made("healed");
  const auto keys = keys_from(1, 3'000), more = keys_from(100'000, 10'000);
  filter.insert_many(keys);
  const std::string cut = rotating_server().get("healed").substr(0, 201);
  rotating_server().ask({"SET", "healed", cut});
  error_of([&] { filter.insert_many(more); }, ErrorCode::corrupt);
  EXPECT_EQ(rotating_server().get("healed"), cut);
  error_of([&] { (void)filter.may_contain_many(keys); }, ErrorCode::corrupt);
}

TEST(RotatingRedisFilter, KeepsWhatComesAgain) {
  auto filter = made("again");
  EXPECT_TRUE(filter.insert("a key"));
  for (int i = 0; i < 5; ++i) {
    filter.rotate();
    EXPECT_FALSE(filter.insert("a key")) << "it is in the older one";
  }
  EXPECT_TRUE(filter.may_contain("a key"));
}

TEST(RotatingRedisFilter, AnswersKeyByKey) {
  auto filter = made("each");
  const auto older = keys_from(1, 1'000), newer = keys_from(50'000, 1'000);
  filter.insert_many(older);
  filter.rotate();
  filter.insert_many(newer);
  std::vector<std::uint64_t> mixed;
  for (std::size_t i = 0; i < 1'000; ++i) {
    mixed.push_back(older[i]);
    mixed.push_back(newer[i]);
    mixed.push_back(test::mix(900'000 + i));
  }
  const auto answers = std::make_unique<bool[]>(mixed.size());
  const std::span<bool> found(answers.get(), mixed.size());
  EXPECT_EQ(filter.may_contain_many(mixed, found), 2'000U);
  for (std::size_t i = 0; i < mixed.size(); ++i) EXPECT_EQ(found[i], i % 3 != 2) << i;
  EXPECT_EQ(filter.insert_many(mixed, found), 1'000U);
  for (std::size_t i = 0; i < mixed.size(); ++i) EXPECT_EQ(found[i], i % 3 == 2) << i;
}

// Rotations come at any moment. A key is found unless two of them were done since its insert.
TEST(RotatingRedisFilter, HasNoMomentOfAmnesia) {
  auto filter = made("moment");
  // About one rotation for three keys, however slow the machine: at any moment of what a key asks.
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> done = 0;
  std::thread rotator([&] {
    auto mine = RotatingRedisFilter::open({rotating_server().address(), "moment"});
    for (std::uint64_t next = 0; !stop; std::this_thread::yield()) {
      if (done < next) continue;
      mine.rotate();
      next = done + 3;
    }
  });
  auto counter = RotatingRedisFilter::open({rotating_server().address(), "moment"});
  int asked = 0, lost = 0;
  // More keys where the rotator hardly gets a turn.
  for (std::uint64_t i = 0; i < 2'000 || (i < 50'000 && counter.generation() <= 50); ++i) {
    done = i;
    const std::uint64_t key = test::mix(7'000'000 + i);
    const std::uint64_t before = counter.generation();
    EXPECT_TRUE(filter.insert(key)) << "a new key that no client was told is new";
    const bool found = filter.may_contain(key);
    if (counter.generation() >= before + 2) continue;
    ++asked;
    lost += found ? 0 : 1;
  }
  stop = true;
  rotator.join();
  EXPECT_EQ(lost, 0);
  EXPECT_GT(asked, 100);
  EXPECT_GT(filter.generation(), 50U) << "too few rotations to have met one";
}

TEST(RotatingRedisFilter, IsRotatedOnceByManyAtATime) {
  auto filter = made("once");
  const std::uint64_t from = filter.generation();
  std::atomic<int> done = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i)
    clients.emplace_back([&] {
      auto mine = RotatingRedisFilter::open({rotating_server().address(), "once"});
      done += mine.rotate(from) ? 1 : 0;
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(done.load(), 1);
  EXPECT_EQ(filter.generation(), from + 1);
}

TEST(RotatingRedisFilter, SaysWhetherARotationWasDoneWhereTheConnectionBreaks) {
  const test::Scratch scratch;
  test::Proxy proxy(scratch / "proxy", rotating_server().path());
  made("cut");
  int asked_again = 0;
  // Every request is cut after another number of bytes, and so is every reply.
  for (std::size_t at = 1; at < 900; at += at >= 130 && at < 170 ? 1 : 13)
    for (const bool request : {true, false}) {
      proxy.cut(test::Proxy::kNever, test::Proxy::kNever);
      const std::uint64_t before =
          RotatingRedisFilter::open({rotating_server().address(), "cut"}).generation();
      auto filter = RotatingRedisFilter::open({{.socket = scratch / "proxy"}, "cut"});
      // It connects anew for the first thing that is asked of it.
      proxy.cut(request ? at : test::Proxy::kNever, request ? test::Proxy::kNever : at);
      auto mine = RotatingRedisFilter::open({rotating_server().address(), "cut"});
      bool done = false, threw = false;
      try {
        done = filter.rotate(before);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::unavailable) << error.what();
        threw = true;
      }
      const std::uint64_t after = mine.generation();
      if (!threw) {
        EXPECT_EQ(after, before + (done ? 1 : 0));
      }
      EXPECT_LE(after, before + 1);
      asked_again += done && proxy.connections() > 1 ? 1 : 0;
    }
  EXPECT_GT(asked_again, 0);
}

TEST(RotatingRedisFilter, IsNeverAbsentWhereAGenerationIsGone) {
  auto filter = made("gone");
  filter.insert("a key");
  filter.rotate();
  const std::string older = older_redis_key("gone");
  EXPECT_EQ(older, "{gone}:older");
  EXPECT_EQ(older_redis_key("a{b}c"), "a{b}c:older");
  rotating_server().ask({"COPY", older, "saved"});
  rotating_server().ask({"DEL", older});
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::missing);
  error_of([&] { (void)filter.may_contain("another"); }, ErrorCode::missing);
  EXPECT_TRUE(filter.rotate()) << "what is lost was to be dropped";
  EXPECT_FALSE(filter.may_contain("a key"));
  // A generation of long ago in the place of the one before.
  filter.rotate();
  rotating_server().ask({"COPY", "saved", older, "REPLACE"});
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::mismatch);
  error_of([&] { filter.insert("a key"); }, ErrorCode::mismatch);
  filter.rotate();
  EXPECT_FALSE(filter.may_contain("a third"));

  rotating_server().ask({"DEL", "gone"});
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::missing);
  error_of([&] { filter.insert("a key"); }, ErrorCode::missing);
  EXPECT_EQ(rotating_server().ask({"EXISTS", "gone"})->integer, 0)
      << "the insert left something behind";
  error_of([&] { filter.rotate(); }, ErrorCode::missing);
  RotatingRedisFilter::create({rotating_server().address(), "gone"}, 10'000, 1e-6, Hasher(),
                              std::nullopt, true);
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::mismatch);
}

TEST(RotatingRedisFilter, IsNotTakenForAnother) {
  made("kind");
  error_of([] { made("kind"); }, ErrorCode::exists);
  error_of([] { RedisFilter::open({rotating_server().address(), "kind"}); }, ErrorCode::wrong_kind);
  error_of(
      [] {
        RedisFilter::open({rotating_server().address(), older_redis_key("kind")});
      },
      ErrorCode::wrong_kind);
  RedisFilter::create({rotating_server().address(), "plain"}, plan(100, 0.01));
  error_of(
      [] {
        RotatingRedisFilter::open({rotating_server().address(), "plain"});
      },
      ErrorCode::wrong_kind);
  error_of(
      [] {
        RotatingRedisFilter::create({rotating_server().address(), "plain"}, 100, 0.01, Hasher(),
                                    std::nullopt, true);
      },
      ErrorCode::exists);
  error_of(
      [] {
        RedisFilter::create({rotating_server().address(), "kind"}, plan(100, 0.01), Hasher(), true);
      },
      ErrorCode::exists);
  error_of(
      [] {
        RotatingRedisFilter::open({rotating_server().address(), "never"});
      },
      ErrorCode::missing);
}

TEST(RotatingRedisFilter, VerifiesThatBothAreOfOneFilter) {
  auto filter = made("sound");
  filter.verify();
  const std::string older = older_redis_key("sound");
  rotating_server().ask({"COPY", older, "aside"});
  filter.rotate();
  filter.verify();
  rotating_server().ask({"COPY", "sound", older, "REPLACE"});
  error_of([&] { filter.verify(); }, ErrorCode::mismatch);
  rotating_server().ask({"COPY", "aside", older, "REPLACE"});
  error_of([&] { filter.verify(); }, ErrorCode::mismatch);
  rotating_server().ask({"SETRANGE", older, "20", "x"});
  error_of([&] { filter.verify(); }, ErrorCode::corrupt);
  rotating_server().ask({"DEL", older});
  error_of([&] { filter.verify(); }, ErrorCode::missing);
}

TEST(RotatingRedisFilter, RotatesNoOther) {
  auto filter = made("other");
  rotating_server().ask({"DEL", "other", older_redis_key("other")});
  auto same_shape = made("other");
  same_shape.insert("a key");
  error_of([&] { (void)filter.generation(); }, ErrorCode::mismatch);
  error_of([&] { filter.rotate(2); }, ErrorCode::mismatch);
  EXPECT_EQ(same_shape.generation(), 2U);
  EXPECT_TRUE(same_shape.may_contain("a key"));
}

TEST(RotatingRedisFilter, StaysWhereItCannotBeReplaced) {
  auto filter = made("stays");
  filter.insert("a key");
  const auto replace = [](std::uint64_t capacity) {
    RotatingRedisFilter::create({rotating_server().address(), "stays"}, capacity, 1e-6, Hasher(),
                                std::nullopt, true);
  };
  // Strings that the server does not make.
  rotating_server().ask({"CONFIG", "SET", "proto-max-bulk-len", "1mb"});
  error_of([&] { replace(10'000'000); }, ErrorCode::io);
  rotating_server().ask({"CONFIG", "SET", "proto-max-bulk-len", "512mb"});
  EXPECT_TRUE(filter.may_contain("a key"));
  // Something else in the place of the older generation.
  const std::string older = older_redis_key("stays");
  rotating_server().ask({"RENAME", older, "aside"});
  rotating_server().ask({"SET", older, "a text"});
  error_of([&] { replace(10'000); }, ErrorCode::exists);
  EXPECT_EQ(rotating_server().get(older), "a text");
  rotating_server().ask({"RENAME", "aside", older});
  EXPECT_TRUE(filter.may_contain("a key"));
  replace(10'000);
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::mismatch);
  EXPECT_EQ(rotating_server().ask({"KEYS", "{stays}:*"})->elements, 1U)
      << "something was left behind";
}

TEST(RotatingRedisFilter, KeepsToItsFprWithBothGenerations) {
  if (test::hurried()) GTEST_SKIP() << "long only because it draws many samples";
  auto filter = RotatingRedisFilter::create({rotating_server().address(), "rate"}, 20'000, 0.02);
  filter.insert_many(keys_from(1, 20'000));
  filter.rotate();
  filter.insert_many(keys_from(1'000'000, 20'000));
  // Both are full. Of n = 300,000 absent keys 0.02 n = 6,000 are expected, with a standard deviation
  // of 77: 20 % more are 15 of them away, and 10 % more are past seven, once in 10^11 runs.
  const double found = static_cast<double>(filter.may_contain_many(keys_from(50'000'000, 300'000)));
  EXPECT_LT(found / 300'000, 0.02 * 1.1);
  EXPECT_GT(found / 300'000, 0.02 * 0.85);
  const auto fill = filter.stats();
  EXPECT_NEAR(fill.current_fpr, 0.02, 0.002);
  EXPECT_NEAR(fill.newer.estimated_items, 20'000, 400);
  EXPECT_NEAR(fill.older.estimated_items, 20'000, 400);
}

TEST(RotatingRedisFilter, MovesTheBucketOfAPhpClass) {
  EXPECT_FALSE(RedisPhpFilter::rotate({rotating_server().address(), "rptc"}));
  rotating_server().ask({"SETBIT", "rptc", "97", "1"});
  EXPECT_TRUE(RedisPhpFilter::rotate({rotating_server().address(), "rptc"}));
  EXPECT_EQ(rotating_server().ask({"EXISTS", "rptc"})->integer, 0);
  EXPECT_EQ(rotating_server().ask({"GETBIT", "{rptc}:older", "97"})->integer, 1);
  EXPECT_FALSE(RedisPhpFilter::rotate({rotating_server().address(), "rptc"}));
  EXPECT_EQ(rotating_server().ask({"GETBIT", "{rptc}:older", "97"})->integer, 1);
  rotating_server().ask({"SETBIT", "rptc", "98", "1"});
  EXPECT_TRUE(RedisPhpFilter::rotate({rotating_server().address(), "rptc"}));
  EXPECT_EQ(rotating_server().ask({"GETBIT", "{rptc}:older", "97"})->integer, 0);
  EXPECT_EQ(rotating_server().ask({"GETBIT", "{rptc}:older", "98"})->integer, 1);
  rotating_server().ask({"RPUSH", "list", "x"});
  error_of(
      [] {
        RedisPhpFilter::rotate({rotating_server().address(), "list"});
      },
      ErrorCode::not_a_filter);
  rotating_server().ask({"RENAME", "list", "{rptc}:older"});
  rotating_server().ask({"SETBIT", "rptc", "98", "1"});
  error_of(
      [] {
        RedisPhpFilter::rotate({rotating_server().address(), "rptc"});
      },
      ErrorCode::not_a_filter);
  EXPECT_EQ(rotating_server().ask({"LLEN", "{rptc}:older"})->integer, 1);
}

TEST(RedisHeader, KnowsGenerations) {
  const detail::RedisHeader header{
      .plan = plan(1'000, 0.01), .hasher = Hasher(), .identity = {1, 2, 3}, .generation = 0x102};
  const std::string whole = detail::encode_redis_header(header);
  EXPECT_EQ(whole.substr(8, 2), std::string("\3\0", 2));
  EXPECT_EQ(whole.substr(72, 8), std::string("\2\1\0\0\0\0\0\0", 8));
  EXPECT_EQ(detail::decode_redis_header(whole, "it").generation, 0x102U);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    EXPECT_THROW((void)detail::decode_redis_header(changed, "it"), Error) << i;
  }
}

}  // namespace
}  // namespace bloomery
