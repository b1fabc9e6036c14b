// The kernel of frozen filters: the three cells of a key are on their way from memory while earlier keys are tested.
//
// Included by the file of each instruction set, as ring.hpp is.
#pragma once

#include <bloomery/detail/fuse.hpp>

#include "filter/kernels/ring.hpp"

namespace bloomery::detail {
namespace {

struct CellsOfBatch {
  const std::byte* from[3][kBatch];
  std::uint64_t shift[3][kBatch];
  std::uint64_t fingerprint[kBatch], mask[kBatch];
};

// Locates the cells of keys. An instruction set may have its own version as Set::Partitions, with a locate() for
// kBatch keys at once.
struct PartitionList {
  const FusePartition* partitions;
  std::size_t count;

  template <class Source>
  [[gnu::always_inline]] void locate(const Source& source, std::size_t first, std::size_t keys,
                                     CellsOfBatch& batch) const noexcept {
    for (std::size_t i = 0; i < keys; ++i) {
      const Hash128 hash = source(first + i);
      const FusePartition& partition = partitions[partition_of_hash(hash, count)];
      const std::uint64_t mixed = mix_key(hash.low, partition.seed);
      const FuseCells at = partition.cells_of(mixed);
      const std::uint64_t cells[3] = {at.first, at.second, at.third};
      for (std::size_t j = 0; j < 3; ++j) {
        batch.from[j][i] = partition.byte_of(cells[j]);
        batch.shift[j][i] = cells[j] * partition.bits & 7;
      }
      batch.fingerprint[i] = FusePartition::fingerprint(mixed);
      batch.mask[i] = partition.mask;
    }
  }
};

template <class Partitions>
struct KeysOfPartitions {
  using Batch = CellsOfBatch;
  // Measured with 100 million keys at 1 % and AVX-512: two batches take 1.1 times as long as four, six
  // batches 1.05 times.
  static constexpr std::size_t kBatchesAhead = 4;

  template <class Source>
  [[gnu::always_inline]] static void locate(const Partitions& partitions, const Source& source,
                                            std::size_t first, std::size_t count,
                                            Batch& batch) noexcept {
    partitions.locate(source, first, count, batch);
  }
  [[gnu::always_inline]] static void prefetch(const Partitions&, const Batch& batch,
                                              std::size_t i) noexcept {
    for (std::size_t j = 0; j < 3; ++j) __builtin_prefetch(batch.from[j][i]);
  }
  [[gnu::always_inline]] static bool contains(const Partitions&, const Batch& batch,
                                              std::size_t i) noexcept {
    std::uint64_t cells = batch.fingerprint[i];
    for (std::size_t j = 0; j < 3; ++j) cells ^= load_cells(batch.from[j][i]) >> batch.shift[j][i];
    return (cells & batch.mask[i]) == 0;
  }
};

template <class Set>
constexpr auto partitions_of() {
  if constexpr (requires { typename Set::Partitions; })
    return static_cast<typename Set::Partitions*>(nullptr);
  else
    return static_cast<PartitionList*>(nullptr);
}

template <class Set>
constexpr FrozenKernel make_frozen_kernel() {
  using Partitions = std::remove_pointer_t<decltype(partitions_of<Set>())>;
  using Keys = KeysOfPartitions<Partitions>;
  return {Set::kName,
          [](const FusePartition* partitions, std::size_t count, const Hash128* hashes,
             std::size_t keys, bool* answers) noexcept {
            return run<Keys, Contains>(Partitions{partitions, count}, FromHashes{hashes}, keys,
                                       answers);
          },
          [](const FusePartition* partitions, std::size_t count, std::uint64_t seed_multiplier,
             const std::uint64_t* integers, std::size_t keys, bool* answers) noexcept {
            return run<Keys, Contains>(Partitions{partitions, count},
                                       FromIntegers{integers, seed_multiplier}, keys, answers);
          }};
}

}  // namespace
}  // namespace bloomery::detail
