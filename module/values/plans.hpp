// The parameters of new filters.
//
// A plan takes up to 10 ms to work out, and filters with the same parameters are made in large
// numbers (one per user), so the latest plans are kept. Only the server's main thread plans.
#pragma once

#include <bloomery/plan.hpp>
#include <bloomery/window_plan.hpp>

#include <cstdint>
#include <optional>

#include "legacy/redisbloom.hpp"

namespace bloomery::server {

// Like bloomery::plan and bloomery::window_plan, with the same errors.
[[nodiscard]] Plan plan_once(std::uint64_t capacity, double fpr,
                             std::optional<Layout> layout = std::nullopt);
[[nodiscard]] WindowPlan window_plan_once(WindowUnit unit, std::uint64_t window,
                                          std::uint64_t capacity, double fpr, std::uint32_t slices);

// ---- plans as sub-filters -----------------------------------------------------------------------

// A sub-filter in the library's layouts has the fields of RedisBloom's, so that both are kept in
// one kind of table; the layout is in `exponent`. `bytes` is the size of its array: for counting
// layouts, of the counters.
[[nodiscard]] legacy::redisbloom::SubFilter sizes_of(const Plan& plan);
[[nodiscard]] Plan plan_of(const legacy::redisbloom::SubFilter& sizes);
// A new sub-filter; an `fpr` outside the library's range is replaced by the nearest one in it.
// Error{too_large, invalid_argument}.
[[nodiscard]] legacy::redisbloom::SubFilter plan_native(std::uint64_t capacity, double fpr);

}  // namespace bloomery::server
