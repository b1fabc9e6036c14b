// Inserting into copies of lines, and putting the copies in place.
#include "store/line_changes.hpp"

#include "store/key_lines.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace bloomery::detail {

void LineChanges::begin(std::size_t keys) {
  const std::size_t lines = keys * lines_per_key(view_->plan());
  const std::size_t slots = std::bit_ceil(2 * lines);
  if (slots_.size() < slots) slots_.resize(slots);
  std::fill_n(slots_.begin(), slots, 0U);
  mask_ = slots - 1;
  copies_.clear();
  copies_.reserve(lines);
  gain_ = 0;
}

LineChanges::Copy& LineChanges::copy_of(std::uint64_t line) {
  std::uint64_t slot = (line * kSpreadMultiplier >> 32) & mask_;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask_)
    if (copies_[slots_[slot] - 1].line == line) return copies_[slots_[slot] - 1];
  Copy& copy = copies_.emplace_back();
  slots_[slot] = static_cast<std::uint32_t>(copies_.size());
  std::memcpy(copy.words, view_->bytes().data() + line * kLineBytes, kLineBytes);
  copy.line = line;
  copy.before = copy.now = line_sum(copy.words, line % kLinesPerChunk);
  return copy;
}

void LineChanges::note_change(Copy& copy) noexcept {
  copy.changed = true;
  const std::uint64_t sum = line_sum(copy.words, copy.line % kLinesPerChunk);
  gain_ += (sum - copy.now) * chunk_weight(copy.line / kLinesPerChunk);
  copy.now = sum;
}

bool LineChanges::insert(Hash128 hash) {
  const Shape& shape = view_->shape();
  const auto set = [&](Hash128 part) {
    Copy& copy = copy_of(scale(part.high, shape.lines));
    if (!ScalarLine::set(copy.words, part.low, *shape.masks)) return false;
    note_change(copy);
    return true;
  };
  if (view_->plan().layout == Layout::line) return set(hash);
  if (view_->plan().layout == Layout::pair) {
    const bool first = set(hash);
    return set(second_hash(hash)) || first;
  }
  bool fresh = false;
  const auto turn_on = [&](std::uint64_t position) {
    Copy& copy = copy_of(position / kLineBits);
    std::uint32_t* word = copy.words + position % kLineBits / 32;
    const std::uint32_t old = ScalarLine::load(word);
    const std::uint32_t wanted = std::uint32_t{1} << (position % 32);
    if ((old & wanted) != 0) return true;
    ScalarLine::store(word, old | wanted);
    note_change(copy);
    return fresh = true;
  };
  if (cell_bits(view_->plan().layout) != 0) {
    visit_narrow_bits(shape, hash, turn_on);
    return fresh;
  }
  PositionSequence sequence(hash);
  for (std::uint32_t i = 0; i < shape.hashes; ++i, sequence.advance())
    turn_on(sequence.position(shape.bits));
  return fresh;
}

void LineChanges::apply(std::span<std::byte> bits, Sums& sums) const noexcept {
  constexpr std::size_t kAhead = 16;
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    if (i + kAhead < copies_.size())
      __builtin_prefetch(bits.data() + copies_[i + kAhead].line * kLineBytes);
    const Copy& copy = copies_[i];
    if (!copy.changed) continue;
    std::memcpy(bits.data() + copy.line * kLineBytes, copy.words, kLineBytes);
    const std::uint64_t chunk = copy.line / kLinesPerChunk;
    sums[chunk] += (copy.now - copy.before) * chunk_weight(chunk);
  }
}

}  // namespace bloomery::detail
