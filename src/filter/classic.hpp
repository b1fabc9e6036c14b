// The classic layout: k bits anywhere. It needs no vector unit: its time is the memory's.
#pragma once

#include "filter/bits.hpp"
#include "filter/bulk.hpp"

namespace bloomery::detail {

namespace {

template <class Bits>
struct ClassicLayout {
  struct Block {
    Hash128 hash[kBlock];
  };
  static constexpr std::size_t kWindow = 2;  // times 16 keys, times k lines each

  template <class Source>
  static void locate(const Shape& shape, const Source& source, std::size_t first, std::size_t count,
                     Block& block) noexcept {
    (void)shape;
    for (std::size_t i = 0; i < count; ++i) block.hash[i] = source(first + i);
  }
  static void prefetch(const Shape& shape, const Block& block, std::size_t i) noexcept {
    PositionSequence sequence(block.hash[i]);
    for (std::uint32_t j = 0; j < shape.hashes; ++j, sequence.advance())
      __builtin_prefetch(shape.words + sequence.position(shape.bits) / 32);
  }
  static bool insert_one(const Shape& shape, Hash128 hash) noexcept {
    PositionSequence sequence(hash);
    std::uint32_t missing = 0;
    for (std::uint32_t j = 0; j < shape.hashes; ++j, sequence.advance())
      missing |= Bits::set(shape, sequence.position(shape.bits));
    return missing != 0;
  }
  static bool contains_one(const Shape& shape, Hash128 hash) noexcept {
    PositionSequence sequence(hash);
    for (std::uint32_t j = 0; j < shape.hashes; ++j, sequence.advance())
      if (!Bits::test(shape, sequence.position(shape.bits))) return false;
    return true;
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
