// Every operation of a counting Bloom filter, over counters that somebody else owns.
//
// A counting filter has a small counter, a counter, where a plain one has a bit: inserting a key
// counts its k counters up, removing it counts them down, and a key is found while none of them is
// zero. All counters of a key are in one 64-byte block. CountingFilter (counting_filter.hpp) owns
// memory and is a CountingView of it.
//
// Laws:
// - A key that was inserted more often than removed is found, as long as only keys that are
//   there are removed. A counter that reaches 15 (255 where counters have 8 bits) is saturated: it has
//   lost count, so neither inserts nor removes change it again, and no key is ever lost by it.
// - may_contain answers what the plain twin answers: the filter with the same plan whose bits
//   say which counters are not zero (to_plain).
//
// Remove only what was inserted. A key that was never inserted is refused where one of its counters
// is zero; where it looks present (at the filter's rate) its removal takes counts that belong to
// other keys, and those may be lost.
//
// Threads: any number of look-ups at once, or one writer.
//
// Source: Fan, Cao, Almeida, Broder: Summary Cache (2000), for counters of 4 bits that stick.
#pragma once

#include <bloomery/detail/counting_kernel.hpp>
#include <bloomery/detail/keys.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace bloomery {

// What count_at_most says of a key whose counters are all saturated.
constexpr std::uint64_t kUncounted = ~std::uint64_t{0};

// Error{invalid_argument | too_large} unless the plan is valid and its layout is blocked128 (counters of
// 4 bits) or blocked64 (of 8). Its `bits` says how many counters there are.
void validate_counting(const Plan& plan);
// The memory of a counting filter of such a plan.
[[nodiscard]] inline std::uint64_t counting_bytes(const Plan& plan) noexcept {
  return plan.bytes() * counter_bits(plan.layout);
}

class CountingView {
 public:
  // `counters` must be 64-byte aligned, counting_bytes(plan) long, and outlive the view.
  // Error: as validate_counting; the size or the alignment is wrong; BLOOMERY_KERNEL names a
  // kernel that this CPU does not have.
  CountingView(const Plan& plan, const Hasher& hasher, std::span<std::byte> counters);

  // ---- one key ------------------------------------------------------------------------

  // Adds a key once more. True: it was certainly not there before.
  template <detail::Key K>
  bool insert(const K& key) noexcept {
    return insert_hash(hash(key));
  }
  // Takes back one insert of a key. False: it certainly was not there, and nothing has changed.
  template <detail::Key K>
  bool remove(const K& key) noexcept {
    return remove_hash(hash(key));
  }
  // False: the key is certainly not there. True: probably it is.
  template <detail::Key K>
  [[nodiscard]] bool may_contain(const K& key) const noexcept {
    return may_contain_hash(hash(key));
  }
  // The key is there at most so often: the least of its counters that still count. 0: certainly not
  // there. kUncounted: all its counters are saturated, and it may be there any number of times.
  template <detail::Key K>
  [[nodiscard]] std::uint64_t count_at_most(const K& key) const noexcept {
    return count_hash_at_most(hash(key));
  }

  // ---- one hash, made by hasher() ---------------------------------------------------------

  bool insert_hash(Hash128 hash) noexcept { return kernel_->insert(bit_array_, hash); }
  bool remove_hash(Hash128 hash) noexcept { return kernel_->remove(bit_array_, hash); }
  [[nodiscard]] bool may_contain_hash(Hash128 hash) const noexcept {
    return kernel_->contains(bit_array_, hash);
  }
  [[nodiscard]] std::uint64_t count_hash_at_most(Hash128 hash) const noexcept {
    const std::uint32_t least = kernel_->least(bit_array_, hash);
    return least == most() ? kUncounted : least;
  }
  template <detail::Key K>
  [[nodiscard]] Hash128 hash(const K& key) const noexcept {
    return detail::hash_key(hasher_, key);
  }
  // Asks the memory for a hash's block; worth it when other work comes in between.
  void prefetch(Hash128 hash) const noexcept {
    __builtin_prefetch(detail::block_of(bit_array_, hash.high));
  }

  // ---- many keys: several times as fast where the counters do not fit the cache -------------

  // The keys take effect in order. Each returns how many of its answers were true; the answers
  // themselves go into `fresh` and its like, which must be empty or have room for one a key.
  template <detail::KeyRange R>
  std::size_t insert_many(R&& keys, std::span<bool> fresh = {}) {
    if constexpr (detail::PlainIntegers<std::remove_cvref_t<R>>)
      return insert_integers({std::ranges::data(keys), std::ranges::size(keys)}, fresh);
    else
      return detail::in_chunks(hasher_, keys, fresh, [this](auto hashes, auto out) {
        return insert_hashes(hashes, out);
      });
  }
  template <detail::KeyRange R>
  std::size_t remove_many(R&& keys, std::span<bool> removed = {}) {
    if constexpr (detail::PlainIntegers<std::remove_cvref_t<R>>)
      return remove_integers({std::ranges::data(keys), std::ranges::size(keys)}, removed);
    else
      return detail::in_chunks(hasher_, keys, removed, [this](auto hashes, auto out) {
        return remove_hashes(hashes, out);
      });
  }
  template <detail::KeyRange R>
  std::size_t may_contain_many(R&& keys, std::span<bool> found = {}) const {
    if constexpr (detail::PlainIntegers<std::remove_cvref_t<R>>)
      return may_contain_integers({std::ranges::data(keys), std::ranges::size(keys)}, found);
    else
      return detail::in_chunks(hasher_, keys, found, [this](auto hashes, auto out) {
        return may_contain_hashes(hashes, out);
      });
  }
  std::size_t insert_hashes(std::span<const Hash128> hashes, std::span<bool> fresh = {}) noexcept;
  std::size_t remove_hashes(std::span<const Hash128> hashes, std::span<bool> removed = {}) noexcept;
  std::size_t may_contain_hashes(std::span<const Hash128> hashes,
                                 std::span<bool> found = {}) const noexcept;

  // ---- the whole ------------------------------------------------------------------------

  // Adds every count of `other`, saturating: what was inserted into either is there.
  // Error{mismatch} unless bits, hashes, layout, family and seed are the same.
  void merge(const CountingView& other);
  void clear() noexcept;
  // The plain filter of the keys that are there: no counts, a fourth (an eighth) of the memory,
  // the same answers. Error{no_memory}.
  [[nodiscard]] Filter to_plain() const;

  // The share of counters that are not zero; of no counters at all, 1. This and the next four read all
  // of the counters, current_fpr a sample.
  [[nodiscard]] double fill() const noexcept;
  // Counters that have lost count. A damaged part of a file that was salvaged is saturated too.
  [[nodiscard]] std::uint64_t saturated_counters() const noexcept;
  // How many distinct keys give this fill; infinity where no counter is zero.
  [[nodiscard]] double estimated_items() const noexcept;
  // More distinct keys than the plan was made for (beyond four standard errors of the
  // estimate): the stated rate no longer holds; current_fpr() says what does.
  [[nodiscard]] bool over_capacity() const noexcept;
  // The false-positive rate of the counters as they stand: of every block for filters up to 4 MiB
  // (65,536 blocks), of so many blocks spread evenly above that.
  [[nodiscard]] double current_fpr() const noexcept;

  [[nodiscard]] const Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return plan_.capacity; }
  [[nodiscard]] std::uint32_t counter_bits() const noexcept {
    return bloomery::counter_bits(plan_.layout);
  }
  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }
  // Cell i, which is bit i of the plain twin, is byte i or, of 4 bits, half of byte i / 2, the
  // lower half first.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {reinterpret_cast<const std::byte*>(bit_array_.words), counting_bytes(plan_)};
  }
  [[nodiscard]] const detail::BitArray& bit_array() const noexcept { return bit_array_; }
  [[nodiscard]] const char* kernel_name() const noexcept { return kernel_->name; }
  // For tests: the same counters through another kernel.
  void use_kernel(const detail::CountingKernel& kernel) noexcept { kernel_ = &kernel; }

 protected:
  // Lets go of the counters, as CountingFilter says of one that was moved from.
  void detach() noexcept;

 private:
  [[nodiscard]] std::uint32_t most() const noexcept { return (1U << counter_bits()) - 1; }
  std::size_t insert_integers(std::span<const std::uint64_t> keys, std::span<bool> fresh) noexcept;
  std::size_t remove_integers(std::span<const std::uint64_t> keys,
                              std::span<bool> removed) noexcept;
  std::size_t may_contain_integers(std::span<const std::uint64_t> keys,
                                   std::span<bool> found) const noexcept;

  detail::BitArray bit_array_;
  const detail::CountingKernel* kernel_ = nullptr;
  Plan plan_;
  Hasher hasher_;
};

}  // namespace bloomery
