// Inserting into copies of blocks, and putting the copies in place.
#include "store/block_changes.hpp"

#include "store/key_blocks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace bloomery::detail {

void BlockChanges::begin(std::size_t keys) {
  const std::size_t blocks = keys * blocks_per_key(view_->plan());
  const std::size_t slots = std::bit_ceil(2 * blocks);
  if (slots_.size() < slots) slots_.resize(slots);
  std::fill_n(slots_.begin(), slots, 0U);
  mask_ = slots - 1;
  copies_.clear();
  copies_.reserve(blocks);
  gain_ = 0;
}

BlockChanges::Copy& BlockChanges::copy_of(std::uint64_t block) {
  std::uint64_t slot = (block * kSpreadMultiplier >> 32) & mask_;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask_)
    if (copies_[slots_[slot] - 1].block == block) return copies_[slots_[slot] - 1];
  Copy& copy = copies_.emplace_back();
  slots_[slot] = static_cast<std::uint32_t>(copies_.size());
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
  const BitArray& bit_array = view_->bit_array();
  const auto set = [&](Hash128 part) {
    Copy& copy = copy_of(fast_range(part.high, bit_array.blocks));
    if (!ScalarBlock::set(copy.words, part.low, *bit_array.masks)) return false;
    note_change(copy);
    return true;
  };
  if (view_->plan().layout == Layout::blocked) return set(hash);
  if (view_->plan().layout == Layout::blocked2) {
    const bool first = set(hash);
    return set(second_hash(hash)) || first;
  }
  bool fresh = false;
  const auto turn_on = [&](std::uint64_t position) {
    Copy& copy = copy_of(position / kBlockBits);
    std::uint32_t* word = copy.words + position % kBlockBits / 32;
    const std::uint32_t old = ScalarBlock::load(word);
    const std::uint32_t wanted = std::uint32_t{1} << (position % 32);
    if ((old & wanted) != 0) return true;
    ScalarBlock::store(word, old | wanted);
    note_change(copy);
    return fresh = true;
  };
  if (counter_bits(view_->plan().layout) != 0) {
    visit_narrow_bits(bit_array, hash, turn_on);
    return fresh;
  }
  PositionSequence sequence(hash);
  for (std::uint32_t i = 0; i < bit_array.hashes; ++i, sequence.advance())
    turn_on(sequence.position(bit_array.bits));
  return fresh;
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
