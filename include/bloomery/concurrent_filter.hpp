// A handle through which many threads insert and look up keys in one plain filter.
//
// A ConcurrentFilter is a handle on a FilterView's bits; make one for each thread or share one.
// While one is in use, nothing else may write through the view itself.
//
//   insert(key), may_contain(key), hash(key)                   as in detail/key_calls.hpp, which says what a
//   insert_many(keys[, answers]), may_contain_many(...)        key is, where answers go, and what is thrown
//   insert_hashes(hashes[, answers]), may_contain_hashes(...)
//
// Promises: a look-up sees every insert that returned before it started (in a happens-before order). If
// several threads insert the same new key at once, at least one of them gets the answer "certainly new".
// With layout `blocked` and Sharing::threads exactly one does, unless other keys have set all of its bits.
// The bits are those that one thread would set.
//
// Locks: with Sharing::threads an insert of an absent key holds a lock while it writes to a block. Inserts of present
// keys and look-ups take no lock. The copy of the library that made the filter has 4,096 locks, and the address of a
// block of 64 bytes selects its lock. So inserts are not lock-free: if a thread is stopped while it holds a lock, the
// inserts that need the same lock (one in 4,096) wait for it. Look-ups never wait. Do not insert in a signal handler,
// or after a fork() of a process whose other threads were inserting. Sharing::processes uses a locked instruction for
// each word instead, and no lock (docs/benchmarks-threads.md).
#pragma once

#include <bloomery/detail/key_calls.hpp>
#include <bloomery/error.hpp>
#include <bloomery/filter_view.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery {

// Which other writers the bits have. If writers of the same bits used different values, bits would be lost. A view
// keeps the value of its first handle, so that another handle cannot differ; several views of the same bits must use
// the same value.
enum class Sharing : std::uint8_t {
  // Only threads of this process, at the same addresses, through views that one copy of this library made. A shared
  // object that is linked with the library and hides its symbols has a copy, and its views have locks of their own.
  threads,
  processes,  // other processes or copies of the library too, or another mapping of the same memory
};

class ConcurrentFilter : public detail::KeyCalls<ConcurrentFilter> {
 public:
  // Error{invalid_argument}: an earlier handle on this view has another value.
  explicit ConcurrentFilter(FilterView& view, Sharing sharing = Sharing::threads)
      : view_(&view), sharing_(sharing) {
    std::uint8_t said = 0;
    const auto here = static_cast<std::uint8_t>(static_cast<unsigned>(sharing) + 1);
    const std::atomic_ref<std::uint8_t> of_view(view.sharing_);
    if (!of_view.compare_exchange_strong(said, here, std::memory_order_relaxed) && said != here)
      throw Error(
          ErrorCode::invalid_argument,
          "one handle on the bits says Sharing::threads and another Sharing::processes, and their "
          "writers would lose bits; give all handles Sharing::processes");
  }

  [[nodiscard]] const Hasher& hasher() const noexcept { return view_->hasher(); }
  [[nodiscard]] Sharing sharing() const noexcept { return sharing_; }

  bool insert_hash(Hash128 hash) noexcept {
#ifdef BLOOMERY_RELAXED_SINGLE_BLOCK
    if (sharing_ == Sharing::threads && view_->inline_path_ >= detail::kSingleNeeds) [[likely]]
      return view_->set_striped_block(hash);
#endif
    return kernel().insert(array(), hash);
  }
  [[nodiscard]] bool may_contain_hash(Hash128 hash) const noexcept {
#ifdef BLOOMERY_RELAXED_SINGLE_BLOCK
    if (view_->inline_path_ >= detail::kSingleNeeds) [[likely]]
      return view_->test_relaxed_block(hash);
#endif
    return kernel().contains(array(), hash);
  }
  // As in FilterView.
  [[gnu::always_inline]] void prefetch(Hash128 hash) const noexcept { view_->prefetch(hash); }

 private:
  friend detail::KeyCalls<ConcurrentFilter>;
  [[nodiscard]] const detail::BitKernel& kernel() const noexcept {
    const detail::Kernel& of_view = view_->kernel();
    return sharing_ == Sharing::threads ? *of_view.striped : *of_view.atomic;
  }
  [[nodiscard]] const detail::BitArray& array() const noexcept { return view_->bit_array(); }
  [[nodiscard]] std::uint64_t seed_multiplier() const noexcept {
    return hasher().seed_multiplier();
  }
  bool insert_integer(std::uint64_t key) noexcept {
#ifdef BLOOMERY_RELAXED_SINGLE_BLOCK
    if (sharing_ == Sharing::threads && view_->integers_inline_path_ >= detail::kSingleNeeds)
        [[likely]]
      return view_->set_striped_block(detail::hash_integer(key, seed_multiplier()));
#endif
    return insert_hash(hasher()(key));
  }
  [[nodiscard]] bool contains_integer(std::uint64_t key) const noexcept {
#ifdef BLOOMERY_RELAXED_SINGLE_BLOCK
    if (view_->integers_inline_path_ >= detail::kSingleNeeds) [[likely]]
      return view_->test_relaxed_block(detail::hash_integer(key, seed_multiplier()));
#endif
    return may_contain_hash(hasher()(key));
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
  Sharing sharing_;
};

}  // namespace bloomery
