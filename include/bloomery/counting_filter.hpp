// A counting Bloom filter in memory: keys can be removed, and it gives an upper bound of how often each
// key is there.
//
//   bloomery::CountingFilter open(1'000'000, 0.01);  // items, false-positive rate: 5.5 MB
//   open.insert(session);
//   open.remove(session);                            // takes back one insert
//
// Costs: it takes a little more than four times the memory of a plain filter, or eight times with
// counters of 8 bits (docs/configuration.md has the numbers). A key still takes one cache miss.
// Promises, operations, and the rule about removals: counting_view.hpp.
#pragma once

#include <bloomery/counting_view.hpp>
#include <bloomery/detail/owning.hpp>

#include <cstdint>

namespace bloomery {

class CountingFilter : public detail::Owning<CountingFilter, CountingView> {
 public:
  // `capacity` is the number of distinct keys that are there at once. Choose counters of 4 bits if a
  // key is there once or twice at a time, and of 8 bits if it may be there up to 50 times
  // (docs/configuration.md).
  // Error{invalid_argument | too_large | no_memory}; nothing is allocated before the numbers
  // are checked.
  CountingFilter(std::uint64_t capacity, double fpr, std::uint32_t counter_bits = 4)
      : CountingFilter(bloomery::plan(capacity, fpr, counting_layout(counter_bits, fpr))) {}
  // The plan must have a layout of narrow blocks; otherwise Error{invalid_argument}.
  explicit CountingFilter(const Plan& plan, const Hasher& hasher = Hasher())
      : Owning(plan, hasher) {}

  // A filter that was moved from has no counters: every look-up answers "maybe", inserts answer false
  // and removals true, and nothing changes, until another filter is assigned to it. Its plan has 0
  // bits, so copy(), to_plain() and merge() with a real filter are errors. All such filters share one
  // saturated block, so several threads may only look up in them.

  // copy() copies the filter. mutable_bytes() gives the counters for writing: counting_bytes(plan()) bytes.
  using Owning::copy;
  using Owning::mutable_bytes;
};

}  // namespace bloomery
