// The lines that a key's bits are in, for those who must know what an insert changes.
#pragma once

#include <bloomery/filter_view.hpp>

#include "format/layout.hpp"

#include <cstdint>

namespace bloomery::detail {

[[nodiscard]] inline std::uint32_t lines_per_key(const Plan& plan) noexcept {
  switch (plan.layout) {
    case Layout::line:
    case Layout::line128:
    case Layout::line64:
      return 1;
    case Layout::pair:
      return 2;
    case Layout::classic:
      break;
  }
  return plan.hashes;
}

// Calls visit(line) for each; a line may come more than once.
template <class Visit>
void for_each_line(const FilterView& view, Hash128 hash, Visit visit) {
  const Shape& shape = view.shape();
  switch (view.plan().layout) {
    case Layout::line:
      visit(scale(hash.high, shape.lines));
      return;
    case Layout::line128:
    case Layout::line64:
      visit(first_narrow_bit(shape, hash.high) / kLineBits);
      return;
    case Layout::pair:
      visit(scale(hash.high, shape.lines));
      visit(scale(second_hash(hash).high, shape.lines));
      return;
    case Layout::classic:
      break;
  }
  PositionSequence sequence(hash);
  for (std::uint32_t i = 0; i < shape.hashes; ++i, sequence.advance())
    visit(sequence.position(shape.bits) / kLineBits);
}

}  // namespace bloomery::detail
