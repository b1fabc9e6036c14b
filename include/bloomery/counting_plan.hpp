// The plan of a filter from which keys can be removed: the number of counters and their bits.
//
// A counting filter is a filter with a narrow layout (plan.hpp) that has a counter for each bit: blocked128
// and blocked2x128 count in 4 bits, blocked64 and blocked2x64 in 8. It answers what the plain filter of the
// same plan would answer, and takes four (eight) times its memory.
//
// A counter that reaches 15 (255) is saturated: it has lost count and never changes again, so that no
// key is lost.
//
// With one block of 64 bytes per key a low false-positive rate takes many blocks, so that a second cache
// miss per key pays. Bits per key with one block and with two (10 million keys):
//
//   counters   1e-2       1e-3       1e-4       1e-5       1e-6          1e-9            1e-12
//   4 bits     44 / 39    78 / 62    125 / 87   199 / 118  316 / 155     1,417 / 316     9,161 / 633
//   8 bits     99 / 81   199 / 133   378 / 197  717 / 282  1,415 / 398   16,172 / 1,041  555,299 / 2,829
//
// A plan uses two blocks below the power of ten at which one block needs over 1.4 times as much: below 1e-4
// with 4 bits, below 1e-3 with 8. If the request gives a rate and an odd number of hashes, which two blocks
// cannot have, it uses one block. An existing filter keeps its layout.
//
// A plan for a rate is refused above kMostCountingBitsPerKey and 32 KiB, because an exact set of the keys is smaller
// then. A request that gives the memory is not refused, and existing filters with more bits can be read.
//
// Source: Fan, Cao, Almeida and Broder, "Summary Cache" (2000).
#pragma once

#include <bloomery/plan.hpp>

#include <cstdint>

namespace bloomery {

constexpr std::uint32_t kDefaultCounterBits = 4;
// Plans stay below this limit for any number of keys: with counters of 4 bits at every rate, with counters of 8
// bits at rates down to 1e-10. A filter of at most 32 KiB may have more bits per key.
constexpr std::uint64_t kMostCountingBitsPerKey = 2048;
constexpr std::uint64_t kSmallCountingBits = std::uint64_t{1} << 18;

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
// PlanError: as solve(PlanRequest), and if the counters have neither 4 nor 8 bits.
[[nodiscard]] CountingPlan counting_plan(const PlanRequest& request,
                                         std::uint32_t counter_bits = kDefaultCounterBits);

// The bits per key that `capacity` keys need at a rate in a counting layout, even if counting_plan refuses so
// many. Infinity means more bits than the largest filter has. PlanError: as counting_plan, except for that
// refusal.
[[nodiscard]] double counting_bits_per_key(std::uint64_t capacity, double fpr, Layout layout);

[[nodiscard]] double predicted_fpr(const CountingPlan& plan, double items);

// The share of the counters that are saturated when `items` distinct keys are there, each of them
// inserted `times` times.
[[nodiscard]] double predicted_saturation(const CountingPlan& plan, double items,
                                          std::uint32_t times);

}  // namespace bloomery
