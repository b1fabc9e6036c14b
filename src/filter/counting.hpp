// Counting kernels: the cells of a line, over the ring of bulk.hpp.
//
// Included by each kernel_*.cpp, as bulk.hpp is.
#pragma once

#include <bloomery/detail/counting_kernel.hpp>

#include "filter/bulk.hpp"
#include "filter/cells.hpp"

namespace bloomery::detail {
namespace {

template <class Cells>
struct CountingLayout : LineLayout<Cells> {
  using Block = typename LineLayout<Cells>::Block;

  [[gnu::always_inline]] static bool take(const Shape& shape, const Block& block,
                                          std::size_t i) noexcept {
    return Cells::take(block.line[i], block.low[i], *shape.masks);
  }
};

struct Remove {
  template <class Layout>
  [[gnu::always_inline]] static bool apply(const Shape& shape, const typename Layout::Block& block,
                                           std::size_t i) noexcept {
    return Layout::take(shape, block, i);
  }
};

// Sums mark(word) over all cells, 64 bits at a time, where mark turns a word into one bit for
// each cell that counts. Equal bytes give equal sums on any byte order.
template <class Mark>
std::uint64_t count_cells(const Shape& shape, Mark mark) noexcept {
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < shape.lines * (kLineBits / 32); i += 2) {
    std::uint64_t two;
    std::memcpy(&two, shape.words + i, sizeof two);
    count += static_cast<std::uint64_t>(std::popcount(mark(two)));
  }
  return count;
}

// The lowest bit of each cell.
template <unsigned kCellBits>
constexpr std::uint64_t kUnits = kCellBits == 4 ? 0x1111111111111111 : 0x0101010101010101;

template <unsigned kCellBits>
std::uint64_t used_cells(std::uint64_t word) noexcept {
  if constexpr (kCellBits == 8) word |= word >> 4;
  word |= word >> 2;
  word |= word >> 1;
  return word & kUnits<kCellBits>;
}
template <unsigned kCellBits>
std::uint64_t full_cells(std::uint64_t word) noexcept {
  if constexpr (kCellBits == 8) word &= word >> 4;
  word &= word >> 2;
  word &= word >> 1;
  return word & kUnits<kCellBits>;
}

template <class Operation, class Layout>
constexpr CountingKernel::OfHashes kOfHashes =
    [](const Shape& shape, const Hash128* hashes, std::size_t count, bool* answers) noexcept {
      return run<Layout, Operation>(shape, FromHashes{hashes}, count, answers);
    };
template <class Operation, class Layout>
constexpr CountingKernel::OfIntegers kOfIntegers =
    [](const Shape& shape, std::uint64_t seed_multiplier, const std::uint64_t* keys,
       std::size_t count, bool* answers) noexcept {
      return run<Layout, Operation>(shape, FromIntegers{keys, seed_multiplier}, count, answers);
    };

template <unsigned kCellBits, class Cells>
constexpr CountingKernel make_counting_kernel(const char* name) {
  using Layout = CountingLayout<Cells>;
  return {
      name,
      [](const Shape& shape, Hash128 hash) noexcept {
        return Cells::set(line_of(shape, hash.high), hash.low, *shape.masks);
      },
      [](const Shape& shape, Hash128 hash) noexcept {
        return Cells::take(line_of(shape, hash.high), hash.low, *shape.masks);
      },
      [](const Shape& shape, Hash128 hash) noexcept {
        return Cells::test(line_of(shape, hash.high), hash.low, *shape.masks);
      },
      [](const Shape& shape, Hash128 hash) noexcept {
        return Cells::least(line_of(shape, hash.high), hash.low, *shape.masks);
      },
      kOfHashes<Insert, Layout>,
      kOfHashes<Remove, Layout>,
      kOfHashes<Contains, Layout>,
      kOfIntegers<Insert, Layout>,
      kOfIntegers<Remove, Layout>,
      kOfIntegers<Contains, Layout>,
      [](const Shape& shape) noexcept { return count_cells(shape, used_cells<kCellBits>); },
      [](const Shape& shape) noexcept { return count_cells(shape, full_cells<kCellBits>); },
  };
}

}  // namespace
}  // namespace bloomery::detail
