// The statistics of the module, and the sections of INFO that show them: ours, and one with
// valkey-bloom's names.
//
// The server also makes and frees filters in background threads (loading, lazy freeing), so the
// sums over filters are atomic; they order nothing else. The counts of commands are plain numbers,
// since only the main thread runs commands: five atomic additions took a tenth of the time of a
// BF.ADD.
#pragma once

#include <atomic>
#include <cstdint>

#include "values/value.hpp"

namespace bloomery::server {

struct Context;

struct Statistics {
  std::atomic<std::uint64_t> filters{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> items{0};
  std::atomic<std::uint64_t> full{0};
  std::atomic<std::uint64_t> sub_filters{0};
  std::atomic<std::uint64_t> capacity{0};
  // Of cuckoo filters.
  std::atomic<std::uint64_t> cuckoo_filters{0};
  std::atomic<std::uint64_t> cuckoo_bytes{0};
  std::atomic<std::uint64_t> cuckoo_items{0};
  std::uint64_t adds_new = 0;
  std::uint64_t adds_seen = 0;
  std::uint64_t checks_hit = 0;
  std::uint64_t checks_miss = 0;
};
extern Statistics statistics;

// Counts a filter that is made or freed, that has taken items, or that has changed otherwise.
void count_in(const Value& value) noexcept;
void count_out(const Value& value) noexcept;
void count_added(const Added& added) noexcept;
void count_change(const Totals& before, const Totals& after) noexcept;

// The same for cuckoo filters: the change of their number, and the change in one of them.
struct CuckooTotals {
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
};
void count_cuckoo_filters(int more) noexcept;
void count_cuckoo_change(const CuckooTotals& before, const CuckooTotals& after) noexcept;

// False: the server refuses the section.
[[nodiscard]] bool register_statistics(Context* context) noexcept;

}  // namespace bloomery::server
