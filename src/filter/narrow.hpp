// Narrow blocks: sixteen words of 8 or 4 bits, the plain twins of counting filters.
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
  struct Batch {
    Hash128 hash[kBatch];
  };
  static constexpr std::size_t kDepth = 8;

  template <class Source>
  static void locate(const BitArray& bit_array, const Source& source, std::size_t first,
                     std::size_t count, Batch& batch) noexcept {
    (void)bit_array;
    for (std::size_t i = 0; i < count; ++i) batch.hash[i] = source(first + i);
  }
  static void prefetch(const BitArray& bit_array, const Batch& batch, std::size_t i) noexcept {
    __builtin_prefetch(bit_array.words + first_narrow_bit(bit_array, batch.hash[i].high) / 32);
  }
  static bool insert_one(const BitArray& bit_array, Hash128 hash) noexcept {
    std::uint32_t missing = 0;
    visit_narrow_bits(bit_array, hash, [&](std::uint64_t position) {
      missing |= Bits::set(bit_array, position);
      return true;
    });
    return missing != 0;
  }
  static bool contains_one(const BitArray& bit_array, Hash128 hash) noexcept {
    return visit_narrow_bits(
        bit_array, hash, [&](std::uint64_t position) { return Bits::test(bit_array, position); });
  }
  static bool set(const BitArray& bit_array, const Batch& batch, std::size_t i) noexcept {
    return insert_one(bit_array, batch.hash[i]);
  }
  static bool test(const BitArray& bit_array, const Batch& batch, std::size_t i) noexcept {
    return contains_one(bit_array, batch.hash[i]);
  }
};

}  // namespace
}  // namespace bloomery::detail
