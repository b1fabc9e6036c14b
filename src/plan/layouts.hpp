// The planner's facts about each layout: one row of a table, and the rate that follows from it.
#pragma once

#include <bloomery/plan.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace bloomery::detail {

// The number of blocks among which a layout divides the hashes of a key: 2 for two blocks, otherwise 1.
[[nodiscard]] std::uint32_t key_blocks(Layout layout) noexcept;
// The layout that solve() takes if the request has none: blocked, blocked2 or standard.
[[nodiscard]] Layout default_layout(double fpr) noexcept;
// Whether fewer hashes would be better at this load.
[[nodiscard]] bool too_many_hashes(Layout layout, std::uint64_t bits, std::uint32_t hashes,
                                   double items);

// "2^40 bits (128 GiB)", or the counters of a counting filter of that size.
[[nodiscard]] std::string limit_of(Layout layout);

// PlanError: the number is out of its range.
void check_layout(Layout layout);
void check_hashes(Layout layout, std::uint32_t hashes);
void check_capacity(std::uint64_t capacity);
void check_fpr(double fpr);

// As plan(), for numbers that are in their range. nullopt: the plan would have more than
// max_bits(layout) bits. This is no error for a scalable filter, which computes how far it can grow.
std::optional<Plan> smallest_plan(Layout layout, std::uint64_t capacity, double fpr,
                                  std::optional<std::uint32_t> hashes = std::nullopt);

}  // namespace bloomery::detail
