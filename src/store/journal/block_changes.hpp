// The changes that a batch of keys makes to the bits, computed in copies of the blocks.
//
// A `sync` writer must not change the bits before the journal is on the device, and each journal record has the total
// that the bits will have after it. So the keys are inserted into copies of their blocks; when the journal is on the
// device, the copies replace the blocks.
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

  // Drops all copies and makes room for so many keys.
  void begin(std::size_t keys);
  // True: the key was certainly new.
  bool insert(Hash128 hash);
  // The difference that the changes so far make to the total.
  [[nodiscard]] std::uint64_t gain() const noexcept { return gain_; }
  // Applies the changes to the bits and to the sums of their chunks.
  void apply(std::span<std::byte> bits, Sums& sums) const noexcept;

 private:
  struct Copy {
    alignas(64) std::uint32_t words[kBlockBytes / 4];
    std::uint64_t block;
    std::uint64_t before;  // the sum of the block in the bits
    std::uint64_t now;     // the sum of this copy
    bool changed;
  };

  Copy& copy_of(std::uint64_t block);
  void note_change(Copy& copy) noexcept;

  const FilterView* view_;
  std::vector<Copy> copies_;
  std::vector<std::uint32_t> table_;  // by block, with open addressing; 0: empty, else index + 1
  std::uint64_t mask_ = 0;
  std::uint64_t gain_ = 0;
};

}  // namespace bloomery::detail
