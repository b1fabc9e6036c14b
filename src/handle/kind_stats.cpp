// The statistics of filters in this process, of every kind.
#include <bloomery/counting_view.hpp>

#include "handle/impl.hpp"

namespace bloomery::detail {

namespace {

Plan whole_plan(const ScalableFilter& filter) {
  const Plan& newest = filter.sub_filters().back()->plan();
  return {newest.layout, filter.bits(), newest.hashes, filter.capacity(), filter.plan().fpr};
}

Plan whole_plan(const WindowFilter& filter) {
  const WindowPlan& plan = filter.plan();
  return {plan.slice.layout, plan.bytes() * 8, plan.slice.hashes, plan.capacity, plan.fpr};
}

FilterStats counted_stats(Kind kind, const Plan& whole, const Stats& counted) {
  FilterStats stats;
  static_cast<Stats&>(stats) = counted;
  stats.kind = kind;
  stats.capacity = whole.capacity;
  stats.fpr = whole.fpr;
  stats.bytes = kind == Kind::counting ? CountingPlan{whole}.bytes() : whole.bytes();
  stats.plan = whole;
  return stats;
}

}  // namespace

FilterStats stats_of(const FilterView& filter, Precision precision) {
  return counted_stats(Kind::plain, filter.plan(), filter.stats(precision));
}
FilterStats stats_of(const CountingView& filter, Precision precision) {
  FilterStats stats = counted_stats(Kind::counting, filter.plan(), filter.stats(precision));
  stats.counters = {.bits = filter.counter_bits(),
                    .saturated = filter.saturated_counters(precision)};
  return stats;
}
FilterStats stats_of(const ScalableFilter& filter, Precision precision) {
  FilterStats stats = counted_stats(Kind::scalable, whole_plan(filter), filter.stats(precision));
  stats.growth = filter.plan().growth;
  for (std::size_t i = 0; i < filter.sub_filters().size(); ++i) {
    const FilterView& sub_filter = *filter.sub_filters()[i];
    stats.sub_filters.push_back(
        {sub_filter.plan(), filter.inserted(i), sub_filter.stats(precision).current_fpr});
  }
  return stats;
}
FilterStats stats_of(const WindowFilter& filter, Precision precision) {
  FilterStats stats = counted_stats(Kind::window, whole_plan(filter), filter.stats(precision));
  stats.window = filter.plan();
  stats.live_slices = filter.live_slices();
  return stats;
}
FilterStats stats_of(const FrozenFilter& filter, Precision precision) {
  FilterStats stats = counted_stats(Kind::frozen, filter.plan().array, filter.stats(precision));
  stats.frozen = filter.plan();
  return stats;
}
FilterStats stats_of(const Plan& plan, const Stats& counted) {
  return counted_stats(Kind::plain, plan, counted);
}

void add_delta(FilterStats& stats, const FrozenPlan& whole, const FilterView& delta,
               std::uint64_t inserted, Precision precision) {
  const Stats counted = delta.stats(precision);
  stats.delta = {delta.plan(), inserted - static_cast<std::uint64_t>(stats.estimated_items),
                 counted.estimated_items, counted.current_fpr};
  stats.frozen = whole;
  stats.fpr = whole.array.fpr;
  stats.bytes = whole.bytes();
  stats.capacity += delta.plan().capacity;
  stats.current_fpr += (1 - stats.current_fpr) * counted.current_fpr;
  stats.estimated_items += counted.estimated_items;
  stats.over_capacity = counted.over_capacity;
}

}  // namespace bloomery::detail
