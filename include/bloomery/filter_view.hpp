// Every operation of a plain Bloom filter, over bits that it does not own.
//
// The bits may be memory, a mapped file or a module's value.
// Filter (filter.hpp) owns memory and is a FilterView of it.
//
//   insert(key), may_contain(key), hash(key)                   as in detail/key_calls.hpp, which says what a
//   insert_many(keys[, answers]), may_contain_many(...)        key is, where answers go, and what is thrown
//   insert_hashes(hashes[, answers]), may_contain_hashes(...)
//   may_contain_many(keys, answers, threads)                   with several threads
//
// Law: after insert(key), may_contain(key) is true until clear().
//
// Threads: any number of look-ups at once, or one writer. For several writers, or look-ups
// during inserts, use ConcurrentFilter (concurrent_filter.hpp) over the same view.
#pragma once

#include <bloomery/detail/bulk_insert.hpp>
#include <bloomery/detail/kernel.hpp>
#include <bloomery/detail/key_calls.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/stats.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery {

namespace detail {
// Error{mismatch}, which names the first difference, unless every key has the same bits in both filters.
void require_same_scheme(const Plan& a, const Hasher& hasher_a, const Plan& b,
                         const Hasher& hasher_b);
}  // namespace detail

class ConcurrentFilter;

class FilterView : public detail::KeyCalls<FilterView> {
 public:
  // `bits` must be 64-byte aligned, plan.bytes() long, and outlive the view.
  // Error: the plan is invalid; the size or the alignment is wrong; BLOOMERY_KERNEL names
  // a kernel that this CPU does not have.
  FilterView(const Plan& plan, const Hasher& hasher, std::span<std::byte> bits);

  // ---- keys: those of KeyCalls, and one hash, made by hasher() ------------------------------

  bool insert_hash(Hash128 hash) noexcept {
#ifdef BLOOMERY_SINGLE_BLOCK
    if (inline_path_ >= detail::kSingleNeeds) [[likely]]
      return set_block(hash);
#endif
    return kernel_->insert(bit_array_, hash);
  }
  [[nodiscard]] bool may_contain_hash(Hash128 hash) const noexcept {
#ifdef BLOOMERY_SINGLE_BLOCK
    if (inline_path_ >= detail::kSingleNeeds) [[likely]]
      return test_block(hash);
#endif
    return kernel_->contains(bit_array_, hash);
  }
  // Prefetches the blocks of a hash (in `standard` the first two of them). It helps if other work comes
  // before the look-up.
  void prefetch(Hash128 hash) const noexcept;

  // ---- the whole ------------------------------------------------------------------------

  // Adds every key of `other`. Error{mismatch} unless bits, hashes, layout, family and seed
  // are the same.
  void merge(const FilterView& other);
  // Keeps every key that is in both filters. The result may have more false positives than a filter
  // made from the common keys. Errors as merge.
  void intersect(const FilterView& other);
  void clear() noexcept;

  // All of the following at once, in one pass over the bits or a sample of them.
  [[nodiscard]] Stats stats(Precision precision = Precision::sampled) const noexcept;
  // The share of ones; 1 if there are no bits. This and the next three functions read all of the bits, except
  // current_fpr, which reads a sample in the layouts blocked and blocked2.
  [[nodiscard]] double fill() const noexcept;
  // The false-positive rate of the bits as they are now: the mean over all blocks of filters up to 4 MiB
  // (65,536 blocks), and over 65,536 evenly spread blocks of larger ones.
  [[nodiscard]] double current_fpr() const noexcept;
  // The number of distinct keys that would give this fill; infinity if all bits are ones.
  [[nodiscard]] double estimated_items() const noexcept;
  // Whether the filter holds more keys than it was planned for, by more than four standard errors of
  // the estimate. The stated false-positive rate no longer holds; current_fpr() is the rate now.
  [[nodiscard]] bool over_capacity() const noexcept;

  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return plan_.capacity; }
  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {reinterpret_cast<const std::byte*>(bit_array_.words), plan_.bytes()};
  }
  [[nodiscard]] const detail::BitArray& bit_array() const noexcept { return bit_array_; }
  [[nodiscard]] const detail::Kernel& kernel() const noexcept { return *kernel_; }
  [[nodiscard]] const char* kernel_name() const noexcept { return kernel_->name; }
  // For tests: uses another kernel on the same bits.
  void use_kernel(const detail::Kernel& kernel) noexcept;

  // Error{mismatch}, which names the first difference, unless every key has the same bits in both filters.
  static void require_same_scheme(const FilterView& a, const FilterView& b);

 protected:
  // The number of bytes that a filter of this plan needs. Error: the plan is invalid.
  static std::uint64_t bytes_of(const Plan& plan);
  // Releases the bits: the state of a Filter that was moved from.
  void detach() noexcept;

 private:
  friend detail::KeyCalls<FilterView>;
  friend ConcurrentFilter;
#ifdef BLOOMERY_SINGLE_BLOCK
  [[gnu::always_inline]] bool set_block(Hash128 hash) const noexcept {
    const detail::KeyBlock at = detail::LayoutOf<Layout::blocked>::block<0>(bit_array_, hash);
    return detail::SingleBlock::set(detail::words_of(bit_array_, at), at.low, *bit_array_.masks);
  }
  [[gnu::always_inline]] bool test_block(Hash128 hash) const noexcept {
    const detail::KeyBlock at = detail::LayoutOf<Layout::blocked>::block<0>(bit_array_, hash);
    return detail::SingleBlock::test(detail::words_of(bit_array_, at), at.low, *bit_array_.masks);
  }
#endif
#ifdef BLOOMERY_RELAXED_SINGLE_BLOCK
  // A look-up while other threads set bits. The fence makes a loop that waits for a key read the memory each time.
  [[gnu::always_inline]] bool test_relaxed_block(Hash128 hash) const noexcept {
    const detail::KeyBlock at = detail::LayoutOf<Layout::blocked>::block<0>(bit_array_, hash);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return detail::RelaxedSingleBlock::test(detail::words_of(bit_array_, at), at.low,
                                            *bit_array_.masks);
  }
  [[gnu::always_inline]] bool set_striped_block(Hash128 hash) const noexcept {
    const detail::KeyBlock at = detail::LayoutOf<Layout::blocked>::block<0>(bit_array_, hash);
    std::uint32_t* const block = detail::words_of(bit_array_, at);
    return detail::StripedBlock<detail::RelaxedSingleBlock>::set(detail::stripe_of(block, stripes_),
                                                                 block, at.low, *bit_array_.masks);
  }
#endif
  bool insert_integer(std::uint64_t key) noexcept {
#ifdef BLOOMERY_SINGLE_BLOCK
    if (integers_inline_path_ >= detail::kSingleNeeds) [[likely]]
      return set_block(detail::hash_integer(key, hasher_.seed_multiplier()));
#endif
    return insert_hash(hasher_(key));
  }
  [[nodiscard]] bool contains_integer(std::uint64_t key) const noexcept {
#ifdef BLOOMERY_SINGLE_BLOCK
    if (integers_inline_path_ >= detail::kSingleNeeds) [[likely]]
      return test_block(detail::hash_integer(key, hasher_.seed_multiplier()));
#endif
    return may_contain_hash(hasher_(key));
  }
  [[nodiscard]] detail::BulkTarget bulk_target() const noexcept {
    return detail::bulk_target(plan_.layout, bit_array_, hasher_, *kernel_);
  }
  std::size_t do_insert(std::span<const Hash128> hashes, bool* fresh) noexcept {
    return kernel_->insert_hashes(bit_array_, hashes.data(), hashes.size(), fresh);
  }
  std::size_t do_insert(std::span<const std::uint64_t> keys, bool* fresh) noexcept {
    return kernel_->insert_integers(bit_array_, hasher_.seed_multiplier(), keys.data(), keys.size(),
                                    fresh);
  }
  std::size_t do_contain(std::span<const Hash128> hashes, bool* found) const noexcept {
    return kernel_->contains_hashes(bit_array_, hashes.data(), hashes.size(), found);
  }
  std::size_t do_contain(std::span<const std::uint64_t> keys, bool* found) const noexcept {
    return kernel_->contains_integers(bit_array_, hasher_.seed_multiplier(), keys.data(),
                                      keys.size(), found);
  }

  detail::BitArray bit_array_;
  const detail::Kernel* kernel_ = nullptr;
  detail::Stripe* stripes_ = nullptr;  // the locks that the kernel takes
  detail::InlinePath inline_path_ = detail::InlinePath::none;
  // The inline path for integer keys: none unless the hash family is xxh3.
  detail::InlinePath integers_inline_path_ = detail::InlinePath::none;
  std::uint8_t sharing_ = 0;  // the Sharing of the first ConcurrentFilter, plus 1; 0: none
  Plan plan_;
  Hasher hasher_;
};

}  // namespace bloomery
