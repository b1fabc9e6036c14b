// A rotation is done once and by all strings, or not: beside clients, other rotations and lost connections.
#include <bloomery/redis_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <set>
#include <thread>

#include "redis/proxy.hpp"
#include "redis/rotating_strings.hpp"
#include "redis/scripted.hpp"
#include "support/effort.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

// Rotations come at any moment. A key is found unless two of them were done since its insert.
TEST_P(RotatingStrings, HaveNoMomentOfAmnesia) {
  auto filter = made();
  // About one rotation for three keys, however slow the machine: at any moment of what a key asks.
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> done = 0;
  std::thread rotator([&] {
    auto mine = open();
    for (std::uint64_t next = 0; !stop; std::this_thread::yield()) {
      if (done < next) continue;
      mine.rotate();
      next = done + 3;
    }
  });
  auto counter = open();
  // The other shards rotate before the first: one rotation may have been under way at `before`.
  const std::uint64_t rotations = strings() > 1 ? 1 : 2;
  int asked = 0, lost = 0;
  // More keys where the rotator hardly gets a turn.
  for (std::uint64_t i = 0; i < 2'000 || (i < 50'000 && counter.generation() <= 50); ++i) {
    done = i;
    const std::uint64_t key = mix(7'000'000 + i);
    const std::uint64_t before = counter.generation();
    EXPECT_TRUE(filter.insert(key)) << "a new key that no client was told is new";
    const bool found = filter.may_contain(key);
    if (counter.generation() >= before + rotations) continue;
    ++asked;
    lost += found ? 0 : 1;
  }
  stop = true;
  rotator.join();
  EXPECT_EQ(lost, 0);
  EXPECT_GT(asked, 100);
  EXPECT_GT(filter.generation(), 50U) << "too few rotations to have met one";
}

TEST_P(RotatingStrings, AreRotatedOnceByManyAtATime) {
  auto filter = made();
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t from = filter.generation();
    const auto keys = keys_from(1'000 * static_cast<std::uint64_t>(round), 1'000);
    filter.insert_many(keys);
    std::atomic<int> done = 0;
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) clients.emplace_back([&] { done += open().rotate(from) ? 1 : 0; });
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(done.load(), 1);
    EXPECT_EQ(filter.generation(), from + 1);
    EXPECT_EQ(generations(), all_at(from + 1));
    EXPECT_EQ(filter.may_contain_many(keys), keys.size());
  }
}

TEST_P(RotatingStrings, SayWhetherARotationWasDoneWhereTheConnectionBreaks) {
  const Scratch scratch;
  Proxy proxy(scratch / "proxy", server().path());
  made();
  int asked_again = 0;
  std::size_t end = 0;  // of the last reply, which says that the rotation was done
  {
    auto filter =
        RotatingRedisFilter::open({{.socket = scratch / "proxy"}, "f", place_to_open().shards});
    const std::uint64_t from = filter.generation();
    const std::size_t begin = proxy.replies_passed();
    ASSERT_TRUE(filter.rotate(from));
    end = proxy.replies_passed() - begin;
  }
  // Every request is cut after another number of bytes, and so is every reply.
  for (std::size_t at = 1; at < 900; at += at + 20 >= end && at < end + 20 ? 1 : 13)
    for (const bool request : {true, false}) {
      proxy.cut(Proxy::kNever, Proxy::kNever);
      const std::uint64_t before = open().generation();
      auto filter =
          RotatingRedisFilter::open({{.socket = scratch / "proxy"}, "f", place_to_open().shards});
      proxy.cut(request ? at : Proxy::kNever, request ? Proxy::kNever : at);
      auto mine = open();
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
      asked_again += done && proxy.connections() > 0 ? 1 : 0;
    }
  EXPECT_GT(asked_again, 0);
}

// That it is not in the generation any more has other reasons than another client's rotation.
TEST_P(RotatingStrings, AreNotSaidToBeRotatedByAnotherWhereTheyWentMeanwhile) {
  made();
  const std::string whole = server().get(keys()[0]);
  Scripted proxy(server().path());
  auto filter = RotatingRedisFilter::open({{.port = proxy.port()}, "f", place_to_open().shards});
  const auto before_the_script = [&](const std::function<void()>& act) {
    proxy.say([=](const Scripted::Words& words) {
      if (words.size() > 3 && words[0] == "EVAL" && words[3] == keys()[0]) act();
      return std::optional<std::string>();
    });
  };
  before_the_script([] { server().ask({"DEL", keys()[0]}); });
  error_of([&] { filter.rotate(2); }, ErrorCode::missing);
  server().ask({"SET", keys()[0], whole});
  RotatingRedisFilter::create(place("g"), 10'000, 1e-6);
  before_the_script([] { server().ask({"COPY", keys("g")[0], keys()[0], "REPLACE"}); });
  error_of([&] { filter.rotate(2); }, ErrorCode::mismatch);
}

// A connection that ends while the other shards rotate says so: no answer was lost, and the server may have lost keys.
TEST_P(RotatingStrings, AreNotSaidToBeRotatedWhereAnotherDidItAndAConnectionEnded) {
  if (strings() == 1) GTEST_SKIP() << "there are no other shards";
  made();
  Scripted proxy(server().path());
  auto filter = RotatingRedisFilter::open({{.port = proxy.port()}, "f", place_to_open().shards});
  proxy.say([](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] != "EVAL" || words[3] != keys().back()) return std::nullopt;
    EXPECT_TRUE(open().rotate(2));
    return ":0\r\n+and what nobody asks for\r\n";
  });
  error_of([&] { filter.rotate(2); }, ErrorCode::unavailable);
  EXPECT_EQ(open().generation(), 3U);
}

TEST_P(RotatingStrings, AreNotRotatedWhereAStringIsCutMeanwhile) {
  made();
  Scripted proxy(server().path());
  auto filter = RotatingRedisFilter::open({{.port = proxy.port()}, "f", place_to_open().shards});
  proxy.say([](const Scripted::Words& words) -> std::optional<std::string> {
    if (words[0] == "EVAL" && words[3] == keys().back())
      server().ask({"SET", words[3], server().get(words[3]).substr(0, 200)});
    return std::nullopt;
  });
  error_of([&] { filter.rotate(2); }, ErrorCode::corrupt);
  EXPECT_EQ(server().ask({"STRLEN", keys().back()})->integer, 200) << "it was rotated";
}

TEST_P(RotatingStrings, RotateNoOther) {
  auto filter = made();
  server().ask({"FLUSHALL"});
  auto same_plan = made();
  same_plan.insert("a key");
  error_of([&] { (void)filter.generation(); }, ErrorCode::mismatch);
  error_of([&] { filter.rotate(2); }, ErrorCode::mismatch);
  error_of([&] { (void)filter.may_contain("a key"); }, ErrorCode::mismatch);
  error_of([&] { filter.insert("a key"); }, ErrorCode::mismatch);
  EXPECT_EQ(same_plan.generation(), 2U);
  EXPECT_TRUE(same_plan.may_contain("a key"));
}

// A client that dies while it rotates leaves shards of two generations. Everything works, nothing of the
// last generation is lost, and the next rotation does the shards that are left.
TEST_P(RotatingStrings, AreCompletedByTheNextRotation) {
  const Scratch scratch;
  Proxy proxy(scratch / "proxy", server().path());
  auto mine = made();
  std::set<bool> mixed;
  std::uint64_t round = 0;
  for (std::size_t at = 20; at < 8'000; at += nightly() ? 170 : 390) {
    proxy.cut(Proxy::kNever, Proxy::kNever);
    const std::uint64_t before = mine.generation();
    const auto items = keys_from(1'000 * ++round, 300);
    mine.insert_many(items);
    auto dies = RotatingRedisFilter::open({{.socket = scratch / "proxy"}, "f", GetParam()});
    proxy.cut(at, Proxy::kNever);
    bool threw = false;
    try {
      (void)dies.rotate(before);
    } catch (const Error& error) {
      threw = true;
    }
    const auto now = generations();
    const bool differ = now != std::vector(now.size(), now[0]);
    mixed.insert(differ);
    if (differ) {
      EXPECT_TRUE(threw);
      EXPECT_EQ(now[0], before) << "the first shard rotates last";
      mine.verify();
      const auto more = keys_from(1'000 * round + 500, 300);
      EXPECT_EQ(mine.may_contain_many(items), items.size());
      EXPECT_EQ(mine.insert_many(more), more.size());
      EXPECT_TRUE(mine.rotate());
      EXPECT_EQ(generations(), all_at(before + 1));
      EXPECT_EQ(mine.may_contain_many(more), more.size());
    }
    EXPECT_EQ(mine.may_contain_many(items), items.size());
  }
  EXPECT_EQ(mixed.size(), strings() > 1 ? 2U : 1U) << "no rotation stopped half way";
}

// A failover may lose the rotation of one shard: its node has the strings of before.
TEST_P(RotatingStrings, AreRotatedWhereAFailoverHasLostARotation) {
  if (strings() == 1) GTEST_SKIP() << "there are no other shards";
  auto filter = made();
  const std::string newer = keys().back(), older = older_redis_key(newer);
  const auto first = keys_from(1, 1'000), second = keys_from(100'000, 1'000);
  filter.insert_many(first);
  const std::string newer_before = server().get(newer), older_before = server().get(older);
  filter.rotate();
  filter.rotate();
  server().ask({"SET", newer, newer_before});
  server().ask({"SET", older, older_before});
  filter.insert_many(second);
  EXPECT_FALSE(filter.rotate(3));
  EXPECT_EQ(server().get(newer).substr(64, 16), newer_before.substr(64, 16));
  EXPECT_TRUE(filter.rotate(4));
  EXPECT_FALSE(open().rotate(4));
  EXPECT_EQ(generations(), all_at(5));
  filter.verify();
  EXPECT_EQ(filter.may_contain_many(second), second.size());
  EXPECT_TRUE(filter.rotate());
  EXPECT_EQ(filter.may_contain_many(second) + filter.may_contain_many(first), 0U);
}

}  // namespace
}  // namespace bloomery::test
