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

// Among so many parts a layout divides the hashes of a key: 2 where it has two blocks, else 1.
[[nodiscard]] std::uint32_t key_blocks(Layout layout) noexcept;

// PlanError: as plan() for numbers that are out of their range.
void check_capacity(std::uint64_t capacity);
void check_fpr(double fpr);

}  // namespace bloomery::detail
