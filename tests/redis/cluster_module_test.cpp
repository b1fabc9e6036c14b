// One logical filter over module filters of a real cluster, while its slots move.
#include <bloomery/module_filter.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "redis/module_server.hpp"
#include "redis/nodes.hpp"
#include "support/random.hpp"

namespace bloomery::test {
namespace {

TEST(ClusterModule, AFilterIsSpreadAndSlotsMoveUnderLoad) {
  auto filter = ModuleFilter::create({three_nodes().address(), "module", 0},
                                     {.capacity = 30'000, .fpr = 0.001});
  ASSERT_EQ(filter.keys().size(), 12U);
  std::array<int, 3> held{};
  for (const std::string& key : filter.keys()) ++held[three_nodes().holder(key)];
  // Four each, but for the few slots that other tests have moved.
  EXPECT_GE(*std::min_element(held.begin(), held.end()), 2);

  auto other = ModuleFilter::open({three_nodes().address(2), "module", 0});
  const NumberedKeys all("key:", 20'000);
  std::size_t inserted = 0;
  const auto load = [&](const char* when) {
    const auto fresh = std::span(all.views).subspan(inserted, 400);
    ASSERT_GT(filter.insert_many(fresh), 390U) << when;
    inserted += fresh.size();
    const auto present = std::span(all.views).first(inserted);
    ASSERT_EQ(filter.may_contain_many(present), inserted) << when;
    ASSERT_EQ(other.may_contain_many(present), inserted) << when;
    ASSERT_LT(other.may_contain_many(std::span(all.views).subspan(inserted)), 40U) << when;
  };
  load("before");
  for (std::size_t i = 0; i < (nightly() ? 6U : 2U); ++i) {
    const auto move = three_nodes().begin_move(filter.keys()[i]);
    load("the slot is about to move");
    // The record and shard 0 are two keys of one slot.
    while (three_nodes().move_key(move)) load("keys of the slot are at both ends");
    EXPECT_EQ(ModuleFilter::open({three_nodes().address(1), "module", 0}).info().items,
              filter.info().items);
    three_nodes().end_move(move);
    load("the slot has moved");
  }
  // A shard that is gone while its slot moves.
  const std::string key = filter.keys()[7];
  const auto move = three_nodes().begin_move(key);
  three_nodes()[move.from].ask({"DEL", key});
  const auto present = std::span(all.views).first(inserted);
  error_of([&] { (void)filter.may_contain_many(present); }, ErrorCode::missing);
  error_of([&] { filter.insert_many(present); }, ErrorCode::missing);
  error_of([&] { (void)filter.may_contain_many(present); }, ErrorCode::missing);
  while (three_nodes().move_key(move)) continue;  // those of other filters
  three_nodes().end_move(move);
}

}  // namespace
}  // namespace bloomery::test
