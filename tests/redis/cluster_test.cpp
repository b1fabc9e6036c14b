// A filter in shards over a real cluster: slots move while it is used, nodes die, and no key is
// denied.
#include <bloomery/filter.hpp>
#include <bloomery/redis_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "redis/nodes.hpp"
#include "redis/shards/shard_maker.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

Nodes& nodes() { return three_nodes(); }

Plan plan_of_blocks() {
  Plan made = plan(10'000, 0.001);
  made.bits = 360 * kBlockBits;
  return made;
}

TEST(Cluster, AFilterIsSpreadOverAllNodesAndOpenedFromAny) {
  auto filter = RedisFilter::create({nodes().address(), "spread", 0}, plan(50'000, 0.01));
  EXPECT_EQ(filter.nodes(), 3U);
  ASSERT_EQ(filter.keys().size(), 12U);
  std::array<int, 3> held{};
  for (const std::string& key : filter.keys()) ++held[nodes().holder(key)];
  EXPECT_EQ(held, (std::array<int, 3>{4, 4, 4}));
  const auto keys = keys_from(1, 50'000);
  EXPECT_GT(filter.insert_many(keys), 49'000U);
  EXPECT_EQ(filter.acknowledged(), keys.size());
  for (std::size_t i = 0; i < 3; ++i) {
    auto other = RedisFilter::open({nodes().address(i), "spread", 0});
    EXPECT_EQ(other.may_contain_many(keys), keys.size());
    EXPECT_LT(other.may_contain_many(keys_from(1'000'000, 20'000)), 300U);
    EXPECT_NEAR(other.stats().estimated_items, 50'000, 1'500);
  }
  // A unix socket leads to the others too.
  EXPECT_EQ(RedisFilter::open({nodes()[1].address(), "spread", 0}).may_contain_many(keys),
            keys.size());
}

TEST(Cluster, SlotsMoveUnderLoadWithoutAFalseNegative) {
  auto filter = RedisFilter::create({nodes().address(), "moves", 6}, plan(100'000, 0.001));
  std::vector<std::uint64_t> all;
  std::uint64_t next = 1'000'000;
  // New keys are inserted by one client and looked up by it and by another that has not heard of
  // any move; every key there ever was is looked up too.
  auto other = RedisFilter::open({nodes().address(2), "moves", 0});
  const auto load = [&](const char* when) {
    const auto fresh = keys_from(next, 500);
    next += 500;
    ASSERT_GT(filter.insert_many(fresh), 480U) << when;
    all.insert(all.end(), fresh.begin(), fresh.end());
    const auto answers = std::make_unique<bool[]>(all.size());
    const std::span<bool> found(answers.get(), all.size());
    ASSERT_EQ(filter.may_contain_many(all, found), all.size()) << when;
    ASSERT_EQ(other.may_contain_many(all, found), all.size()) << when;
    ASSERT_TRUE(std::all_of(found.begin(), found.end(), [](bool each) { return each; })) << when;
    ASSERT_LT(other.may_contain_many(keys_from(500'000'000 + next, 500)), 20U) << when;
  };
  load("before");
  for (std::size_t i = 0; i < (nightly() ? 6U : 3U); ++i) {
    const std::string key = filter.keys()[i];
    const Nodes::Move move = nodes().begin_move(key);
    load("the slot is about to move");
    while (nodes().move_key(move)) load("keys of the slot are at both ends");
    EXPECT_EQ(nodes().holder(key), move.to);
    load("the key has moved, its slot not yet");
    nodes().end_move(move);
    load("the slot has moved");
  }
}

TEST(Cluster, AMovingShardThatIsGoneIsNotAbsent) {
  auto filter = RedisFilter::create({nodes().address(), "lost", 3}, plan(1'000, 0.01));
  const auto keys = keys_from(77, 300);
  filter.insert_many(keys);
  const std::string key = filter.keys()[1];
  const Nodes::Move move = nodes().begin_move(key);
  nodes()[move.from].ask({"DEL", key});
  // The node that had it asks the other, which has never had it.
  error_of([&] { (void)filter.may_contain_many(keys); }, ErrorCode::missing);
  error_of([&] { filter.insert_many(keys); }, ErrorCode::missing);
  error_of([&] { RedisFilter::open({nodes().address(), "lost", 0}); }, ErrorCode::missing);
  while (nodes().move_key(move)) continue;  // those of other filters
  nodes().end_move(move);
  error_of([&] { (void)filter.may_contain_many(keys); }, ErrorCode::missing);
  EXPECT_EQ(nodes()[move.to].ask({"EXISTS", key})->integer, 0) << "an insert left something behind";
}

TEST(Cluster, ShardsAreReplacedOnAllNodesOrOnNone) {
  // A server runs no script over keys if only some of them have moved to it yet.
  const auto put = [](std::uint64_t first) {
    Filter filter(plan_of_blocks());
    filter.insert_many(keys_from(first, 3'000));
    auto writer = RedisFilterWriter::of_bits({nodes().address(), "put", 6}, filter.plan(),
                                             filter.hasher(), true);
    writer.write(0, filter.bytes());
    writer.publish();
  };
  const auto has = [](std::uint64_t first) {
    auto filter = RedisFilter::open({nodes().address(1), "put", 0});
    return filter.may_contain_many(keys_from(first, 3'000)) == 3'000;
  };
  put(1);
  EXPECT_TRUE(has(1));
  const std::string key = RedisFilter::open({nodes().address(), "put", 0}).keys()[1];
  const Nodes::Move move = nodes().begin_move(key);
  error_of([&] { put(50'000); }, ErrorCode::unavailable);
  EXPECT_TRUE(has(1));
  while (nodes().move_key(move)) continue;
  nodes().end_move(move);
  EXPECT_TRUE(has(1));
  put(50'000);
  EXPECT_TRUE(has(50'000));
}

// The others have put their shards in place by then, and the node of shard 0 refuses what would undo it.
TEST(Cluster, ARightThatOnlyTheNodeOfShard0DeniesLeavesTheFilterThatIsThere) {
  const auto keys = keys_from(1, 3'000);
  auto there = RedisFilter::create({nodes().address(), "denied", 6}, plan_of_blocks());
  there.insert_many(keys);
  const std::size_t first = nodes().holder(there.keys()[0]);
  for (const char* right : {"-unlink", "-rename", "-persist", "-pexpire", "-expire", "-strlen"}) {
    SCOPED_TRACE(right);
    for (std::size_t i = 0; i < nodes().size(); ++i) {
      nodes()[i].ask({"ACL", "SETUSER", "bob", "reset", "on", ">word", "~*", "+@all"});
      if (i == first) nodes()[i].ask({"ACL", "SETUSER", "bob", right});
    }
    RedisAddress bob = nodes().address();
    bob.user = "bob";
    bob.password = "word";
    expect_error(ErrorCode::denied, {}, [&] {
      RedisFilterWriter::of_keys({bob, "denied", 0}, plan_of_blocks(), Hasher(), true).publish();
    });
    EXPECT_EQ(there.may_contain_many(keys), keys.size());
    EXPECT_NO_THROW(RedisFilter::open({nodes().address(1), "denied", 0}));
    nodes()[first].ask({"UNLINK", detail::claim_beside(there.keys()[0])});  // it would expire
  }
}

TEST(Cluster, ANodeThatDiesIsAnErrorAndItsKeysAreKnown) {
  Nodes own(3);
  RedisAddress address = own.address();
  address.timeout = std::chrono::milliseconds(1'000);
  auto filter = RedisFilter::create({address, "filter", 6}, plan(100'000, 0.001));
  const auto before = keys_from(1, 5'000);
  filter.insert_many(before);

  own[1].signal(SIGSTOP);
  const auto more = keys_from(100'000, 20'000);
  expect_error(ErrorCode::unavailable, {"no answer within 1000 ms"},
               [&] { filter.insert_many(more); });
  const std::size_t done = filter.acknowledged();
  EXPECT_LT(done, more.size());
  own[1].signal(SIGCONT);
  // What was acknowledged is there, and the same call again does the rest.
  auto other = RedisFilter::open({own.address(2), "filter", 0});
  EXPECT_EQ(other.may_contain_many(std::span(more).first(done)), done);
  filter.insert_many(more);
  EXPECT_EQ(filter.acknowledged(), more.size());
  EXPECT_EQ(other.may_contain_many(more), more.size());

  own.set_timeout(1'000);
  own[1].stop();
  error_of([&] { (void)filter.may_contain_many(before); }, ErrorCode::unavailable);
  error_of([&] { filter.insert_many(more); }, ErrorCode::unavailable);
  // The keys of other nodes are answered while the cluster has not noticed, or serves them still.
  Nodes::until([&] {
    try {
      (void)filter.may_contain_many(before);
    } catch (const Error& error) {
      return std::string_view(error.what()).find("CLUSTERDOWN") != std::string_view::npos;
    }
    return false;
  });
}

}  // namespace
}  // namespace bloomery::test
