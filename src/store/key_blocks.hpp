// The blocks that a key's bits are in, for those who must know what an insert changes.
#pragma once

#include <bloomery/filter_view.hpp>

#include "format/layout.hpp"

#include <cstdint>

namespace bloomery::detail {

[[nodiscard]] inline std::uint32_t blocks_per_key(const Plan& plan) noexcept {
  switch (plan.layout) {
    case Layout::blocked:
    case Layout::blocked128:
    case Layout::blocked64:
      return 1;
    case Layout::blocked2:
      return 2;
    case Layout::standard:
      break;
  }
  return plan.hashes;
}

// Calls visit(block) for each; a block may come more than once.
template <class Visit>
void for_each_block(const FilterView& view, Hash128 hash, Visit visit) {
  const BitArray& bit_array = view.bit_array();
  switch (view.plan().layout) {
    case Layout::blocked:
      visit(fast_range(hash.high, bit_array.blocks));
      return;
    case Layout::blocked128:
    case Layout::blocked64:
      visit(first_narrow_bit(bit_array, hash.high) / kBlockBits);
      return;
    case Layout::blocked2:
      visit(fast_range(hash.high, bit_array.blocks));
      visit(fast_range(second_hash(hash).high, bit_array.blocks));
      return;
    case Layout::standard:
      break;
  }
  PositionSequence sequence(hash);
  for (std::uint32_t i = 0; i < bit_array.hashes; ++i, sequence.advance())
    visit(sequence.position(bit_array.bits) / kBlockBits);
}

}  // namespace bloomery::detail
