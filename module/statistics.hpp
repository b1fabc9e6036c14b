// What the module counts about itself: the `bloomery` section of INFO.
//
// Filters are made and freed also in background threads (lazy freeing, loading), so that what is
// counted of them is atomic; none orders anything else. What commands did only the main thread
// counts, with plain numbers: five atomic additions were a tenth of the time of a BF.ADD.
#pragma once

#include <atomic>
#include <cstdint>

#include "value.hpp"

namespace bloomery::server {

struct Context;

struct Statistics {
  std::atomic<std::uint64_t> filters{0};
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> items{0};
  std::atomic<std::uint64_t> full{0};  // filters that have taken all they were made for
  std::uint64_t adds_new = 0;
  std::uint64_t adds_seen = 0;
  std::uint64_t checks_hit = 0;
  std::uint64_t checks_miss = 0;
};
extern Statistics statistics;

// What a filter adds to the sums.
struct Share {
  std::uint64_t bytes;
  std::uint64_t items;
  bool full;
  explicit Share(const Value& value) noexcept;
};
void count_in(const Value& value) noexcept;
void count_out(const Value& value) noexcept;
void count_change(const Share& before, const Value& after) noexcept;
// The same for one new item that added no sub-filter.
void count_item(const Value& after) noexcept;

// Error: false. Registers the section.
[[nodiscard]] bool register_statistics(Context* context) noexcept;

}  // namespace bloomery::server
