// The shape of a valid plan over given words.
#pragma once

#include <bloomery/detail/kernel.hpp>
#include <bloomery/plan.hpp>

#include <algorithm>

namespace bloomery::detail {

[[nodiscard]] inline Shape shape_of(const Plan& plan, std::uint32_t* words) noexcept {
  const std::uint32_t words_per_line =
      plan.layout == Layout::pair ? plan.hashes / 2 : std::min(plan.hashes, 16U);
  // A narrow line is the bits of a counting filter's line of 64 bytes: a fourth or an eighth.
  const std::uint32_t parts = std::max(1U, cell_bits(plan.layout));
  return {.words = words,
          .lines = plan.lines() * parts,
          .bits = plan.bits,
          .hashes = plan.hashes,
          .line_bits = static_cast<std::uint32_t>(kLineBits) / parts,
          .masks = &word_masks(words_per_line)};
}

}  // namespace bloomery::detail
