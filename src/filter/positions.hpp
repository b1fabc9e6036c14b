// The bits of a key as numbers, for arrays that are not in this process's memory.
//
// Bit p is bit p % 8, from the least significant, of byte p / 8 of a filter's bytes. These are the
// definitions of line.hpp and kernel.hpp; tests/filter holds them against the kernels.
#pragma once

#include <bloomery/detail/kernel.hpp>
#include <bloomery/plan.hpp>

#include <bit>
#include <cstdint>
#include <span>

#include "filter/bit_array.hpp"

namespace bloomery::detail {

class Positions {
 public:
  explicit Positions(const Plan& plan) noexcept
      : layout_(plan.layout), bit_array_(bit_array_of(plan, nullptr)) {}

  // Writes as many positions as the plan has hashes; in `standard` and `blocked2` some may be equal.
  void operator()(Hash128 hash, std::span<std::uint64_t> out) const noexcept {
    switch (layout_) {
      case Layout::blocked:
        in_block(hash, out);
        return;
      case Layout::blocked2:
        in_block(hash, out);
        in_block(second_hash(hash), out.subspan(bit_array_.hashes / 2));
        return;
      case Layout::standard: {
        PositionSequence sequence(hash);
        for (std::uint64_t& position : out.first(bit_array_.hashes)) {
          position = sequence.position(bit_array_.bits);
          sequence.advance();
        }
        return;
      }
      case Layout::blocked128:
      case Layout::blocked64: {
        std::size_t written = 0;
        visit_narrow_bits(bit_array_, hash, [&](std::uint64_t position) {
          out[written++] = position;
          return true;
        });
        return;
      }
    }
  }

 private:
  void in_block(Hash128 hash, std::span<std::uint64_t> out) const noexcept {
    const std::uint64_t first = fast_range(hash.high, bit_array_.blocks) * kBlockBits;
    std::size_t written = 0;
    for (std::uint32_t words = bit_array_.masks->of[hash.low >> 58]; words != 0;
         words &= words - 1) {
      const auto word = static_cast<unsigned>(std::countr_zero(words));
      const auto bit = static_cast<unsigned>(std::countr_zero(ScalarBlock::bit(hash.low, word)));
      out[written++] = first + std::uint64_t{word} * 32 + bit;
    }
  }

  Layout layout_;
  BitArray bit_array_;
};

}  // namespace bloomery::detail
