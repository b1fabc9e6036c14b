// A Bloom filter that grows: for sets whose size is not known in advance.
//
//   bloomery::ScalableFilter seen(1'000'000, 0.001);  // room for a million keys to begin with
//   if (seen.insert(url)) fetch(url);                 // true: certainly new
//
// It is a list of plain filters, its sub-filters. A key goes into the newest sub-filter, unless a sub-filter
// may already contain it. When the newest has taken as many new keys as it was planned for, the next new key
// adds another sub-filter, `growth` times as large and with a smaller share of the rate
// (scalable_plan.hpp).
//
// Promises: never a false negative; absent keys are answered "maybe" at or below the stated rate,
// of all sub-filters together, however far it grows; the bits depend on the keys, their order, plan
// and seed alone, whatever the kernel, and whether keys come one by one or many at a time.
// Limits: it cannot count, remove or list keys, merge, or shrink. It needs more bits per key than a plain
// filter of the right size, and a look-up of an absent key asks every sub-filter: give the capacity that
// you expect, so that growth is the exception (docs/configuration.md).
//
// Threads: any number of look-ups at once, or one writer.
// A filter that was moved from has no sub-filters: every look-up answers "maybe" and every insert false,
// until another filter is assigned to it.
#pragma once

#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/detail/key_calls.hpp>
#include <bloomery/filter_view.hpp>
#include <bloomery/scalable_plan.hpp>
#include <bloomery/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace bloomery {

// The stored state of a sub-filter.
struct SubFilterState {
  Plan plan;
  std::uint64_t inserted = 0;     // keys that it has taken: its capacity, except in the newest
  std::span<std::byte> bits;      // 64-byte aligned, plan.bytes() long; written by insert alone
  detail::BitMemory memory = {};  // owns `bits`; if empty, they must outlive the filter
};

namespace detail {
// Checks what restore() requires of the sub-filters, except for their bits.
void check_sub_filters(const ScalablePlan& plan, std::span<const SubFilterState> sub_filters);
}  // namespace detail

class ScalableFilter : public detail::KeyCalls<ScalableFilter> {
 public:
  // Error{invalid_argument | too_large | no_memory}; nothing is allocated before the numbers
  // are checked.
  ScalableFilter(std::uint64_t first_capacity, double fpr, std::uint32_t growth = kDefaultGrowth)
      : ScalableFilter(scalable_plan(first_capacity, fpr, growth)) {}
  explicit ScalableFilter(const ScalablePlan& plan, const Hasher& hasher = Hasher());
  // A filter from its stored sub-filters, the oldest first.
  // Error{invalid_argument | too_large | mismatch}: the plan is invalid; there are no sub-filters or
  // more than 64; or a sub-filter is not the one that the plan gives, has a number of keys that its
  // position does not allow, or has bits of a wrong size or alignment.
  [[nodiscard]] static ScalableFilter restore(const ScalablePlan& plan, const Hasher& hasher,
                                              std::vector<SubFilterState> sub_filters);

  ScalableFilter(ScalableFilter&&) noexcept = default;
  ScalableFilter& operator=(ScalableFilter&& other) noexcept;
  [[nodiscard]] ScalableFilter copy() const;

  // ---- keys: those of KeyCalls ----------------------------------------------------------
  // insert*: Error{too_large | no_memory} if the filter would have to grow and cannot. All earlier keys are
  // still there, this key is not, and the caller may try further keys. In a call for many keys, the keys before
  // the one that needed growth are inserted, that key and the following ones are not; the caller may repeat all
  // of them. Many keys are hashed once for all sub-filters; the result is that of one call per key.

  // With one sub-filter these are the calls of a plain filter, and are inlined like them. With more
  // sub-filters they call the kernel directly, because every call in between lets the CPU overlap fewer keys.
  bool insert_hash(Hash128 hash) {
    if (views_.size() != 1 || room() == 0) [[unlikely]]
      return insert_among_sub_filters(hash);
    const bool fresh = newest().insert_hash(hash);
    newest_inserted_ += fresh ? 1 : 0;
    return fresh;
  }
  [[nodiscard]] bool may_contain_hash(Hash128 hash) const noexcept {
    const std::size_t sub_filters = bit_arrays_.size();
    if (sub_filters == 1) return views_.front()->may_contain_hash(hash);
    if (sub_filters - 1 < detail::kSubFiltersAtOnce) [[likely]]
      return kernel_->contains_in_any(bit_arrays_.data(), sub_filters, hash);
    return is_in_any_sub_filter(hash);
  }

  // Allocates the memory of all sub-filters that `new_keys` new keys need, so that inserting them cannot
  // fail, however many repeated keys come in between. Error{too_large | no_memory}: the filter is unchanged.
  void reserve(std::uint64_t new_keys);

  // ---- the whole ------------------------------------------------------------------------

  // Removes every key, and all sub-filters except the first.
  void clear() noexcept;

  // The number of keys that were certainly new when they were inserted.
  [[nodiscard]] std::uint64_t inserted() const noexcept;
  // The same for one sub-filter, counted from 0, the oldest. In all but the newest it is the capacity.
  [[nodiscard]] std::uint64_t inserted(std::size_t sub_filter) const noexcept;
  // The capacity of the present sub-filters. It rises when the filter grows.
  [[nodiscard]] std::uint64_t capacity() const noexcept;
  [[nodiscard]] bool grown() const noexcept { return views_.size() > 1; }
  [[nodiscard]] std::uint64_t bits() const noexcept;

  // All of the following at once, read from each sub-filter as FilterView::stats does.
  [[nodiscard]] Stats stats(Precision precision = Precision::sampled) const noexcept;
  // The share of ones among the bits of all sub-filters. These four read the bits, as in FilterView.
  [[nodiscard]] double fill() const noexcept;
  // The false-positive rate of the bits as they are now, of all sub-filters together.
  [[nodiscard]] double current_fpr() const noexcept;
  [[nodiscard]] double estimated_items() const noexcept;
  // Whether a sub-filter has more ones than its keys explain, by more than four standard errors, because its bits
  // were damaged and repaired with ones. Inserts cause this only by chance, in one of some 30,000 sub-filters.
  [[nodiscard]] bool over_capacity() const noexcept;

  [[nodiscard]] const ScalablePlan& plan() const noexcept { return plan_; }
  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }
  // The sub-filters, the oldest first. They are valid until the filter is cleared, assigned to or destroyed.
  [[nodiscard]] std::span<const FilterView* const> sub_filters() const noexcept { return views_; }
  [[nodiscard]] const char* kernel_name() const noexcept { return kernel_->name; }
  // For tests: uses another kernel on the same bits, in later sub-filters too.
  void use_kernel(const detail::Kernel& kernel) noexcept;

 private:
  friend detail::KeyCalls<ScalableFilter>;
  struct SubFilter {
    SubFilter(SubFilterState state, const Hasher& hasher)
        : memory(std::move(state.memory)), view(state.plan, hasher, state.bits) {}
    detail::BitMemory memory;
    FilterView view;
  };
  struct Part {
    std::size_t taken = 0;  // keys that were applied
    std::size_t fresh = 0;
  };

  ScalableFilter(const ScalablePlan& plan, const Hasher& hasher,
                 std::vector<SubFilterState> sub_filters);
  [[nodiscard]] std::unique_ptr<SubFilter> make_sub_filter(SubFilterState state) const;
  void make_places(std::size_t sub_filters);
  void add_sub_filter(SubFilterState state);
  void add_sub_filter(std::unique_ptr<SubFilter> sub_filter) noexcept;
  void grow();
  [[nodiscard]] FilterView& newest() noexcept { return sub_filters_.back()->view; }
  [[nodiscard]] std::uint64_t room() const noexcept {
    return views_.empty() ? 0 : views_.back()->capacity() - newest_inserted_;
  }
  bool insert_among_sub_filters(Hash128 hash);
  [[nodiscard]] bool is_in_any_sub_filter(Hash128 hash) const noexcept;
  std::size_t do_insert(std::span<const Hash128> hashes, bool* fresh);
  std::size_t do_contain(std::span<const Hash128> hashes, bool* found) const noexcept;
  std::size_t do_contain(std::span<const std::uint64_t> keys, bool* found) const noexcept;
  Part insert_part(std::span<const Hash128> hashes, bool* fresh);

  ScalablePlan plan_;
  Hasher hasher_;
  std::vector<std::unique_ptr<SubFilter>> sub_filters_;  // the oldest first
  std::vector<const FilterView*> views_;                 // of sub_filters_
  std::vector<const detail::BitArray*> bit_arrays_;      // the same
  std::vector<std::unique_ptr<SubFilter>> reserved_;     // those that come next
  std::uint64_t newest_inserted_ = 0;
  const detail::Kernel* kernel_;
  bool kernel_is_chosen_ = false;  // by use_kernel
};

}  // namespace bloomery
