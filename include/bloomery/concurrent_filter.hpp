// Inserts and look-ups by many threads in one filter, without a lock.
//
// A ConcurrentFilter is a handle on a FilterView's bits; make one for each thread or share one.
// While one is in use, nothing else may write through the view itself.
//
//   insert(key), may_contain(key), hash(key)                   as in detail/key_calls.hpp, which says what a
//   insert_many(keys[, answers]), may_contain_many(...)        key is, where answers go, and what is thrown
//   insert_hashes(hashes[, answers]), may_contain_hashes(...)
//
// Promises: an insert that has returned is seen by every look-up that starts after it
// (in a happens-before order). When several threads insert the same new key at once, at
// least one of them gets the answer "certainly new". One thread would set the same bits.
// Costs: an insert takes a locked instruction for each 64-bit word whose bit is not set yet. Look-ups, and
// inserts of keys that are already there, take none (docs/benchmarks.md, "Threads").
#pragma once

#include <bloomery/detail/key_calls.hpp>
#include <bloomery/filter_view.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery {

class ConcurrentFilter : public detail::KeyCalls<ConcurrentFilter> {
 public:
  explicit ConcurrentFilter(FilterView& view) noexcept : view_(&view) {}

  [[nodiscard]] const Hasher& hasher() const noexcept { return view_->hasher(); }

  bool insert_hash(Hash128 hash) noexcept { return kernel().insert(array(), hash); }
  [[nodiscard]] bool may_contain_hash(Hash128 hash) const noexcept {
    return kernel().contains(array(), hash);
  }
  // As in FilterView.
  [[gnu::always_inline]] void prefetch(Hash128 hash) const noexcept { view_->prefetch(hash); }

 private:
  friend detail::KeyCalls<ConcurrentFilter>;
  [[nodiscard]] const detail::BitKernel& kernel() const noexcept { return *view_->kernel().atomic; }
  [[nodiscard]] const detail::BitArray& array() const noexcept { return view_->bit_array(); }
  [[nodiscard]] std::uint64_t seed_multiplier() const noexcept {
    return hasher().seed_multiplier();
  }
  std::size_t do_insert(std::span<const Hash128> hashes, bool* fresh) noexcept {
    return kernel().insert_hashes(array(), hashes.data(), hashes.size(), fresh);
  }
  std::size_t do_insert(std::span<const std::uint64_t> keys, bool* fresh) noexcept {
    return kernel().insert_integers(array(), seed_multiplier(), keys.data(), keys.size(), fresh);
  }
  std::size_t do_contain(std::span<const Hash128> hashes, bool* found) const noexcept {
    return kernel().contains_hashes(array(), hashes.data(), hashes.size(), found);
  }
  std::size_t do_contain(std::span<const std::uint64_t> keys, bool* found) const noexcept {
    return kernel().contains_integers(array(), seed_multiplier(), keys.data(), keys.size(), found);
  }

  FilterView* view_;
};

}  // namespace bloomery
