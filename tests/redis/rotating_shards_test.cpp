// Two generations of a filter in shards: each shard rotates at once, and a rotation that stops half way
// loses nothing.
#include <bloomery/redis_filter.hpp>
#include <bloomery/rotating_redis_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <thread>

#include "redis/proxy.hpp"
#include "redis/server.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_plan.hpp"
#include "redis/strings/redis_header.hpp"
#include "support/random.hpp"

namespace bloomery {
namespace {

using test::error_of;
using test::keys_from;
using test::Server;

Server& shard_server() {
  static Server one;
  return one;
}

RedisPlace shards_at(const std::string& name, std::uint32_t shards = 3) {
  return {shard_server().address(), name, shards};
}

RotatingRedisFilter made_in_shards(const std::string& name, std::uint32_t shards = 3,
                                   std::optional<Layout> layout = std::nullopt) {
  return RotatingRedisFilter::create(shards_at(name, shards), 10'000, 1e-6, Hasher(), layout);
}

std::vector<std::uint64_t> generations_of(const std::string& name, std::uint32_t shards) {
  std::vector<std::uint64_t> generations;
  for (const std::string& key : detail::shard_keys(name, shards))
    generations.push_back(detail::decode_redis_header(shard_server().get(key), key).generation);
  return generations;
}

TEST(RotatingShards, ForgetAfterTheSecondRotation) {
  const auto first = keys_from(1, 3'000), second = keys_from(100'000, 3'000);
  for (const std::uint32_t shards : {1U, 3U, 8U})
    for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard}) {
      const std::string name =
          "turns" + std::to_string(shards) + "-" + std::to_string(static_cast<int>(layout));
      SCOPED_TRACE(name);
      auto filter = made_in_shards(name, shards, layout);
      auto other = RotatingRedisFilter::open(shards_at(name, 0));  // knows neither their number
      EXPECT_EQ(other.shards(), shards);
      EXPECT_EQ(other.capacity(), 10'000U);
      EXPECT_NEAR(other.fpr(), 1e-6, 1e-8);
      EXPECT_EQ(filter.insert_many(first), first.size());
      EXPECT_EQ(other.insert_many(first), 0U);
      const std::uint64_t generation = filter.generation();
      EXPECT_TRUE(filter.rotate());
      EXPECT_FALSE(other.rotate(generation)) << "it has been done";
      EXPECT_EQ(generations_of(name, shards), std::vector(shards, generation + 1));
      other.verify();
      EXPECT_EQ(other.may_contain_many(first), first.size());
      EXPECT_EQ(other.insert_many(second), second.size());
      EXPECT_EQ(filter.may_contain_many(second), second.size());
      const auto both = filter.stats();
      EXPECT_NEAR(both.newer.estimated_items, 3'000, 100);
      EXPECT_NEAR(both.older.estimated_items, 3'000, 100);
      EXPECT_TRUE(other.rotate());
      EXPECT_EQ(filter.may_contain_many(second), second.size());
      EXPECT_EQ(filter.may_contain_many(first), 0U);
      EXPECT_EQ(filter.insert_many(first), first.size()) << "what was forgotten is new";
    }
}

// The rate of both generations together, each full, in shards whose loads differ.
TEST(RotatingShards, KeepTheStatedRate) {
  auto filter = RotatingRedisFilter::create(shards_at("rate", 5), 20'000, 0.02);
  filter.insert_many(keys_from(1, 20'000));
  filter.rotate();
  filter.insert_many(keys_from(1'000'000, 20'000));
  // As for one string: 6,000 of 300,000 are expected; 10 % more are past seven standard deviations of 77.
  const double found = static_cast<double>(filter.may_contain_many(keys_from(50'000'000, 300'000)));
  EXPECT_LT(found / 300'000, 0.02 * 1.1);
  EXPECT_GT(found / 300'000, 0.02 * 0.85);
}

// Rotations come at any moment. A key is found unless two of them were done since its insert.
TEST(RotatingShards, HaveNoMomentOfAmnesia) {
  auto filter = made_in_shards("moment");
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> done = 0;
  std::thread rotator([&] {
    auto mine = RotatingRedisFilter::open(shards_at("moment"));
    for (std::uint64_t next = 0; !stop; std::this_thread::yield()) {
      if (done < next) continue;
      mine.rotate();
      next = done + 3;
    }
  });
  auto counter = RotatingRedisFilter::open(shards_at("moment"));
  int asked = 0, lost = 0;
  for (std::uint64_t i = 0; i < 1'000 || (i < 50'000 && counter.generation() <= 50); ++i) {
    done = i;
    const std::uint64_t key = test::mix(7'000'000 + i);
    const std::uint64_t before = counter.generation();
    EXPECT_TRUE(filter.insert(key));
    const bool found = filter.may_contain(key);
    // The other shards rotate before the first: one rotation may have been under way at `before`.
    if (counter.generation() >= before + 1) continue;
    ++asked;
    lost += found ? 0 : 1;
  }
  stop = true;
  rotator.join();
  EXPECT_EQ(lost, 0);
  EXPECT_GT(asked, 100);
  EXPECT_GT(filter.generation(), 50U) << "too few rotations to have met one";
}

TEST(RotatingShards, AreRotatedOnceByManyAtATime) {
  auto filter = made_in_shards("once", 8);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t from = filter.generation();
    const auto keys = keys_from(1'000 * static_cast<std::uint64_t>(round), 1'000);
    filter.insert_many(keys);
    std::atomic<int> done = 0;
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i)
      clients.emplace_back(
          [&] { done += RotatingRedisFilter::open(shards_at("once", 8)).rotate(from) ? 1 : 0; });
    for (std::thread& client : clients) client.join();
    EXPECT_EQ(done.load(), 1);
    EXPECT_EQ(generations_of("once", 8), std::vector<std::uint64_t>(8, from + 1));
    EXPECT_EQ(filter.may_contain_many(keys), keys.size());
  }
}

// A client that dies while it rotates leaves shards of two generations. Everything works, nothing of the
// last generation is lost, and the next rotation does the shards that are left.
TEST(RotatingShards, AreMendedByTheNextRotation) {
  const test::Scratch scratch;
  test::Proxy proxy(scratch / "proxy", shard_server().path());
  auto mine = made_in_shards("half");
  std::set<bool> mixed;
  std::uint64_t key = 0;
  for (std::size_t at = 20; at < 8'000; at += 170) {
    proxy.cut(test::Proxy::kNever, test::Proxy::kNever);
    const std::uint64_t before = mine.generation();
    const auto keys = keys_from(1'000 * ++key, 300);
    mine.insert_many(keys);
    auto dies = RotatingRedisFilter::open({{.socket = scratch / "proxy"}, "half", 3});
    proxy.cut(at, test::Proxy::kNever);
    bool threw = false;
    try {
      (void)dies.rotate(before);
    } catch (const Error& error) {
      threw = true;
    }
    const auto now = generations_of("half", 3);
    const bool differ = std::ranges::count(now, now[0]) != 3;
    mixed.insert(differ);
    if (differ) {
      EXPECT_TRUE(threw);
      EXPECT_EQ(now[0], before) << "the first shard rotates last";
      mine.verify();
      const auto more = keys_from(1'000 * key + 500, 300);
      EXPECT_EQ(mine.may_contain_many(keys), keys.size());
      EXPECT_EQ(mine.insert_many(more), more.size());
      EXPECT_TRUE(mine.rotate());
      EXPECT_EQ(generations_of("half", 3), std::vector<std::uint64_t>(3, before + 1));
      EXPECT_EQ(mine.may_contain_many(more), more.size());
    }
    EXPECT_EQ(mine.may_contain_many(keys), keys.size());
  }
  EXPECT_EQ(mixed.size(), 2U) << "no rotation stopped half way";
}

TEST(RotatingShards, AreNeverAbsentWhereAStringIsGone) {
  for (const bool older : {true, false}) {
    const std::string name = older ? "gone" : "gone too";
    const auto keys = keys_from(1, 3'000), absent = keys_from(900'000, 3'000);
    auto filter = made_in_shards(name);
    filter.insert_many(keys);
    const std::string shard = detail::shard_keys(name, 3)[1];
    const std::string lost = older ? older_redis_key(shard) : shard;
    const std::string whole = shard_server().get(lost);
    shard_server().ask({"SET", lost, whole.substr(0, 300)});
    error_of([&] { (void)filter.may_contain_many(absent); }, ErrorCode::corrupt);
    error_of([&] { filter.verify(); }, ErrorCode::corrupt);
    shard_server().ask({"DEL", lost});
    error_of([&] { (void)filter.may_contain_many(absent); }, ErrorCode::missing);
    error_of([&] { filter.verify(); }, ErrorCode::missing);
    if (!older) {
      error_of([&] { filter.insert_many(absent); }, ErrorCode::missing);
      EXPECT_EQ(shard_server().ask({"EXISTS", lost})->integer, 0);
    }
    // The string of another shard, and of another filter.
    for (const std::string& other : {detail::shard_keys(name, 3)[2], std::string("other")}) {
      if (other == "other") {
        shard_server().ask({"UNLINK", "other"});
        made_in_shards("o" + name);
        shard_server().ask({"COPY", detail::shard_keys("o" + name, 3)[1], other});
      }
      shard_server().ask({"COPY", other, lost, "REPLACE"});
      error_of([&] { (void)filter.may_contain_many(absent); }, ErrorCode::mismatch);
    }
    shard_server().ask({"SET", lost, whole});
    EXPECT_EQ(filter.may_contain_many(keys), keys.size());
    // The loss of an older string is repaired by a rotation.
    if (!older) continue;
    shard_server().ask({"DEL", lost});
    EXPECT_TRUE(filter.rotate());
    filter.verify();
    EXPECT_EQ(filter.may_contain_many(keys), keys.size());
  }
}

TEST(RotatingShards, AreOpenedAsWhatTheyAre) {
  made_in_shards("kind");
  error_of([] { RedisFilter::open(shards_at("kind")); }, ErrorCode::wrong_kind);
  error_of(
      [] {
        RotatingRedisFilter::open({shard_server().address(), "kind:{0}"});
      },
      ErrorCode::wrong_kind);
  error_of([] { RotatingRedisFilter::open(shards_at("kind", 4)); }, ErrorCode::mismatch);
  error_of([] { RotatingRedisFilter::open(shards_at("none")); }, ErrorCode::missing);
  error_of([] { made_in_shards("kind"); }, ErrorCode::exists);
  error_of(
      [] { RotatingRedisFilter::create(shards_at("kind"), 10, 0.1, Hasher(), std::nullopt, true); },
      ErrorCode::wrong_kind);
  error_of([] { RedisFilterWriter::of_keys(shards_at("kind"), plan(10, 0.1), Hasher(), true); },
           ErrorCode::exists);
  RedisFilter::create(shards_at("plain"), plan(1'000, 0.01));
  error_of([] { RotatingRedisFilter::open(shards_at("plain")); }, ErrorCode::wrong_kind);
  const auto keys = keys_from(1, 100);
  EXPECT_EQ(RotatingRedisFilter::open(shards_at("kind")).insert_many(keys), keys.size());
}

TEST(RotatingShards, HaveAHeaderOfTheirOwn) {
  const detail::RedisHeader header{.plan = detail::plan_for_shards(plan(1'000, 0.01), 3),
                                   .hasher = Hasher(),
                                   .identity = {1, 2, 3},
                                   .shard = 2,
                                   .shards = 3,
                                   .generation = 0x102};
  const std::string whole = detail::encode_redis_header(header);
  EXPECT_EQ(whole.substr(8, 2), std::string("\4\0", 2));
  EXPECT_EQ(whole.substr(72, 8), std::string("\2\1\0\0\0\0\0\0", 8));
  EXPECT_EQ(whole.substr(80, 8), std::string("\1\2\3\0\0\0\0\0", 8));
  const detail::RedisHeader read = detail::decode_redis_header(whole, "it");
  EXPECT_EQ(read.generation, 0x102U);
  EXPECT_EQ(read.shard, 2U);
  EXPECT_EQ(read.identity, header.identity);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x41);
    EXPECT_THROW((void)detail::decode_redis_header(changed, "it"), Error) << i;
  }
}

}  // namespace
}  // namespace bloomery
