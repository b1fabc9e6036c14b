// The plan of a filter from which keys can be removed: the number of counters and their bits.
//
// A counting filter is a filter with a narrow layout (plan.hpp) that has a counter for each bit:
// blocked128 counts in 4 bits, blocked64 in 8. It answers what the plain filter of the same plan
// would answer, and takes four (eight) times its memory.
//
// A counter that reaches 15 (255) is saturated: it has lost count and never changes again, so that no
// key is lost.
//
// Source: Fan, Cao, Almeida and Broder, "Summary Cache" (2000).
#pragma once

#include <bloomery/plan.hpp>

#include <cstdint>

namespace bloomery {

constexpr std::uint32_t kDefaultCounterBits = 4;

// Invariant of a valid plan: `plan` is a valid plan whose layout counts; its bits are counters.
struct CountingPlan {
  Plan plan;

  [[nodiscard]] std::uint64_t counters() const noexcept { return plan.bits; }
  [[nodiscard]] std::uint64_t bytes() const noexcept {
    return plan.bytes() * counter_bits(plan.layout);
  }
  friend bool operator==(const CountingPlan&, const CountingPlan&) = default;
};

// `request.bits` is the memory in bits, all counters together; `request.layout` must be empty.
// PlanError: as solve(PlanRequest); the counters have neither 4 nor 8 bits.
[[nodiscard]] CountingPlan counting_plan(const PlanRequest& request,
                                         std::uint32_t counter_bits = kDefaultCounterBits);

[[nodiscard]] double predicted_fpr(const CountingPlan& plan, double items);

// The share of the counters that are saturated when `items` distinct keys are there, each of them
// inserted `times` times.
[[nodiscard]] double predicted_saturation(const CountingPlan& plan, double items,
                                          std::uint32_t times);

}  // namespace bloomery
