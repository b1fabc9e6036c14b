// The counts, and the section of INFO that shows them.
#include "statistics.hpp"

#include "api.hpp"

namespace bloomery::server {

Statistics statistics;

namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

void add(std::atomic<std::uint64_t>& sum, std::uint64_t value) noexcept {
  sum.fetch_add(value, kRelaxed);
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
}

}  // namespace

Share::Share(const Value& value) noexcept
    : bytes(value.footprint()), items(value.size()), full(value.full()) {}

void count_in(const Value& value) noexcept {
  const Share share(value);
  add(statistics.filters, 1);
  add(statistics.bytes, share.bytes);
  add(statistics.items, share.items);
  add(statistics.full, share.full);
}

void count_out(const Value& value) noexcept {
  const Share share(value);
  statistics.filters.fetch_sub(1, kRelaxed);
  statistics.bytes.fetch_sub(share.bytes, kRelaxed);
  statistics.items.fetch_sub(share.items, kRelaxed);
  statistics.full.fetch_sub(share.full, kRelaxed);
}

void count_change(const Share& before, const Value& after) noexcept {
  // Differences modulo 2^64 add up to the right sums.
  const Share now(after);
  add(statistics.bytes, now.bytes - before.bytes);
  add(statistics.items, now.items - before.items);
  add(statistics.full, std::uint64_t{now.full} - std::uint64_t{before.full});
}

void count_item(const Value& after) noexcept {
  add(statistics.items, 1);
  if (after.full()) add(statistics.full, 1);
}

bool register_statistics(Context* context) noexcept {
  return api.RegisterInfoFunc(context, show) == kOk;
}

}  // namespace bloomery::server
