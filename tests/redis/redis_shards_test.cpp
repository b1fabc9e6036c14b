// What only a filter in shards has: a filter of its own in each shard, shards that are made one after the other, and a
// number of them. redis_filter_test.cpp has what holds for one string too.
#include <bloomery/filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redis/forms.hpp"
#include "redis/shards/shard_keys.hpp"
#include "redis/shards/shard_plan.hpp"
#include "redis/strings/redis_header.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

TEST(RedisShards, HasEveryShardsBitsInTheOtherLayouts) {
  for (const Layout layout : {Layout::blocked2, Layout::standard}) {
    const std::string name = "parts-" + std::string(to_string(layout));
    auto filter =
        RedisFilter::create({strings_server().address(), name, 7}, plan(5'000, 0.0001, layout));
    const Plan shard = detail::plan_of_shard(filter.plan(), 7);
    std::vector<Filter> references;
    for (int i = 0; i < 7; ++i) references.emplace_back(shard);
    const auto keys = keys_from(1, 5'000);
    filter.insert_many(keys);
    for (const std::uint64_t key : keys) {
      const auto place = detail::in_shard(Hasher()(key), 7);
      references[place.shard].insert_hashes({&place.hash, 1});
    }
    for (std::size_t i = 0; i < 7; ++i) {
      const std::string bits = strings_server().get(filter.keys()[i]).substr(128);
      ASSERT_EQ(bits.size(), shard.bytes() + 8);
      EXPECT_EQ(std::memcmp(bits.data(), references[i].bytes().data(), shard.bytes()), 0);
    }
    EXPECT_EQ(filter.may_contain_many(keys), keys.size());
  }
}

TEST(RedisShards, IsMadeOnceAndWhole) {
  const auto make = [](std::uint32_t shards) {
    return RedisFilter::create({strings_server().address(), "made", shards}, plan(10'000, 0.01));
  };
  const auto made = make(8);
  error_of([&] { make(3); }, ErrorCode::exists);
  for (const std::string& key : made.keys()) strings_server().ask({"DEL", key});

  // Something else at a shard's key: nothing is left behind, and that is as it was.
  strings_server().ask({"SET", made.keys()[5], "something"});
  expect_error(ErrorCode::exists, {made.keys()[5]}, [&] { make(8); });
  EXPECT_EQ(strings_server().get(made.keys()[5]), "something");
  strings_server().ask({"DEL", made.keys()[5]});
  for (const std::string& key : made.keys())
    EXPECT_EQ(strings_server().ask({"EXISTS", key})->integer, 0) << key;

  // A maker died: its claim holds for a minute, its empty shards are taken over, in any number.
  strings_server().ask({"SET", made.keys()[0],
                        "\x89"
                        "BLC\r\n\x1A\n12345678",
                        "PX", "60000"});
  error_of([&] { make(8); }, ErrorCode::locked);
  error_of([] { RedisFilter::open({strings_server().address(), "made", 0}); }, ErrorCode::locked);
  strings_server().ask({"DEL", made.keys()[0]});
  detail::RedisHeader header{
      .plan = made.plan(), .hasher = Hasher(), .identity = {1, 2, 3}, .shard = 3, .shards = 8};
  std::string left = detail::encode_redis_header(header);
  left.resize(header.string_bytes());
  // But none that is longer: who has it open would write behind the end.
  strings_server().ask({"SET", made.keys()[3], left + std::string(64, '\0')});
  expect_error(ErrorCode::exists, {"is longer than the new one"}, [&] { make(8); });
  EXPECT_EQ(strings_server().get(made.keys()[3]).size(), left.size() + 64);
  strings_server().ask({"SET", made.keys()[3], left});
  auto again = make(8);
  again.insert("a key");
  EXPECT_TRUE(RedisFilter::open({strings_server().address(), "made", 0}).may_contain("a key"));
  for (const std::string& key : again.keys()) {
    EXPECT_EQ(strings_server().get(key).size(), left.size());
    EXPECT_EQ(strings_server().ask({"PTTL", key})->integer, -1) << "it would expire";
  }
}

TEST(RedisShards, AShardWithBitsIsNotTakenOver) {
  auto filter = RedisFilter::create({strings_server().address(), "bits", 2}, plan(1'000, 0.01));
  filter.insert_many(keys_from(1, 100));
  strings_server().ask({"DEL", filter.keys()[0]});
  error_of([] { RedisFilter::open({strings_server().address(), "bits", 0}); }, ErrorCode::missing);
  const std::string other = strings_server().get(filter.keys()[1]);
  expect_error(ErrorCode::exists, {}, [] {
    RedisFilter::create({strings_server().address(), "bits", 2}, plan(1'000, 0.01));
  });
  EXPECT_EQ(strings_server().get(filter.keys()[1]), other);
  EXPECT_EQ(strings_server().ask({"EXISTS", filter.keys()[0]})->integer, 0);
}

TEST(RedisShards, TheKindsAreToldApart) {
  RedisFilter::create({strings_server().address(), "kinds:{0}"}, plan(100, 0.01));
  expect_error(ErrorCode::wrong_kind, {"RedisFilter"}, [] {
    RedisFilter::open({strings_server().address(), "kinds", 0});
  });
  const auto filter =
      RedisFilter::create({strings_server().address(), "sorts", 2}, plan(10'000, 0.01));
  expect_error(ErrorCode::wrong_kind, {"shard 1 of 2"}, [&] {
    RedisFilter::open({strings_server().address(), filter.keys()[1]});
  });
}

TEST(RedisShards, RefusesWhatNoStringsHold) {
  const auto make = [](std::uint32_t shards) {
    RedisFilter::create({strings_server().address(), "much", shards},
                        Plan{Layout::blocked, std::uint64_t{1} << 33, 7, 1'000'000'000, 0.01});
  };
  expect_error(ErrorCode::too_large, {"in 2 shards are more than Redis strings can hold"},
               [&] { make(2); });
  error_of([&] { make(1'025); }, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace bloomery::test
