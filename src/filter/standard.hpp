// The standard layout: k bits anywhere. It needs no vector unit: its time is the memory's.
#pragma once

#include "filter/bits.hpp"
#include "filter/bulk.hpp"

namespace bloomery::detail {

namespace {

template <class Bits>
struct StandardLayout {
  struct Batch {
    Hash128 hash[kBatch];
  };
  static constexpr std::size_t kDepth = 2;  // times 16 keys, times k blocks each

  template <class Source>
  static void locate(const BitArray& bit_array, const Source& source, std::size_t first,
                     std::size_t count, Batch& batch) noexcept {
    (void)bit_array;
    for (std::size_t i = 0; i < count; ++i) batch.hash[i] = source(first + i);
  }
  static void prefetch(const BitArray& bit_array, const Batch& batch, std::size_t i) noexcept {
    PositionSequence sequence(batch.hash[i]);
    for (std::uint32_t j = 0; j < bit_array.hashes; ++j, sequence.advance())
      __builtin_prefetch(bit_array.words + sequence.position(bit_array.bits) / 32);
  }
  static bool insert_one(const BitArray& bit_array, Hash128 hash) noexcept {
    PositionSequence sequence(hash);
    std::uint32_t missing = 0;
    for (std::uint32_t j = 0; j < bit_array.hashes; ++j, sequence.advance())
      missing |= Bits::set(bit_array, sequence.position(bit_array.bits));
    return missing != 0;
  }
  static bool contains_one(const BitArray& bit_array, Hash128 hash) noexcept {
    PositionSequence sequence(hash);
    for (std::uint32_t j = 0; j < bit_array.hashes; ++j, sequence.advance())
      if (!Bits::test(bit_array, sequence.position(bit_array.bits))) return false;
    return true;
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
