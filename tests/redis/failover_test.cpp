// A master dies for good and its replica takes over: filters in shards go on, and deny no key that
// the replica had.
#include <bloomery/redis_filter.hpp>
#ifdef BLOOMERY_MODULE
#include <bloomery/module_filter.hpp>
#endif

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "redis/nodes.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

constexpr std::size_t kBatch = 500;

// Writes a key on the node behind all that was written before: its replica has that too then.
void wait_for_replica(const Nodes& nodes, std::size_t node) {
  detail::Connection connection(nodes.address(node));
  bool written = false;
  for (int i = 0; i < 1'000 && !written; ++i) {
    try {
      connection.ask({"SET", "probe:" + std::to_string(i), "x"});
      written = true;
    } catch (const Error& error) {  // another node's slot
      ASSERT_NE(std::string_view(error.what()).find("MOVED"), std::string_view::npos)
          << error.what();
    }
  }
  ASSERT_TRUE(written);
  ASSERT_EQ(connection.ask({"WAIT", "1", "10000"})->integer, 1);
}

// A filter, and how it fared; keys are texts, for the module has no others.
template <class Filter>
struct Used {
  Filter filter;
  std::vector<std::string> kept;  // acknowledged, by masters that live or to replicas too
  int refused = 0;

  std::vector<std::string_view> views(std::size_t count) const {
    return {kept.begin(), kept.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  // What is wrong while nobody has the slots of the dead node: the node, or the cluster, is named.
  void expect_clear(const Error& error) {
    ++refused;
    EXPECT_EQ(error.code(), ErrorCode::unavailable) << error.what();
    EXPECT_NE(std::string_view(error.what()).find("redis 127.0.0.1:"), std::string_view::npos)
        << error.what();
  }
  // True: all that was asked was answered.
  bool look_up() {
    try {
      EXPECT_EQ(filter.may_contain_many(views(kept.size())), kept.size());
      return true;
    } catch (const Error& error) {
      expect_clear(error);
      return false;
    }
  }
  bool insert() {
    std::vector<std::string> fresh;
    for (std::size_t i = 0; i < kBatch; ++i) fresh.push_back(std::to_string(mix(kept.size() + i)));
    const std::vector<std::string_view> keys(fresh.begin(), fresh.end());
    bool whole = true;
    try {
      filter.insert_many(keys);
    } catch (const Error& error) {
      expect_clear(error);
      whole = false;
    }
    fresh.resize(filter.acknowledged());
    kept.insert(kept.end(), fresh.begin(), fresh.end());
    return whole;
  }
};

template <class... Filters>
void go_on_after_deaths(Nodes& nodes, std::size_t deaths, Used<Filters>&... used) {
  for (std::size_t dead = 0; dead < deaths; ++dead) {
    for (int i = 0; i < 10; ++i) ASSERT_TRUE((used.insert() && ...));
    wait_for_replica(nodes, dead);
    nodes[dead].stop();
    ((used.refused = 0), ...);
    Nodes::until([&] {
      int failed = 0;
      ((failed += used.look_up() ? 0 : 1), ...);
      ((failed += used.insert() ? 0 : 1), ...);
      return failed == 0;
    });
    EXPECT_TRUE(((used.refused > 0) && ...)) << "the node was not missed";
    EXPECT_TRUE((used.look_up() && ...));
  }
}

// The first to die is the one whose address the filters were given.
TEST(Failover, AReplicaGoesOnWithItsShards) {
  std::vector<std::string> options{"--repl-diskless-sync-delay", "0"};
#ifdef BLOOMERY_MODULE
  options.insert(options.end(), {"--loadmodule", module_file()});
#endif
  Nodes nodes(3, options);
  nodes.add_replicas();
  nodes.set_timeout(500);
  Used<RedisFilter> strings{
      RedisFilter::create({nodes.address(), "strings", 0}, plan(100'000, 0.001)), {}};
  const std::size_t deaths = nightly() ? 2 : 1;
#ifdef BLOOMERY_MODULE
  Used<ModuleFilter> items{
      ModuleFilter::create({nodes.address(), "items", 0}, {.capacity = 100'000, .fpr = 0.001}), {}};
  go_on_after_deaths(nodes, deaths, strings, items);
#else
  go_on_after_deaths(nodes, deaths, strings);
#endif
}

}  // namespace
}  // namespace bloomery::test
