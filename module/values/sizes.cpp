// Growth is computed sub-filter by sub-filter, and nothing is made.
#include "values/sizes.hpp"

#include <bloomery/plan.hpp>

#include <algorithm>

#include "base/counts.hpp"
#include "values/scalable.hpp"
#include "values/sub_filter.hpp"
#include "values/value.hpp"

namespace bloomery::server {

namespace {

// With the usual ratio of 0.5 the sub-filters come to the lowest rate before. With a ratio near 1 they need hundreds
// of thousands of plans, for which the server would stand still.
constexpr int kMostPlanned = 64;

}  // namespace

std::uint64_t bytes_of(const Header& header) noexcept {
  return object_bytes(header.kind) + (header.key ? sizeof(Seed) : 0) + header.bit_bytes() +
         (header.kind == Kind::scalable ? header.sub_filters.size() * sizeof(SubFilter) : 0);
}

std::uint64_t max_scaled_capacity(const Header& header, std::uint64_t limit) noexcept {
  std::uint64_t capacity = 0;
  for (const auto& sub_filter : header.sub_filters) capacity += sub_filter.entries;
  std::uint64_t bytes = bytes_of(header);
  auto newest = header.sub_filters.back();
  for (int planned = 0; header.grows(); ++planned) {
    if (planned == kMostPlanned) newest.error = std::min(newest.error, kMinFpr);
    const auto next =
        next_sub_filter(newest, header.family, header.options, header.growth, header.tightening);
    if (!next || bytes > limit || next->bytes > limit - bytes ||
        sizeof(SubFilter) > limit - bytes - next->bytes)
      break;
    const std::uint64_t taken = sizeof(SubFilter) + next->bytes;
    // All further sub-filters are alike, and there may be millions of them.
    const bool stays = next->entries == newest.entries && next->bytes == newest.bytes &&
                       next->error == newest.error;
    const std::uint64_t count = stays ? (limit - bytes) / taken : 1;
    bytes += count * taken;
    // Each item has more than a byte where sub-filters are alike, so the product is in range.
    capacity = detail::sum_of_counts(capacity, count * next->entries);
    newest = *next;
  }
  return capacity;
}

}  // namespace bloomery::server
