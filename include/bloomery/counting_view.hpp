// Every operation of a counting Bloom filter, over counters that it does not own.
//
// A counting filter has a small counter where a plain one has a bit. An insert increments the key's k
// counters, a removal decrements them, and a key is found while none of them is zero. All counters of a key
// are in one 64-byte block, or half of them in each of two (counting_plan.hpp). CountingFilter
// (counting_filter.hpp) owns memory and is a CountingView of it.
//
//   insert(key), remove(key), may_contain(key), hash(key)    as in detail/key_calls.hpp, which says what a
//   insert_many(keys[, answers]), remove_many(...),          key is, where answers go, and what is thrown
//   may_contain_many(...), and *_hashes instead of *_many
//
// Laws:
// - A key that was inserted more often than removed is found, as long as only keys that are
//   there are removed. A counter that reaches 15 (255 if counters have 8 bits) is saturated: it has
//   lost count, so neither inserts nor removals change it again, and it loses no key.
// - may_contain answers what the equivalent plain filter (to_plain) answers: it has the same plan, and a
//   bit is set if the counter is not zero.
//
// Remove only what was inserted. The filter refuses a key that was never inserted if one of its counters is
// zero (or one, if both of its blocks are the same block and share the counter: an insert increments it
// twice). If a key that was never inserted looks present (at the filter's false-positive rate), its removal
// decrements counters of other keys, and those keys may be lost.
//
// Threads: any number of look-ups at once, or one writer.
//
// Source: Fan, Cao, Almeida, Broder: Summary Cache (2000), for counters of 4 bits that saturate.
#pragma once

#include <bloomery/detail/bulk_insert.hpp>
#include <bloomery/detail/kernel.hpp>
#include <bloomery/detail/key_calls.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>
#include <bloomery/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery {

namespace detail {
class CountingContents;
}

// The answer of count_at_most for a key whose counters are all saturated.
constexpr std::uint64_t kUncounted = ~std::uint64_t{0};

// Error{invalid_argument | too_large} unless the plan is valid and its layout is blocked128 or blocked2x128
// (counters of 4 bits), or blocked64 or blocked2x64 (counters of 8 bits). The plan's `bits` is the number
// of counters.
void validate_counting(const Plan& plan);
// The memory, in bytes, of a counting filter of this plan.
[[nodiscard]] inline std::uint64_t counting_bytes(const Plan& plan) noexcept {
  return plan.bytes() * counter_bits(plan.layout);
}

class CountingView : public detail::KeyCalls<CountingView> {
 public:
  // `counters` must be 64-byte aligned, counting_bytes(plan) long, and outlive the view.
  // Error: as validate_counting; the size or the alignment is wrong; BLOOMERY_KERNEL names a
  // kernel that this CPU does not have.
  CountingView(const Plan& plan, const Hasher& hasher, std::span<std::byte> counters);

  // ---- keys: the calls of KeyCalls, and count_at_most ------------------------------------

  // An upper bound of how often the key is there: the minimum of its counters that are not saturated. 0:
  // the key is certainly not there. kUncounted: all its counters are saturated, and the key may be there
  // any number of times.
  template <class K>
  [[nodiscard]] std::uint64_t count_at_most(const K& key) const
      noexcept(detail::kConvertsQuietly<K>) {
    return count_hash_at_most(hash(key));
  }

  // ---- one hash, made by hasher() ---------------------------------------------------------

  bool insert_hash(Hash128 hash) noexcept { return kernel_->insert(bit_array_, hash); }
  bool remove_hash(Hash128 hash) noexcept { return kernel_->remove(bit_array_, hash); }
  [[nodiscard]] bool may_contain_hash(Hash128 hash) const noexcept {
    return kernel_->contains(bit_array_, hash);
  }
  [[nodiscard]] std::uint64_t count_hash_at_most(Hash128 hash) const noexcept {
    const std::uint32_t count = kernel_->minimum(bit_array_, hash);
    return count == most() ? kUncounted : count;
  }
  // Prefetches the blocks of a hash. It helps if other work comes before the look-up.
  [[gnu::always_inline]] void prefetch(Hash128 hash) const noexcept {
    detail::prefetch_key(detail::counter_blocks(plan_.layout), bit_array_, hash);
  }

  // ---- the whole ------------------------------------------------------------------------

  // Adds every counter of `other`, up to saturation: keys of both filters are found.
  // Error{mismatch} unless bits, hashes, layout, family and seed are the same.
  void merge(const CountingView& other);
  void clear() noexcept;
  // The equivalent plain filter: the same answers without counts, in a fourth (an eighth) of the memory.
  // Error{no_memory}.
  [[nodiscard]] Filter to_plain() const;

  // All of the following at once, in one pass over the counters or a sample of them.
  [[nodiscard]] Stats stats(Precision precision = Precision::sampled) const noexcept;
  // The share of counters that are not zero; 1 if there are none. This and the next four read all of the
  // counters; current_fpr reads a sample.
  [[nodiscard]] double fill() const noexcept;
  // Counters that have lost count. A damaged part of a file that was salvaged is saturated too.
  [[nodiscard]] std::uint64_t saturated_counters(
      Precision precision = Precision::exact) const noexcept;
  // The number of distinct keys that would give this fill; infinity if no counter is zero.
  [[nodiscard]] double estimated_items() const noexcept;
  // Whether the filter holds more distinct keys than it was planned for, by more than four standard
  // errors of the estimate. The stated false-positive rate no longer holds; current_fpr() is the rate
  // now.
  [[nodiscard]] bool over_capacity() const noexcept;
  // The false-positive rate of the counters as they are now: the mean over all blocks of filters up to 4 MiB
  // (65,536 blocks), and over 65,536 evenly spread blocks of larger ones.
  [[nodiscard]] double current_fpr() const noexcept;

  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return plan_.capacity; }
  [[nodiscard]] std::uint32_t counter_bits() const noexcept {
    return bloomery::counter_bits(plan_.layout);
  }
  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }
  // Counter i, which is bit i of the equivalent plain filter, is byte i or, with 4 bits, half of byte
  // i / 2, the lower half first.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {reinterpret_cast<const std::byte*>(bit_array_.words), counting_bytes(plan_)};
  }
  [[nodiscard]] const detail::BitArray& bit_array() const noexcept { return bit_array_; }
  [[nodiscard]] const char* kernel_name() const noexcept { return kernel_->name; }
  // For tests: uses another kernel on the same counters.
  void use_kernel(const detail::CountingKernel& kernel) noexcept { kernel_ = &kernel; }

 protected:
  // The number of bytes that a filter of this plan needs. Error: as validate_counting.
  static std::uint64_t bytes_of(const Plan& plan);
  // Releases the counters: the state of a CountingFilter that was moved from.
  void detach() noexcept;

 private:
  friend detail::KeyCalls<CountingView>;
  friend detail::CountingContents;
  // Adds the counters that another filter of this scheme has from byte `at` on.
  void add_counters(std::uint64_t at, std::span<const std::byte> others) noexcept;
  [[nodiscard]] std::uint32_t most() const noexcept { return (1U << counter_bits()) - 1; }
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
  std::size_t do_remove(std::span<const Hash128> hashes, bool* removed) noexcept {
    return kernel_->remove_hashes(bit_array_, hashes.data(), hashes.size(), removed);
  }
  std::size_t do_remove(std::span<const std::uint64_t> keys, bool* removed) noexcept {
    return kernel_->remove_integers(bit_array_, hasher_.seed_multiplier(), keys.data(), keys.size(),
                                    removed);
  }
  std::size_t do_contain(std::span<const Hash128> hashes, bool* found) const noexcept {
    return kernel_->contains_hashes(bit_array_, hashes.data(), hashes.size(), found);
  }
  std::size_t do_contain(std::span<const std::uint64_t> keys, bool* found) const noexcept {
    return kernel_->contains_integers(bit_array_, hasher_.seed_multiplier(), keys.data(),
                                      keys.size(), found);
  }

  detail::BitArray bit_array_;
  const detail::CountingKernel* kernel_ = nullptr;
  Plan plan_;
  Hasher hasher_;
};

}  // namespace bloomery
