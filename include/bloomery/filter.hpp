// A plain Bloom filter in memory: insert-only, sized once, with a stated error rate.
//
//   bloomery::Filter seen(100'000'000, 0.001);   // items, rate: 194 MB
//   if (seen.insert(url)) fetch(url);            // true: certainly new
//
// Promises: never a false negative; up to capacity() keys, absent keys are answered
// "maybe" at the stated rate; the bits depend on keys, plan and seed alone.
// Does not: count or delete (counting_filter.hpp does), list its keys, or grow
// (scalable_filter.hpp does). Past its capacity the rate rises; over_capacity() and current_fpr() say so.
#pragma once

#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/filter_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery {

class Filter : private detail::BitMemory, public FilterView {
 public:
  // Error{invalid_argument | too_large | no_memory}; nothing is allocated before the
  // numbers are checked.
  Filter(std::uint64_t capacity, double fpr) : Filter(bloomery::plan(capacity, fpr)) {}
  explicit Filter(const Plan& plan, const Hasher& hasher = Hasher());

  // A filter that was moved from has no bits and knows nothing: every look-up answers "maybe",
  // every insert false, until another is assigned to it. Its plan has 0 bits, so that copy(),
  // encode() and merge() with a real filter are errors. All of them share one full block, so
  // look-ups in them are safe beside each other, and inserts are not.
  Filter(Filter&& other) noexcept;
  Filter& operator=(Filter&& other) noexcept;

  [[nodiscard]] Filter copy() const;

  using FilterView::bytes;
  [[nodiscard]] std::span<std::byte> mutable_bytes() noexcept { return BitMemory::bytes(); }
};

}  // namespace bloomery
