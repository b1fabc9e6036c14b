// What a batch of keys would do to the bits, worked out beside them.
//
// A `sync` writer may not touch the bits before the journal is on the device, and each
// journal record carries the total that the bits will then have. So the keys are inserted
// into copies of their blocks; once the journal is safe, the copies become the blocks.
#pragma once

#include <bloomery/filter_view.hpp>

#include "format/sums.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace bloomery::detail {

class BlockChanges {
 public:
  explicit BlockChanges(const FilterView& view) noexcept : view_(&view) {}

  // Forgets everything and makes room for so many keys.
  void begin(std::size_t keys);
  // True: the key was certainly not there before.
  bool insert(Hash128 hash);
  // What the changes so far add to the total.
  [[nodiscard]] std::uint64_t gain() const noexcept { return gain_; }
  // Makes them so: in the bits and in the sums of their chunks.
  void apply(std::span<std::byte> bits, Sums& sums) const noexcept;

 private:
  struct Copy {
    alignas(64) std::uint32_t words[kBlockBytes / 4];
    std::uint64_t block;
    std::uint64_t before;  // the block's sum in the bits
    std::uint64_t now;     // and in this copy
    bool changed;
  };

  Copy& copy_of(std::uint64_t block);
  void note_change(Copy& copy) noexcept;

  const FilterView* view_;
  std::vector<Copy> copies_;
  std::vector<std::uint32_t> slots_;  // by block, open addressing; 0: none, else index + 1
  std::uint64_t mask_ = 0;
  std::uint64_t gain_ = 0;
};

}  // namespace bloomery::detail
