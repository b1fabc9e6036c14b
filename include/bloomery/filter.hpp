// A plain Bloom filter in memory: keys can be inserted but not removed, its size is fixed, and its
// false-positive rate is stated.
//
//   bloomery::Filter seen(100'000'000, 0.001);   // items, false-positive rate: 195 MB
//   if (seen.insert(url)) fetch(url);            // true: certainly new
//
// Promises: never a false negative; with up to capacity() keys in it, absent keys are answered "maybe"
// at the stated rate; the bits depend on keys, plan and seed alone.
// Limits: it cannot count or remove (counting_filter.hpp can), list its keys, or grow (scalable_filter.hpp
// can). Past its capacity the false-positive rate rises; over_capacity() and current_fpr() report it.
//
// filter_view.hpp describes its operations on keys.
#pragma once

#include <bloomery/detail/owning.hpp>
#include <bloomery/filter_view.hpp>

#include <cstdint>

namespace bloomery {

class Filter : public detail::Owning<Filter, FilterView> {
 public:
  // Error{invalid_argument | too_large | no_memory}; nothing is allocated before the
  // numbers are checked.
  Filter(std::uint64_t capacity, double fpr) : Filter(bloomery::plan(capacity, fpr)) {}
  explicit Filter(const Plan& plan, const Hasher& hasher = Hasher()) : Owning(plan, hasher) {}

  // A filter that was moved from has no bits: every look-up answers "maybe" and every insert false,
  // until another filter is assigned to it. Its plan has 0 bits, so copy(), encode() and merge() with
  // a real filter are errors. All such filters share one block of ones, so several threads may only
  // look up in them.

  // copy() copies the filter. mutable_bytes() gives the bits for writing: plan().bytes() bytes.
  using Owning::copy;
  using Owning::mutable_bytes;
};

}  // namespace bloomery
