// The sums, and the sections of INFO that show them.
#include "types/statistics.hpp"

#include "server/api.hpp"

namespace bloomery::server {

Statistics statistics;

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

// Modulo 2^64, so that a decrease is subtracted.
void add(std::atomic<std::uint64_t>& sum, std::uint64_t difference) noexcept {
  if (difference != 0) sum.fetch_add(difference, kRelaxed);
}

void show(InfoContext* info, int) {
  api.InfoAddSection(info, "");
  const auto field = [&](const char* name, std::uint64_t value) {
    api.InfoAddFieldULongLong(info, name, value);
  };
  field("count", statistics.filters.load(kRelaxed));
  field("bytes", statistics.bytes.load(kRelaxed));
  field("items", statistics.items.load(kRelaxed));
  field("full", statistics.full.load(kRelaxed));
  field("adds_new", statistics.adds_new);
  field("adds_seen", statistics.adds_seen);
  field("checks_hit", statistics.checks_hit);
  field("checks_miss", statistics.checks_miss);
  field("cuckoo_count", statistics.cuckoo_filters.load(kRelaxed));
  field("cuckoo_bytes", statistics.cuckoo_bytes.load(kRelaxed));
  field("cuckoo_items", statistics.cuckoo_items.load(kRelaxed));

  api.InfoAddSection(info, "bloom_core_metrics");
  field("bloom_total_memory_bytes", statistics.bytes.load(kRelaxed));
  field("bloom_num_objects", statistics.filters.load(kRelaxed));
  field("bloom_num_filters_across_objects", statistics.sub_filters.load(kRelaxed));
  field("bloom_num_items_across_objects", statistics.items.load(kRelaxed));
  field("bloom_capacity_across_objects", statistics.capacity.load(kRelaxed));
}

}  // namespace

void count_in(const Value& value) noexcept {
  add(statistics.filters, 1);
  count_change({.sub_filters = 0}, value.totals());
}

void count_out(const Value& value) noexcept {
  add(statistics.filters, ~std::uint64_t{0});
  count_change(value.totals(), {.sub_filters = 0});
}

void count_added(const Added& added) noexcept {
  add(statistics.items, added.counted);
  add(statistics.bytes, added.bytes);
  add(statistics.full, added.filled ? 1 : 0);
  add(statistics.sub_filters, added.sub_filters);
  add(statistics.capacity, added.capacity);
  statistics.adds_new += added.fresh;
  statistics.adds_seen += added.answered - added.fresh;
}

void count_change(const Totals& before, const Totals& after) noexcept {
  add(statistics.bytes, after.bytes - before.bytes);
  add(statistics.items, after.items - before.items);
  add(statistics.sub_filters, after.sub_filters - before.sub_filters);
  add(statistics.capacity, after.capacity - before.capacity);
  add(statistics.full, std::uint64_t{after.full} - std::uint64_t{before.full});
}

void count_cuckoo_filters(int more) noexcept {
  add(statistics.cuckoo_filters, static_cast<std::uint64_t>(more));
}

void count_cuckoo_change(const CuckooTotals& before, const CuckooTotals& after) noexcept {
  add(statistics.cuckoo_items, after.items - before.items);
  add(statistics.cuckoo_bytes, after.bytes - before.bytes);
}

bool register_statistics(Context* context) noexcept {
  return api.RegisterInfoFunc(context, show) == kOk;
}

}  // namespace bloomery::server
