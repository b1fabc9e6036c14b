// What the handle says of a filter, in every place that has its bits, is what the filter of its kind counts.
#include <bloomery/bloomery.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>

#include "filter/statistics.hpp"
#include "store/scratch.hpp"

namespace bloomery::test {
namespace {

// The arrays of a filter are all of its bits or counters.
void check_arrays(const AnyFilter& filter, const FilterStats& stats) {
  std::uint64_t bytes = 0;
  for (const AnyFilter::Array& array : filter.arrays()) {
    bytes += array.bytes.size();
    EXPECT_EQ(array.counter_bits, stats.counters ? stats.counters->bits : 1);
  }
  EXPECT_EQ(bytes, stats.frozen ? 0 : stats.bytes);
  EXPECT_EQ(filter.arrays().size(), stats.kind == Kind::scalable ? stats.sub_filters.size()
                                    : stats.frozen               ? 0
                                                                 : 1);
}

// Fills the same filter in memory and in a file, and checks what they and their copies say.
void check_everywhere(const FilterSpec& spec, const std::function<void(AnyFilter&)>& filled,
                      const std::function<void(const FilterStats&)>& check) {
  const Scratch scratch;
  AnyFilter memory(plan(spec));
  AnyFilter file = AnyFilter::create(scratch / "f", spec);
  filled(memory);
  filled(file);
  file.close();
  AnyFilter reader = AnyFilter::open(scratch / "f"), decoded = AnyFilter::decode(memory.encode()),
            copy = memory.copy();
  for (AnyFilter* each : {&memory, &file, &reader, &decoded, &copy}) {
    const FilterStats stats = each->stats(Precision::exact);
    check(stats);
    check_arrays(*each, stats);
    const auto room = each->slice_room();
    EXPECT_EQ(room.has_value(), spec.window && spec.window->unit == WindowUnit::insertions);
    if (room) {
      EXPECT_EQ(room->length, stats.window->slice_length());
      EXPECT_EQ(room->left, room->length - *stats.inserted % room->length);
    }
    EXPECT_EQ(stats.identity, each->file() == nullptr ? "" : each->file()->identity());
    EXPECT_EQ(stats.identity.empty(), each->file() == nullptr);
  }
}

void expect_counted(const FilterStats& stats, const Stats& counted) {
  EXPECT_EQ(stats.fill, counted.fill);
  EXPECT_EQ(stats.estimated_items, counted.estimated_items);
  EXPECT_EQ(stats.current_fpr, counted.current_fpr);
  EXPECT_EQ(stats.over_capacity, counted.over_capacity);
  EXPECT_TRUE(stats.fill_known);
}

// Numbers that only filters of other kinds have.
void expect_nothing_foreign(const FilterStats& stats) {
  EXPECT_EQ(stats.counters.has_value(), stats.kind == Kind::counting);
  EXPECT_EQ(stats.growth.has_value(), stats.kind == Kind::scalable);
  EXPECT_EQ(stats.sub_filters.empty(), stats.kind != Kind::scalable);
  EXPECT_EQ(stats.window.has_value(), stats.kind == Kind::window);
  EXPECT_EQ(stats.live_slices == 0, stats.kind != Kind::window);
  EXPECT_EQ(stats.frozen.has_value(), stats.kind == Kind::frozen);
  EXPECT_FALSE(stats.delta || stats.shards || stats.generations || stats.module_arrays ||
               stats.scheme);
}

TEST(AnyStatistics, OfAPlainFilterAreItsOwn) {
  const FilterSpec spec{.capacity = 1'000, .fpr = 0.001};
  // Over its capacity.
  const auto keys = text_keys("key", 2'000);
  Filter same(plan(1'000, 0.001));
  const std::size_t inserted = same.insert_many(keys);
  check_everywhere(
      spec, [&](AnyFilter& filter) { filter.insert_many(keys); },
      [&](const FilterStats& stats) {
        EXPECT_EQ(stats.kind, Kind::plain);
        expect_counted(stats, same.stats(Precision::exact));
        expect_nothing_foreign(stats);
        EXPECT_TRUE(stats.over_capacity);
        EXPECT_EQ(stats.plan, same.plan());
        EXPECT_EQ(stats.bytes, same.bytes().size());
        EXPECT_EQ(stats.inserted, inserted);
      });
}

TEST(AnyStatistics, OfACountingFilterHaveItsCounters) {
  for (const std::uint32_t width : {4U, 8U}) {
    const FilterSpec spec{
        .kind = Kind::counting, .capacity = 1'000, .fpr = 0.01, .counter_bits = width};
    CountingFilter same(1'000, 0.01, width);
    const auto keys = text_keys("key", 500);
    // So often that counters saturate.
    const auto fill = [&](auto& filter) {
      for (std::uint32_t i = 0; i < 1U << width; ++i) filter.insert_many(keys);
    };
    fill(same);
    ASSERT_GT(same.saturated_counters(), 0U);
    check_everywhere(
        spec, [&](AnyFilter& filter) { fill(filter); },
        [&](const FilterStats& stats) {
          EXPECT_EQ(stats.kind, Kind::counting);
          expect_counted(stats, same.stats(Precision::exact));
          expect_nothing_foreign(stats);
          EXPECT_EQ(stats.plan, same.plan());
          EXPECT_EQ(stats.bytes, same.bytes().size());
          ASSERT_TRUE(stats.counters);
          EXPECT_EQ(stats.counters->bits, width);
          EXPECT_EQ(stats.counters->saturated, same.saturated_counters());
        });
  }
}

TEST(AnyStatistics, OfAScalableFilterHaveItsSubFilters) {
  const FilterSpec spec{.kind = Kind::scalable, .capacity = 100, .fpr = 0.01, .growth = 3};
  ScalableFilter same(100, 0.01, 3);
  const auto keys = text_keys("key", 1'000);
  same.insert_many(keys);
  ASSERT_EQ(same.sub_filters().size(), 3U);
  check_everywhere(
      spec, [&](AnyFilter& filter) { filter.insert_many(keys); },
      [&](const FilterStats& stats) {
        EXPECT_EQ(stats.kind, Kind::scalable);
        expect_counted(stats, same.stats(Precision::exact));
        expect_nothing_foreign(stats);
        const Plan& newest = same.sub_filters().back()->plan();
        EXPECT_EQ(stats.plan, (Plan{newest.layout, same.bits(), newest.hashes, 1'300, 0.01}));
        EXPECT_EQ(stats.capacity, 1'300U);
        EXPECT_EQ(stats.fpr, 0.01);
        EXPECT_EQ(stats.bytes, same.bits() / 8);
        EXPECT_EQ(stats.inserted, same.inserted());
        EXPECT_EQ(stats.growth, 3U);
        ASSERT_EQ(stats.sub_filters.size(), 3U);
        for (std::size_t i = 0; i < 3; ++i) {
          EXPECT_EQ(stats.sub_filters[i].plan, same.sub_filters()[i]->plan());
          EXPECT_EQ(stats.sub_filters[i].inserted, same.inserted(i));
          EXPECT_EQ(stats.sub_filters[i].current_fpr,
                    same.sub_filters()[i]->stats(Precision::exact).current_fpr);
        }
      });
}

TEST(AnyStatistics, OfAWindowFilterHaveItsSlices) {
  const FilterSpec spec{.kind = Kind::window,
                        .capacity = 1'000,
                        .fpr = 0.01,
                        .window = Window{WindowUnit::insertions, 8'000},
                        .slices = 8};
  WindowFilter same(window_plan(WindowUnit::insertions, 8'000, 1'000, 0.01, 8));
  const auto keys = text_keys("key", 2'500);
  same.insert_many(keys);
  ASSERT_EQ(same.live_slices(), 3U);
  check_everywhere(
      spec, [&](AnyFilter& filter) { filter.insert_many(keys); },
      [&](const FilterStats& stats) {
        EXPECT_EQ(stats.kind, Kind::window);
        expect_counted(stats, same.stats(Precision::exact));
        expect_nothing_foreign(stats);
        const Plan& slice = same.plan().slice;
        EXPECT_EQ(stats.plan,
                  (Plan{slice.layout, same.plan().bytes() * 8, slice.hashes, 1'000, 0.01}));
        EXPECT_EQ(stats.capacity, 1'000U);
        EXPECT_EQ(stats.fpr, 0.01);
        EXPECT_EQ(stats.bytes, same.plan().bytes());
        EXPECT_EQ(stats.inserted, 2'500U);
        EXPECT_EQ(stats.window, same.plan());
        EXPECT_EQ(stats.live_slices, 3U);
      });
}

// A key may be in the list or in the delta: the estimates add up, and either may be wrong.
TEST(AnyStatistics, OfAFrozenFilterAreOfItsListAndItsDelta) {
  const Scratch scratch;
  const FilterSpec spec{.kind = Kind::frozen, .fpr = 0.1, .delta = 2'000};
  const auto keys = text_keys("key", 5'000), later = text_keys("later", 3'000);
  AnyFilter memory(plan(spec)), file = AnyFilter::create(scratch / "f", spec);
  for (AnyFilter* each : {&memory, &file}) each->insert_many(keys);
  memory.sync();
  file.close();
  const FilterStats list = memory.stats(Precision::exact);
  expect_counted(list, [&] {
    Stats stats = list;
    stats.estimated_items = 5'000;
    stats.current_fpr = std::get<FrozenPlan>(*memory.plan()).fingerprint_fpr();
    stats.over_capacity = false;
    return stats;
  }());
  ASSERT_TRUE(list.delta);
  EXPECT_EQ(list.delta->inserted, 0U);
  EXPECT_EQ(list.delta->estimated_items, 0);
  EXPECT_EQ(list.delta->current_fpr, 0);

  AnyFilter writer = AnyFilter::open(scratch / "f", Access::write);
  const std::uint64_t fresh = memory.insert_many(later);
  EXPECT_EQ(writer.insert_many(later), fresh);
  writer.close();
  EXPECT_LT(fresh, later.size()) << "some are in the list by chance";
  AnyFilter reader = AnyFilter::open(scratch / "f"), decoded = AnyFilter::decode(memory.encode()),
            copy = memory.copy();
  for (AnyFilter* each : {&memory, &writer, &reader, &decoded, &copy}) {
    const FilterStats stats = each->stats(Precision::exact);
    EXPECT_FALSE(each->slice_room());
    ASSERT_TRUE(stats.delta);
    EXPECT_EQ(stats.delta->plan, std::get<FrozenPlan>(*each->plan()).delta);
    // The delta takes these too.
    EXPECT_GT(stats.delta->inserted, fresh);
    EXPECT_LE(stats.delta->inserted, later.size());
    EXPECT_EQ(stats.delta->inserted, memory.stats().delta->inserted);
    EXPECT_NEAR(stats.delta->estimated_items, static_cast<double>(stats.delta->inserted),
                0.05 * static_cast<double>(later.size()));
    EXPECT_GT(stats.delta->current_fpr, 0);
    EXPECT_DOUBLE_EQ(stats.estimated_items, 5'000 + stats.delta->estimated_items);
    EXPECT_DOUBLE_EQ(1 - stats.current_fpr,
                     (1 - list.current_fpr) * (1 - stats.delta->current_fpr));
    EXPECT_TRUE(stats.over_capacity);
    EXPECT_EQ(stats.inserted, 5'000 + stats.delta->inserted);
    EXPECT_EQ(stats.capacity, 7'000U);
    EXPECT_EQ(stats.fpr, 0.1);
  }
}

TEST(AnyStats, OfAFullArrayAreThoseOfAnyKey) {
  const Stats full = detail::stats_from(plan(1'000, 0.01), {.ones = 1});
  EXPECT_TRUE(std::isinf(full.estimated_items));
  EXPECT_EQ(full.current_fpr, 1);
  EXPECT_TRUE(full.over_capacity);
}

}  // namespace
}  // namespace bloomery::test
