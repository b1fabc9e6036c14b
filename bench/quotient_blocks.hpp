// The memory of a quotient filter: blocks of 64 slots, with the operations that see bits and not keys.
//
// A block has one word of `occupied` bits (bit i: some key has quotient 64 b + i), one of `runends`
// (bit i: slot i is the last of a run), r words of values and a 16-bit offset. Values are sliced: bit j
// of the values of all 64 slots is word j. So one pass over r words compares a value with 64 slots, tells
// which slots are empty, or moves 64 slots by one. The value 0 is an empty slot.
//
// The first `offset` slots of a block belong to runs of earlier blocks.
#pragma once

#include <bloomery/detail/bit_memory.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#ifdef __BMI2__
#include <immintrin.h>
#endif

namespace bloomery::bench {

// The position of the k-th set bit, counted from 0.
[[nodiscard]] inline std::uint64_t select_one(std::uint64_t word, unsigned k) noexcept {
#ifdef __BMI2__
  return static_cast<unsigned>(std::countr_zero(_pdep_u64(std::uint64_t{1} << k, word)));
#else
  for (; k != 0; --k) word &= word - 1;
  return static_cast<unsigned>(std::countr_zero(word));
#endif
}

// Masks with ones from bit i on, and below it.
[[nodiscard]] constexpr std::uint64_t ones_from(std::uint64_t i) noexcept {
  return ~std::uint64_t{0} << (i % 64);
}
[[nodiscard]] constexpr std::uint64_t ones_below(std::uint64_t i) noexcept { return ~ones_from(i); }

class QuotientBlocks {
 public:
  static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
  static constexpr std::uint64_t kMaxOffset = 0xFFFF;

  QuotientBlocks(std::uint64_t blocks, unsigned value_bits)
      : blocks_(blocks),
        value_bits_(value_bits),
        stride_(kValues + 8 * value_bits),
        memory_(blocks * stride_),
        bytes_(memory_.bytes().data()) {}

  [[nodiscard]] std::uint64_t bytes() const noexcept { return blocks_ * stride_; }
  [[nodiscard]] std::uint64_t slots() const noexcept { return blocks_ * 64; }
  [[nodiscard]] unsigned value_bits() const noexcept { return value_bits_; }
  void clear() noexcept { std::memset(bytes_, 0, bytes()); }

  // A block has two cache lines, rarely three. Inlined, since GCC 12 drops calls of a function that only
  // prefetches.
  [[gnu::always_inline]] void prefetch(std::uint64_t slot) const noexcept {
    const std::byte* block = bytes_ + slot / 64 * stride_;
    __builtin_prefetch(block);
    __builtin_prefetch(block + stride_ - 1);
  }

  // ---- occupied, offsets ---------------------------------------------------------------------------

  [[nodiscard]] std::uint64_t occupied(std::uint64_t block) const noexcept {
    return load(block, kOccupied);
  }
  [[nodiscard]] bool is_occupied(std::uint64_t slot) const noexcept {
    return (occupied(slot / 64) >> (slot % 64) & 1) != 0;
  }
  void set_occupied(std::uint64_t slot, bool value) noexcept { set(slot, kOccupied, value); }
  [[nodiscard]] std::uint64_t occupied_in(std::uint64_t from, std::uint64_t to) const noexcept {
    if (from >= to) return 0;
    const std::uint64_t last = (to - 1) / 64;
    std::uint64_t mask = ones_from(from), sum = 0;
    for (std::uint64_t block = from / 64; block < last; ++block, mask = ~std::uint64_t{0})
      sum += ones(occupied(block) & mask);
    return sum + ones(occupied(last) & mask & ~(~std::uint64_t{1} << ((to - 1) % 64)));
  }
  [[nodiscard]] std::uint64_t offset(std::uint64_t block) const noexcept {
    std::uint16_t offset;
    std::memcpy(&offset, bytes_ + block * stride_ + kOffset, sizeof offset);
    return offset;
  }
  void set_offset(std::uint64_t block, std::uint64_t value) noexcept {
    const auto offset = static_cast<std::uint16_t>(value);
    std::memcpy(bytes_ + block * stride_ + kOffset, &offset, sizeof offset);
  }

  // ---- runends -------------------------------------------------------------------------------------

  [[nodiscard]] std::uint64_t runends(std::uint64_t block) const noexcept {
    return load(block, kRunends);
  }
  [[nodiscard]] bool is_runend(std::uint64_t slot) const noexcept {
    return (runends(slot / 64) >> (slot % 64) & 1) != 0;
  }
  void set_runend(std::uint64_t slot, bool value) noexcept { set(slot, kRunends, value); }
  // The k-th runend from a slot on, counted from 1; it must exist.
  [[nodiscard]] std::uint64_t runend(std::uint64_t from, std::uint64_t k) const noexcept {
    std::uint64_t block = from / 64;
    std::uint64_t word = runends(block) & ones_from(from);
    for (std::uint64_t here = ones(word); here < k; here = ones(word)) {
      k -= here;
      word = runends(++block);
    }
    return 64 * block + select_one(word, static_cast<unsigned>(k - 1));
  }

  // ---- values --------------------------------------------------------------------------------------

  [[nodiscard]] std::uint64_t equal(std::uint64_t block, std::uint64_t value) const noexcept {
    std::uint64_t same = ~std::uint64_t{0};
    for (unsigned i = 0; i < value_bits_; ++i)
      same &= load(block, kValues + 8 * i) ^ ((value >> i & 1) - 1);
    return same;
  }
  [[nodiscard]] std::uint64_t used(std::uint64_t block) const noexcept {
    std::uint64_t any = 0;
    for (unsigned i = 0; i < value_bits_; ++i) any |= load(block, kValues + 8 * i);
    return any;
  }
  [[nodiscard]] std::uint64_t value(std::uint64_t slot) const noexcept {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < value_bits_; ++i)
      value |= (load(slot / 64, kValues + 8 * i) >> (slot % 64) & 1) << i;
    return value;
  }
  void set_value(std::uint64_t slot, std::uint64_t value) noexcept {
    for (unsigned i = 0; i < value_bits_; ++i) set(slot, kValues + 8 * i, (value >> i & 1) != 0);
  }
  // The first empty slot from a slot on, or kNowhere.
  [[nodiscard]] std::uint64_t first_empty(std::uint64_t from) const noexcept {
    std::uint64_t mask = ones_from(from);
    for (std::uint64_t block = from / 64; block < blocks_; ++block, mask = ~std::uint64_t{0})
      if (const std::uint64_t empty = ~used(block) & mask; empty != 0)
        return 64 * block + static_cast<unsigned>(std::countr_zero(empty));
    return kNowhere;
  }

  // ---- moving --------------------------------------------------------------------------------------

  // Moves slots [from, to) and their runends up by one; the content of `to` is lost, `from` keeps
  // its old value and has no runend.
  void shift_up(std::uint64_t from, std::uint64_t to) noexcept {
    for (std::uint64_t block = to / 64 + 1; block-- > from / 64;) {
      const bool first = block == from / 64;
      const std::uint64_t stays = (first ? ~(~std::uint64_t{1} << (from % 64)) : 0) |
                                  (block == to / 64 ? ~std::uint64_t{1} << (to % 64) : 0);
      for (std::uint64_t at = kRunends; at < stride_; at += 8) {
        const std::uint64_t word = load(block, at);
        const std::uint64_t carry = first ? 0 : load(block - 1, at) >> 63;
        store(block, at, (word & stays) | ((word << 1 | carry) & ~stays));
      }
    }
    set_runend(from, false);
  }
  // Moves slots (from, to) and their runends down by one, over `from`; the last one becomes empty.
  void shift_down(std::uint64_t from, std::uint64_t to) noexcept {
    const std::uint64_t last = (to - 1) / 64;
    for (std::uint64_t block = from / 64; block <= last; ++block) {
      const std::uint64_t stays = (block == from / 64 ? ones_below(from) : 0) |
                                  (block == last ? ~std::uint64_t{1} << ((to - 1) % 64) : 0);
      for (std::uint64_t at = kRunends; at < stride_; at += 8) {
        const std::uint64_t word = load(block, at);
        const std::uint64_t carry = block == last ? 0 : load(block + 1, at) << 63;
        store(block, at, (word & stays) | ((word >> 1 | carry) & ~stays));
      }
    }
    set_runend(to - 1, false);
    set_value(to - 1, 0);
  }

 private:
  // Where the parts of a block begin, in bytes; everything that moves with slots is one array of words.
  static constexpr std::uint64_t kOccupied = 0, kOffset = 8, kRunends = 10, kValues = 18;

  static std::uint64_t ones(std::uint64_t word) noexcept {
    return static_cast<unsigned>(std::popcount(word));
  }
  [[nodiscard]] std::uint64_t load(std::uint64_t block, std::uint64_t at) const noexcept {
    std::uint64_t word;
    std::memcpy(&word, bytes_ + block * stride_ + at, sizeof word);
    return word;
  }
  void store(std::uint64_t block, std::uint64_t at, std::uint64_t word) noexcept {
    std::memcpy(bytes_ + block * stride_ + at, &word, sizeof word);
  }
  void set(std::uint64_t slot, std::uint64_t at, bool value) noexcept {
    const std::uint64_t bit = std::uint64_t{1} << (slot % 64);
    const std::uint64_t word = load(slot / 64, at) & ~bit;
    store(slot / 64, at, word | std::uint64_t{value} << (slot % 64));  // no branch on random bits
  }

  std::uint64_t blocks_;
  unsigned value_bits_;
  std::uint64_t stride_;
  detail::BitMemory memory_;
  std::byte* bytes_;
};

}  // namespace bloomery::bench
