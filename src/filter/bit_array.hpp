// The shape of a valid plan over given words.
#pragma once

#include <bloomery/detail/kernel.hpp>
#include <bloomery/plan.hpp>

#include <algorithm>

namespace bloomery::detail {

[[nodiscard]] inline BitArray bit_array_of(const Plan& plan, std::uint32_t* words) noexcept {
  const std::uint32_t words_per_block =
      plan.layout == Layout::blocked2 ? plan.hashes / 2 : std::min(plan.hashes, 16U);
  // A narrow block is the bits of a counting filter's block of 64 bytes: a fourth or an eighth.
  const std::uint32_t parts = std::max(1U, counter_bits(plan.layout));
  return {.words = words,
          .blocks = plan.blocks() * parts,
          .bits = plan.bits,
          .hashes = plan.hashes,
          .block_bits = static_cast<std::uint32_t>(kBlockBits) / parts,
          .masks = &word_masks(words_per_block)};
}

}  // namespace bloomery::detail
