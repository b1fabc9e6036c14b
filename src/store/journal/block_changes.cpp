// Inserts keys into copies of blocks, and replaces the blocks by the copies.
#include "store/journal/block_changes.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace bloomery::detail {

void BlockChanges::begin(std::size_t keys) {
  const std::size_t blocks = keys * blocks_per_key(view_->plan());
  const std::size_t entries = std::bit_ceil(2 * blocks);
  if (table_.size() < entries) table_.resize(entries);
  std::fill_n(table_.begin(), entries, 0U);
  mask_ = entries - 1;
  copies_.clear();
  copies_.reserve(blocks);
  gain_ = 0;
}

BlockChanges::Copy& BlockChanges::copy_of(std::uint64_t block) {
  std::uint64_t entry = (block * kSpreadMultiplier >> 32) & mask_;
  for (; table_[entry] != 0; entry = (entry + 1) & mask_)
    if (copies_[table_[entry] - 1].block == block) return copies_[table_[entry] - 1];
  Copy& copy = copies_.emplace_back();
  table_[entry] = static_cast<std::uint32_t>(copies_.size());
  std::memcpy(copy.words, view_->bytes().data() + block * kBlockBytes, kBlockBytes);
  copy.block = block;
  copy.before = copy.now = block_sum(copy.words, block % kBlocksPerChunk);
  return copy;
}

void BlockChanges::note_change(Copy& copy) noexcept {
  copy.changed = true;
  const std::uint64_t sum = block_sum(copy.words, copy.block % kBlocksPerChunk);
  gain_ += (sum - copy.now) * chunk_weight(copy.block / kBlocksPerChunk);
  copy.now = sum;
}

bool BlockChanges::insert(Hash128 hash) {
  const BitArray& array = view_->bit_array();
  return visit_layout(view_->plan().layout, [&](auto layout) {
    bool fresh = false;
    layout.each_block(array, hash, [&](const KeyBlock& at) {
      Copy& copy = copy_of(at.block);
      if (set_block(layout, array, at, copy.words)) {
        note_change(copy);
        fresh = true;
      }
      return true;
    });
    return fresh;
  });
}

void BlockChanges::apply(std::span<std::byte> bits, Sums& sums) const noexcept {
  constexpr std::size_t kAhead = 16;
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    if (i + kAhead < copies_.size())
      __builtin_prefetch(bits.data() + copies_[i + kAhead].block * kBlockBytes);
    const Copy& copy = copies_[i];
    if (!copy.changed) continue;
    std::memcpy(bits.data() + copy.block * kBlockBytes, copy.words, kBlockBytes);
    const std::uint64_t chunk = copy.block / kBlocksPerChunk;
    sums[chunk] += (copy.now - copy.before) * chunk_weight(chunk);
  }
}

}  // namespace bloomery::detail
