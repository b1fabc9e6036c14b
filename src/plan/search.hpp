// The search for the smallest filter, for callers that continue if there is none.
#pragma once

#include <bloomery/plan.hpp>

#include <cstdint>
#include <optional>

namespace bloomery::detail {

// As plan(), for numbers that are in their range. Nothing: it would have more than max_bits(layout),
// which is no error for a scalable filter that computes how far it can grow.
std::optional<Plan> smallest_plan(Layout layout, std::uint64_t capacity, double fpr,
                                  std::optional<std::uint32_t> hashes = std::nullopt);

}  // namespace bloomery::detail
