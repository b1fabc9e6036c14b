// Counting kernels: the counters of a block, over the ring of bulk.hpp.
//
// Included by each kernel_*.cpp, as bulk.hpp is.
#pragma once

#include <bloomery/detail/counting_kernel.hpp>

#include "filter/bulk.hpp"
#include "filter/counters.hpp"

namespace bloomery::detail {
namespace {

template <class Counters>
struct CountingLayout : BlockedLayout<Counters> {
  using Batch = typename BlockedLayout<Counters>::Batch;

  [[gnu::always_inline]] static bool take(const BitArray& bit_array, const Batch& batch,
                                          std::size_t i) noexcept {
    return Counters::take(batch.block[i], batch.low[i], *bit_array.masks);
  }
};

struct Remove {
  template <class Layout>
  [[gnu::always_inline]] static bool apply(const BitArray& bit_array,
                                           const typename Layout::Batch& batch,
                                           std::size_t i) noexcept {
    return Layout::take(bit_array, batch, i);
  }
};

// Sums mark(word) over all counters, 64 bits at a time, where mark turns a word into one bit for
// each counter that counts. Equal bytes give equal sums on any byte order.
template <class Mark>
std::uint64_t count_counters(const BitArray& bit_array, Mark mark) noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < bit_array.blocks * (kBlockBits / 32); i += 2) {
    std::uint64_t two;
    std::memcpy(&two, bit_array.words + i, sizeof two);
    count += static_cast<std::uint64_t>(std::popcount(mark(two)));
  }
  return count;
}

// The lowest bit of each counter.
template <unsigned kCounterBits>
constexpr std::uint64_t kUnits = kCounterBits == 4 ? 0x1111111111111111 : 0x0101010101010101;

template <unsigned kCounterBits>
std::uint64_t used_counters(std::uint64_t word) noexcept {
  if constexpr (kCounterBits == 8) word |= word >> 4;
  word |= word >> 2;
  word |= word >> 1;
  return word & kUnits<kCounterBits>;
}
template <unsigned kCounterBits>
std::uint64_t full_counters(std::uint64_t word) noexcept {
  if constexpr (kCounterBits == 8) word &= word >> 4;
  word &= word >> 2;
  word &= word >> 1;
  return word & kUnits<kCounterBits>;
}

template <class Operation, class Layout>
constexpr CountingKernel::OfHashes kOfHashes = [](const BitArray& bit_array, const Hash128* hashes,
                                                  std::size_t count, bool* answers) noexcept {
  return run<Layout, Operation>(bit_array, FromHashes{hashes}, count, answers);
};
template <class Operation, class Layout>
constexpr CountingKernel::OfIntegers kOfIntegers =
    [](const BitArray& bit_array, std::uint64_t seed_multiplier, const std::uint64_t* keys,
       std::size_t count, bool* answers) noexcept {
      return run<Layout, Operation>(bit_array, FromIntegers{keys, seed_multiplier}, count, answers);
    };

template <unsigned kCounterBits, class Counters>
constexpr CountingKernel make_counting_kernel(const char* name) {
  using Layout = CountingLayout<Counters>;
  return {
      name,
      [](const BitArray& bit_array, Hash128 hash) noexcept {
        return Counters::set(block_of(bit_array, hash.high), hash.low, *bit_array.masks);
      },
      [](const BitArray& bit_array, Hash128 hash) noexcept {
        return Counters::take(block_of(bit_array, hash.high), hash.low, *bit_array.masks);
      },
      [](const BitArray& bit_array, Hash128 hash) noexcept {
        return Counters::test(block_of(bit_array, hash.high), hash.low, *bit_array.masks);
      },
      [](const BitArray& bit_array, Hash128 hash) noexcept {
        return Counters::least(block_of(bit_array, hash.high), hash.low, *bit_array.masks);
      },
      kOfHashes<Insert, Layout>,
      kOfHashes<Remove, Layout>,
      kOfHashes<Contains, Layout>,
      kOfIntegers<Insert, Layout>,
      kOfIntegers<Remove, Layout>,
      kOfIntegers<Contains, Layout>,
      [](const BitArray& bit_array) noexcept {
        return count_counters(bit_array, used_counters<kCounterBits>);
      },
      [](const BitArray& bit_array) noexcept {
        return count_counters(bit_array, full_counters<kCounterBits>);
      },
  };
}

}  // namespace
}  // namespace bloomery::detail
