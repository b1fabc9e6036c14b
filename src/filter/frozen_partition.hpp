// Building one partition of a frozen filter from the keys of its buckets.
#pragma once

#include <bloomery/detail/bit_memory.hpp>
#include <bloomery/detail/fuse.hpp>

#include <cstdint>
#include <span>

#include "filter/scratch_memory.hpp"
#include "plan/fuse_geometry.hpp"

namespace bloomery::detail {

[[nodiscard]] inline FusePartition fuse_of(const PartitionGeometry& geometry, std::uint64_t seed,
                                           std::uint32_t bits, const std::byte* cells) noexcept {
  return {.cells = cells,
          .seed = seed,
          .first_cells = static_cast<std::uint32_t>(geometry.first_cells()),
          .mask = static_cast<std::uint32_t>((std::uint64_t{1} << bits) - 1),
          .segment_mask = (std::uint32_t{1} << geometry.segment_bits) - 1,
          .bits = bits};
}

struct BuiltPartition {
  PartitionGeometry geometry;
  std::uint64_t seed = 0;
  std::uint64_t keys = 0;  // different keys
  std::uint32_t bits = 0;
  BitMemory cells;  // geometry.bytes(bits)

  [[nodiscard]] FusePartition fuse() const noexcept {
    return fuse_of(geometry, seed, bits, cells.bytes().data());
  }
};

// The memory for building, reused for one partition after the other: about 30 bytes per key.
class PartitionBuilder {
 public:
  // The room for the next partition's keys. Throws std::bad_alloc.
  [[nodiscard]] std::span<std::uint64_t> room_for(std::size_t keys);
  // `keys` is the result of room_for(), or its first part. The filter depends only on the set of keys, not on their
  // order or on how often they come. Throws std::bad_alloc; Error{no_memory}; Error{too_large}: more than 2^31 keys.
  [[nodiscard]] BuiltPartition build(std::span<std::uint64_t> keys, std::uint32_t bits);

 private:
  // Puts keys whose first cells are near next to each other, so that their other cells stay in the second-level
  // cache of the processor. Returns where the keys are now.
  template <class Change>
  [[nodiscard]] std::span<std::uint64_t> place(std::span<std::uint64_t> keys, std::size_t room,
                                               Change change);
  [[nodiscard]] bool peel(std::span<const std::uint64_t> keys, const BuiltPartition& partition);
  void fill(BuiltPartition& partition);

  ScratchMemory<std::uint64_t> keys_;
  ScratchMemory<std::uint64_t> keys_of_cell_;  // by cell: the exclusive or of the keys left
  ScratchMemory<std::uint8_t> count_;          // by cell: the number of keys left
  ScratchMemory<std::uint32_t> order_;         // cells that were peeled, then cells that wait
  std::size_t peeled_ = 0;
};

}  // namespace bloomery::detail
