// Narrow lines: sixteen words of 8 or 4 bits, the plain twins of counting filters.
//
// They exist so that a counting filter can become a plain one, bit by bit. Nothing chooses them
// for speed, so this scalar kernel is all they have.
#pragma once

#include "filter/bits.hpp"
#include "filter/bulk.hpp"

namespace bloomery::detail {

namespace {

template <class Bits>
struct NarrowLayout {
  struct Block {
    Hash128 hash[kBlock];
  };
  static constexpr std::size_t kWindow = 8;

  template <class Source>
  static void locate(const Shape& shape, const Source& source, std::size_t first, std::size_t count,
                     Block& block) noexcept {
    (void)shape;
    for (std::size_t i = 0; i < count; ++i) block.hash[i] = source(first + i);
  }
  static void prefetch(const Shape& shape, const Block& block, std::size_t i) noexcept {
    __builtin_prefetch(shape.words + first_narrow_bit(shape, block.hash[i].high) / 32);
  }
  static bool insert_one(const Shape& shape, Hash128 hash) noexcept {
    std::uint32_t missing = 0;
    visit_narrow_bits(shape, hash, [&](std::uint64_t position) {
      missing |= Bits::set(shape, position);
      return true;
    });
    return missing != 0;
  }
  static bool contains_one(const Shape& shape, Hash128 hash) noexcept {
    return visit_narrow_bits(shape, hash,
                             [&](std::uint64_t position) { return Bits::test(shape, position); });
  }
  static bool set(const Shape& shape, const Block& block, std::size_t i) noexcept {
    return insert_one(shape, block.hash[i]);
  }
  static bool test(const Shape& shape, const Block& block, std::size_t i) noexcept {
    return contains_one(shape, block.hash[i]);
  }
};

}  // namespace
}  // namespace bloomery::detail
