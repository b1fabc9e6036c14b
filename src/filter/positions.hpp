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

#include "filter/shape.hpp"

namespace bloomery::detail {

class Positions {
 public:
  explicit Positions(const Plan& plan) noexcept
      : layout_(plan.layout), shape_(shape_of(plan, nullptr)) {}

  // Writes as many positions as the plan has hashes; in `classic` and `pair` some may be equal.
  void operator()(Hash128 hash, std::span<std::uint64_t> out) const noexcept {
    switch (layout_) {
      case Layout::line:
        in_line(hash, out);
        return;
      case Layout::pair:
        in_line(hash, out);
        in_line(second_hash(hash), out.subspan(shape_.hashes / 2));
        return;
      case Layout::classic: {
        PositionSequence sequence(hash);
        for (std::uint64_t& position : out.first(shape_.hashes)) {
          position = sequence.position(shape_.bits);
          sequence.advance();
        }
        return;
      }
      case Layout::line128:
      case Layout::line64: {
        std::size_t written = 0;
        visit_narrow_bits(shape_, hash, [&](std::uint64_t position) {
          out[written++] = position;
          return true;
        });
        return;
      }
    }
  }

 private:
  void in_line(Hash128 hash, std::span<std::uint64_t> out) const noexcept {
    const std::uint64_t first = scale(hash.high, shape_.lines) * kLineBits;
    std::size_t written = 0;
    for (std::uint32_t words = shape_.masks->of[hash.low >> 58]; words != 0; words &= words - 1) {
      const auto word = static_cast<unsigned>(std::countr_zero(words));
      const auto bit = static_cast<unsigned>(std::countr_zero(ScalarLine::bit(hash.low, word)));
      out[written++] = first + std::uint64_t{word} * 32 + bit;
    }
  }

  Layout layout_;
  Shape shape_;
};

}  // namespace bloomery::detail
