// Narrow lines: sixteen words of 8 or 4 bits, the plain twins of counting filters.
//
// They exist so that a counting filter can become a plain one, bit by bit. Nothing chooses them
// for speed, so this scalar kernel is all they have.
#pragma once

#include "filter/bulk.hpp"

namespace bloomery::detail {

namespace {

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
      std::uint32_t* word = shape.words + position / 32;
      const std::uint32_t wanted = std::uint32_t{1} << (position % 32);
      const std::uint32_t old = ScalarLine::load(word);
      missing |= wanted & ~old;
      ScalarLine::store(word, old | wanted);
      return true;
    });
    return missing != 0;
  }
  static bool contains_one(const Shape& shape, Hash128 hash) noexcept {
    return visit_narrow_bits(shape, hash, [&](std::uint64_t position) {
      return (ScalarLine::load(shape.words + position / 32) >> (position % 32) & 1) != 0;
    });
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
