// Many threads inserting into one filter, and looking up beside it, without a lock.
//
// A ConcurrentFilter is a handle on a FilterView's bits; make one a thread or share one.
// While any is in use, nothing else may write through the view itself.
//
// Promises: an insert that has returned is seen by every look-up that starts after it
// (in a happens-before order); when several threads insert the same new key at once, at
// least one of them is told "certainly new". The bits are those that one thread would
// have made.
// Costs: a locked instruction for each 64-bit word that is not yet set. Look-ups, and inserts of keys
// that are already there, have none (docs/benchmarks.md, "Threads").
#pragma once

#include <bloomery/filter_view.hpp>

namespace bloomery {

class ConcurrentFilter {
 public:
  explicit ConcurrentFilter(FilterView& view) noexcept : view_(&view) {}

  template <detail::Key K>
  bool insert(const K& key) noexcept {
    return insert_hash(view_->hash(key));
  }
  template <detail::Key K>
  [[nodiscard]] bool may_contain(const K& key) const noexcept {
    return may_contain_hash(view_->hash(key));
  }
  bool insert_hash(Hash128 hash) noexcept;
  [[nodiscard]] bool may_contain_hash(Hash128 hash) const noexcept;

  // As in FilterView, with prefetching across the batch.
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh = {}) noexcept;
  std::size_t may_contain_hashes(std::span<const Hash128> hashes,
                                 std::span<bool> found = {}) const noexcept;

 private:
  FilterView* view_;
};

}  // namespace bloomery
