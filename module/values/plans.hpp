// Plans as sub-filters.
#pragma once

#include <bloomery/plan.hpp>

#include <cstdint>

#include "legacy/redisbloom.hpp"

namespace bloomery::server {

// A sub-filter in the library's layouts has the fields of RedisBloom's, so that both are kept in
// one kind of table; the layout is in `exponent`. `bytes` is the size of its array: for counting
// layouts, of the counters.
[[nodiscard]] legacy::redisbloom::SubFilter sizes_of(const Plan& plan);
[[nodiscard]] Plan plan_of(const legacy::redisbloom::SubFilter& sizes);
// A new sub-filter; an `fpr` outside the library's range is replaced by the nearest one in it.
// Error{too_large, invalid_argument}.
[[nodiscard]] legacy::redisbloom::SubFilter plan_native(std::uint64_t capacity, double fpr);

}  // namespace bloomery::server
