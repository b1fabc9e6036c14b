// Every operation of a plain Bloom filter, over bits that somebody else owns.
//
// A FilterView never cares whether its bits are memory, a mapped file or a module's value.
// Filter (filter.hpp) owns memory and is a FilterView of it.
//
// Law: after insert(key), may_contain(key) is true for ever (until clear).
//
// Threads: any number of look-ups at once, or one writer. For many writers, and look-ups
// beside them, use ConcurrentFilter (concurrent_filter.hpp) over the same view.
//
// Keys are integers (by value) or bytes: std::string_view, const char*, or
// std::span<const std::byte>. See hash.hpp.
#pragma once

#include <bloomery/detail/kernel.hpp>
#include <bloomery/detail/keys.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/plan.hpp>

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <type_traits>

namespace bloomery {

namespace detail {
// Error{mismatch}, naming the first difference, unless a key has the same places in both.
void require_same_scheme(const Plan& a, const Hasher& hasher_a, const Plan& b,
                         const Hasher& hasher_b);
}  // namespace detail

class FilterView {
 public:
  // `bits` must be 64-byte aligned, plan.bytes() long, and outlive the view.
  // Error: the plan is invalid; the size or the alignment is wrong; BLOOMERY_KERNEL names
  // a kernel that this CPU does not have.
  FilterView(const Plan& plan, const Hasher& hasher, std::span<std::byte> bits);

  // ---- one key ------------------------------------------------------------------------

  // Adds a key. True: it was certainly not there before. False: it, or keys that look the
  // same, were there.
  template <detail::Key K>
  bool insert(const K& key) noexcept {
#ifdef BLOOMERY_SINGLE_BLOCK
    if constexpr (detail::IntegerKey<K>)
      if (integers_inline_path_ >= detail::kSingleNeeds) [[likely]]
        return set_block(
            detail::hash_integer(static_cast<std::uint64_t>(key), hasher_.seed_multiplier()));
#endif
    return insert_hash(hash(key));
  }
  // False: the key was certainly never inserted. True: probably it was.
  template <detail::Key K>
  [[nodiscard]] bool may_contain(const K& key) const noexcept {
#ifdef BLOOMERY_SINGLE_BLOCK
    if constexpr (detail::IntegerKey<K>)
      if (integers_inline_path_ >= detail::kSingleNeeds) [[likely]]
        return test_block(
            detail::hash_integer(static_cast<std::uint64_t>(key), hasher_.seed_multiplier()));
#endif
    return may_contain_hash(hash(key));
  }

  // ---- one hash, made by hasher() ---------------------------------------------------------

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
  template <detail::Key K>
  [[nodiscard]] Hash128 hash(const K& key) const noexcept {
    return detail::hash_key(hasher_, key);
  }
  // Asks the memory for a hash's blocks (of standard: the first); worth it when other work comes
  // in between.
  void prefetch(Hash128 hash) const noexcept;

  // ---- many keys: several times as fast where the bits do not fit the cache --------------

  // Adds the keys in order; returns how many were certainly new. `fresh`, unless empty,
  // must have room for one answer a key.
  template <detail::KeyRange R>
  std::size_t insert_many(R&& keys, std::span<bool> fresh = {}) {
    if constexpr (detail::PlainIntegers<std::remove_cvref_t<R>>)
      return insert_integers({std::ranges::data(keys), std::ranges::size(keys)}, fresh);
    else
      return detail::in_chunks(hasher_, keys, fresh, [this](auto hashes, auto out) {
        return insert_hashes(hashes, out);
      });
  }
  // Returns how many may be there.
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
  std::size_t may_contain_hashes(std::span<const Hash128> hashes,
                                 std::span<bool> found = {}) const noexcept;

  // ---- the whole ------------------------------------------------------------------------

  // Adds every key of `other`. Error{mismatch} unless bits, hashes, layout, family and seed
  // are the same.
  void merge(const FilterView& other);
  // Keeps every key that is in both, and perhaps some that look the same. Errors as merge.
  void intersect(const FilterView& other);
  void clear() noexcept;

  // The share of ones; of no bits at all, 1. These four read all of the bits, current_fpr of blocked and blocked2 a sample.
  [[nodiscard]] double fill() const noexcept;
  // The false-positive rate of the bits as they stand: of every block for filters up to
  // 4 MiB (65,536 blocks), of so many blocks spread evenly above that.
  [[nodiscard]] double current_fpr() const noexcept;
  // How many distinct keys give this fill; infinity where all bits are ones.
  [[nodiscard]] double estimated_items() const noexcept;
  // More keys than the plan was made for (beyond four standard errors of the estimate):
  // the stated rate no longer holds; current_fpr() says what does.
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
  // For tests: the same bits through another kernel.
  void use_kernel(const detail::Kernel& kernel) noexcept;

  // Error{mismatch}, naming the first difference, unless a key has the same bits in both.
  static void require_same_scheme(const FilterView& a, const FilterView& b);

 protected:
  // Lets go of the bits, as Filter says of one that was moved from.
  void detach() noexcept;

 private:
#ifdef BLOOMERY_SINGLE_BLOCK
  [[gnu::always_inline]] bool set_block(Hash128 hash) const noexcept {
    return detail::SingleBlock::set(detail::block_of(bit_array_, hash.high), hash.low,
                                    *bit_array_.masks);
  }
  [[gnu::always_inline]] bool test_block(Hash128 hash) const noexcept {
    return detail::SingleBlock::test(detail::block_of(bit_array_, hash.high), hash.low,
                                     *bit_array_.masks);
  }
#endif

  std::size_t insert_integers(std::span<const std::uint64_t> keys, std::span<bool> fresh) noexcept;
  std::size_t may_contain_integers(std::span<const std::uint64_t> keys,
                                   std::span<bool> found) const noexcept;

  detail::BitArray bit_array_;
  const detail::Kernel* kernel_ = nullptr;
  detail::InlinePath inline_path_ = detail::InlinePath::none;
  detail::InlinePath integers_inline_path_ =
      detail::InlinePath::none;  // none unless the hash family is xxh3
  Plan plan_;
  Hasher hasher_;
};

}  // namespace bloomery
