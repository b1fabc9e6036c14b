// A filter of a set that does not change: the smallest kind. No key can be added after it is built.
//
//   bloomery::FrozenBuilder builder(0.01);                  // 1 % false positives
//   for (const auto& address : blacklist) builder.insert(address);
//   const bloomery::FrozenFilter spam = builder.build();    // 7.5 bits per key
//   if (spam.may_contain(sender)) reject();                 // false: certainly not in the list
//
// A look-up reads three places that are close to each other. docs/benchmarks.md has the times of building and of
// look-ups, frozen_plan.hpp the sizes, docs/format.md the bytes. The same set of keys gives the same bytes on
// every machine, whatever their order and however often each key comes. insert and insert_many add keys to a
// builder (detail/key_calls.hpp).
//
// Threads: any number of look-ups at once. A builder is for one thread at a time.
#pragma once

#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/detail/fuse.hpp>
#include <bloomery/detail/kernel.hpp>
#include <bloomery/detail/key_calls.hpp>
#include <bloomery/frozen_plan.hpp>
#include <bloomery/hash.hpp>
#include <bloomery/stats.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bloomery {

namespace detail {
struct BuiltPartition;
class FrozenContents;
class KeySpool;
}  // namespace detail

// A filter that was moved from can only be assigned to or destroyed.
class FrozenFilter : public detail::KeyCalls<FrozenFilter> {
 public:
  // A filter of no keys. PlanError: the fpr is not in [1e-9, 0.5].
  explicit FrozenFilter(double fpr, const Hasher& hasher = Hasher());
  // A filter over plan.bytes() bytes that the caller owns and does not change. `keys` is plan.array.capacity, or 0
  // if that is 1 because there are no keys. Reads only the table of partitions. Error{corrupt}: the table does not
  // fit the plan or the bytes; {no_memory}; PlanError: an invalid plan.
  static FrozenFilter over(const FrozenPlan& plan, std::uint64_t keys, const Hasher& hasher,
                           std::span<const std::byte> bytes);
  // The same, over memory that the filter then owns.
  static FrozenFilter over(const FrozenPlan& plan, std::uint64_t keys, const Hasher& hasher,
                           detail::BitMemory memory);

  FrozenFilter(FrozenFilter&&) noexcept = default;
  FrozenFilter& operator=(FrozenFilter&& other) noexcept;

  // plan().array.bits is the size of the filter, plan().array.fpr the requested rate.
  [[nodiscard]] const FrozenPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }
  // The number of different keys. It is exact, except that keys with equal hashes count once.
  [[nodiscard]] std::uint64_t keys() const noexcept { return keys_; }
  // current_fpr is plan().fingerprint_fpr(). fill is the share of cells in use, 0.9 for large sets. The filter is
  // never over capacity.
  [[nodiscard]] Stats stats(Precision precision = Precision::sampled) const noexcept;

  [[nodiscard]] bool may_contain_hash(Hash128 hash) const noexcept {
    const detail::FusePartition& partition = partition_of(hash);
    const std::uint64_t mixed = detail::mix_key(hash.low, partition.seed);
    return partition.agrees(mixed, partition.cells_of(mixed));
  }

  // Prefetches the cells of a key.
  void prefetch(Hash128 hash) const noexcept {
    const detail::FusePartition& partition = partition_of(hash);
    const detail::FuseCells at = partition.cells_of(detail::mix_key(hash.low, partition.seed));
    for (const std::uint64_t cell : {at.first, at.second, at.third})
      detail::prefetch(partition.byte_of(cell));
  }
  // For a filter over bytes that the caller owns: tells it their new address.
  void moved_to(std::span<const std::byte> bytes) noexcept;

  // For tests: uses another kernel on the same cells.
  void use_kernel(const detail::FrozenKernel& kernel) noexcept { kernel_ = &kernel; }

  // The bytes of the filter: the table, then each partition.
  [[nodiscard]] std::vector<std::span<const std::byte>> pieces() const;

 private:
  friend class FrozenBuilder;
  friend class detail::KeyCalls<FrozenFilter>;

  FrozenFilter(const FrozenPlan& plan, const Hasher& hasher);
  FrozenFilter(const FrozenPlan& plan, const Hasher& hasher,
               std::vector<detail::BuiltPartition> built);
  std::size_t do_contain(std::span<const Hash128> hashes, bool* answers) const noexcept {
    return kernel_->contains_hashes(partitions_.data(), partitions_.size(), hashes.data(),
                                    hashes.size(), answers);
  }
  std::size_t do_contain(std::span<const std::uint64_t> keys, bool* answers) const noexcept {
    return kernel_->contains_integers(partitions_.data(), partitions_.size(),
                                      hasher_.seed_multiplier(), keys.data(), keys.size(), answers);
  }
  [[nodiscard]] const detail::FusePartition& partition_of(Hash128 hash) const noexcept {
    return partitions_[detail::partition_of_hash(hash, partitions_.size())];
  }

  FrozenPlan plan_;
  Hasher hasher_;
  const detail::FrozenKernel* kernel_;
  std::uint64_t keys_ = 0;
  std::vector<detail::FusePartition> partitions_;
  std::span<const std::byte> table_;
  std::vector<std::span<const std::byte>> cells_;
  std::vector<detail::BitMemory>
      memory_;  // of the table and the partitions; empty if the caller owns them
};

// Collects the keys of a set and builds its filter. It needs about eight bytes per key, and while it builds 38 more
// bytes per key of one partition. If the keys of a set do not fit into memory, build it into a file
// (filter_file.hpp), which keeps them in a temporary file. insert() always answers false, because only build()
// finds out which keys came twice.
class FrozenBuilder : public detail::KeyCalls<FrozenBuilder> {
 public:
  // PlanError: the fpr is not in [1e-9, 0.5].
  explicit FrozenBuilder(double fpr, const Hasher& hasher = Hasher());
  FrozenBuilder(FrozenBuilder&&) noexcept;
  FrozenBuilder& operator=(FrozenBuilder&&) noexcept;
  ~FrozenBuilder();

  [[nodiscard]] const Hasher& hasher() const noexcept { return hasher_; }
  [[nodiscard]] double fpr() const noexcept { return fpr_; }
  // The number of inserts so far, repeats included.
  [[nodiscard]] std::uint64_t inserted() const noexcept;

  // Error{no_memory}: the key was not added, but earlier keys were. The caller can try again.
  bool insert_hash(Hash128 hash) {
    do_insert({&hash, 1}, nullptr);
    return false;
  }

  // Takes the keys of another builder, which is empty afterwards. If several threads collect keys, each needs
  // its own builder.
  // Error{mismatch}: another hasher; {no_memory}: each builder still has its keys.
  void merge(FrozenBuilder&& other);

  // The filter of the keys so far, built by `threads` threads; 0 means one per core that the process may use. The
  // builder is empty afterwards. Error{no_memory | too_large | io}: the builder still has its keys, and build()
  // can be called again.
  [[nodiscard]] FrozenFilter build(unsigned threads = 1);

 private:
  friend class detail::KeyCalls<FrozenBuilder>;
  friend class detail::FrozenContents;
  std::size_t do_insert(std::span<const Hash128> hashes, bool* answers);
  // Call it before the first key. At most `most_in_memory` keys stay in memory (src/filter/frozen_keys.hpp).
  void spool_to(std::unique_ptr<detail::KeySpool> spool, std::uint64_t most_in_memory);

  Hasher hasher_;
  double fpr_;
  class Keys;
  std::unique_ptr<Keys> keys_;

  // `different`: the number of different keys in each bucket; empty: it is not known.
  [[nodiscard]] static std::vector<detail::BuiltPartition> build_partitions(
      const Keys& keys, const FrozenPlan& plan, unsigned threads,
      std::span<const std::uint64_t> different);
};

}  // namespace bloomery
