// How the handle opens filters on servers: over which connections, and beside others that open or make the same filter.
#include <bloomery/any_filter.hpp>

#include <atomic>
#include <barrier>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "handle/any_on_server.hpp"
#include "redis/shards/shard_maker.hpp"
#include "support/expect_error.hpp"

namespace bloomery::test {
namespace {

// A page of PHP opens a filter, asks it once, and ends.
TEST_F(AnyOnServer, IsUsedOverTheConnectionThatOpenedIt) {
  const auto connections = [] {
    const std::string info = server().get_info("stats");
    const std::string field = "total_connections_received:";
    return std::stoi(info.substr(info.find(field) + field.size()));
  };
  const AnyOptions rotating{.rotating = true};
  (void)AnyFilter::create(string_at("opened"), spec_);
  (void)AnyFilter::create(string_at("generations"), spec_, rotating);
  (void)AnyFilter::create(at("redis+cluster", "shards&shards=2"), spec_);
  // Each generation has one, and so has the question for the slots of a cluster.
  const std::pair<std::string, int> places[] = {
      {string_at("opened"), 1}, {string_at("generations"), 2}, {at("redis+cluster", "shards"), 2}};
  for (const auto& [place, wanted] : places) {
    const int before = connections();
    AnyFilter filter = AnyFilter::open(place, Access::write);
    filter.insert("key");
    EXPECT_TRUE(filter.may_contain("key"));
    EXPECT_EQ(connections() - before - 1, wanted) << place;
  }
}

// Workers that start at once; each makes the filter if there is none, and replaces none that came meanwhile.
TEST_F(AnyOnServer, WaitsForAnotherMakerOfShards) {
  std::vector<std::string> places = {"redis", "redis+cluster"};
#ifdef BLOOMERY_MODULE
  places.emplace_back("redis+module+cluster");
#endif
  for (const std::string& place : places) {
    server().ask({"FLUSHALL"});
    for (int round = 0; round < 10; ++round) {
      const std::string name =
          at(place, "w" + std::to_string(round) + (place == "redis" ? "" : "&shards=24"));
      std::barrier start(4);
      std::atomic<int> opened = 0, first = 0;
      std::vector<std::jthread> workers;
      for (int worker = 0; worker < 4; ++worker)
        workers.emplace_back([&] {
          start.arrive_and_wait();
          try {
            AnyFilter filter = AnyFilter::open_or_create(name, spec_, {.replace = true});
            ++opened;
            if (filter.insert("a")) ++first;
          } catch (const Error& error) {
            ADD_FAILURE() << error.what();
          }
        });
      workers.clear();
      EXPECT_EQ(opened, 4);
      EXPECT_EQ(first, 1);
    }
  }
  // One that died leaves its claim for a minute: nobody waits as long. In a second there are 9 looks or fewer.
  server().ask({"SET", "dead:{0}", detail::claim_of({'d', 'e', 'a', 'd'})});
  server().ask({"CONFIG", "RESETSTAT"});
  expect_error(ErrorCode::locked, {"maker died"}, [&] {
    (void)AnyFilter::open_or_create(at("redis+cluster", "dead&shards=2&timeout=1"), spec_);
  });
  const std::string stats = server().get_info("commandstats");
  constexpr std::string_view kLooks = "cmdstat_cluster|slots:calls=";
  ASSERT_NE(stats.find(kLooks), std::string::npos) << stats;
  EXPECT_LE(std::stoi(stats.substr(stats.find(kLooks) + kLooks.size())), 9);
}

}  // namespace
}  // namespace bloomery::test
