// The designs that were compared for frozen filters, in the simplest form that can be measured: binary fuse filters
// with three and four positions, and the homogeneous ribbon filter, all with a false-positive rate of 2^-8.
//
// Sources: Graf, Lemire 2022 (binary fuse); Dillinger, Hübschle-Schneider, Sanders, Walzer 2022 (ribbon). Keys are
// random 64-bit integers, which are sorted first, since that makes building faster for all.
#pragma once

#include <bloomery/detail/fuse.hpp>

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace bloomery::bench {

// `kPositions` cells of a byte per key.
template <unsigned kPositions>
class FuseOfBytes {
 public:
  static constexpr double kCellsPerKey = kPositions == 3 ? 1.111 : 1.065;

  explicit FuseOfBytes(std::span<const std::uint64_t> sorted) {
    const auto segments = static_cast<std::uint64_t>(static_cast<double>(sorted.size()) *
                                                     kCellsPerKey / static_cast<double>(kSegment));
    starts_ = (segments - kPositions + 1) * kSegment;
    cells_.resize((segments + 1) * kSegment);
    std::vector<std::uint64_t> keys_of(cells_.size());
    std::vector<std::uint8_t> count(cells_.size());
    for (const std::uint64_t key : sorted)
      for (const std::uint64_t cell : cells_of(key)) keys_of[cell] ^= key, ++count[cell];
    std::vector<std::uint64_t> peeled, waiting;
    peeled.reserve(sorted.size());
    for (std::uint64_t first = 0; first < cells_.size(); ++first) {
      if (count[first] == 1) waiting.push_back(first);
      while (!waiting.empty()) {
        const std::uint64_t cell = waiting.back();
        waiting.pop_back();
        if (count[cell] != 1) continue;
        peeled.push_back(cell);
        count[cell] = 0;
        const std::uint64_t key = keys_of[cell];
        for (const std::uint64_t other : cells_of(key)) {
          if (other == cell) continue;
          keys_of[other] ^= key;
          if (--count[other] == 1) waiting.push_back(other);
        }
      }
    }
    if (peeled.size() != sorted.size()) throw std::runtime_error("this set takes another seed");
    while (!peeled.empty()) {
      const std::uint64_t cell = peeled.back();
      peeled.pop_back();
      cells_[cell] = difference(keys_of[cell]);
    }
  }

  [[nodiscard]] double bits() const noexcept { return 8 * static_cast<double>(cells_.size()); }
  [[nodiscard]] bool contains(std::uint64_t key) const noexcept { return difference(key) == 0; }
  void prefetch(std::uint64_t key) const noexcept {
    for (const std::uint64_t cell : cells_of(key)) __builtin_prefetch(&cells_[cell]);
  }

 private:
  static constexpr std::uint64_t kSegment = kPositions == 3 ? 1U << 15 : 1U << 13;

  [[nodiscard]] std::array<std::uint64_t, kPositions> cells_of(std::uint64_t key) const noexcept {
    std::array<std::uint64_t, kPositions> cells;
    const std::uint64_t mixed = key * 0xFF51AFD7ED558CCD;
    cells[0] = detail::fast_range(key, starts_);
    for (unsigned i = 1; i < kPositions; ++i)
      cells[i] = (cells[0] + i * kSegment) ^ (mixed >> (64 - 16 * i) & (kSegment - 1));
    return cells;
  }
  [[nodiscard]] std::uint8_t difference(std::uint64_t key) const noexcept {
    auto value = static_cast<std::uint8_t>(detail::mix_key(key, 1));
    for (const std::uint64_t cell : cells_of(key)) value ^= cells_[cell];
    return value;
  }

  std::uint64_t starts_ = 0;
  std::vector<std::uint8_t> cells_;
};

// Width 64, eight columns. Every set has a filter, without fingerprints: absent keys are found only by chance.
class HomogeneousRibbon {
 public:
  static constexpr double kRowsPerKey = 1.10;
  static constexpr unsigned kColumns = 8;

  explicit HomogeneousRibbon(std::span<const std::uint64_t> sorted) {
    const auto blocks =
        static_cast<std::uint64_t>(static_cast<double>(sorted.size()) * kRowsPerKey) / 64 + 2;
    starts_ = (blocks - 1) * 64;
    std::vector<std::uint64_t> band(blocks * 64);
    for (const std::uint64_t key : sorted) {
      std::uint64_t row = detail::fast_range(key, starts_), equation = coefficients(key);
      while (equation != 0 && band[row] != 0) {
        equation ^= band[row];
        if (equation == 0) break;
        const auto zeros = static_cast<unsigned>(std::countr_zero(equation));
        equation >>= zeros;
        row += zeros;
      }
      if (equation != 0) band[row] = equation;
    }
    columns_.resize((blocks + 1) * kColumns);
    std::array<std::uint64_t, kColumns> next{};  // the values of the 64 rows after this one
    for (std::uint64_t row = band.size(); row-- > 0;)
      for (unsigned column = 0; column < kColumns; ++column) {
        const std::uint64_t free = detail::mix_key(row, column) & 1;
        const std::uint64_t bit =
            band[row] == 0
                ? free
                : static_cast<std::uint64_t>(std::popcount(next[column] << 1 & band[row])) & 1;
        next[column] = next[column] << 1 | bit;
        columns_[row / 64 * kColumns + column] |= bit << row % 64;
      }
  }

  [[nodiscard]] double bits() const noexcept { return 64 * static_cast<double>(columns_.size()); }
  [[nodiscard]] bool contains(std::uint64_t key) const noexcept {
    const std::uint64_t row = detail::fast_range(key, starts_), equation = coefficients(key);
    const std::uint64_t* const at = &columns_[row / 64 * kColumns];
    const auto shift = static_cast<unsigned>(row % 64);
    for (unsigned column = 0; column < kColumns; ++column) {
      const std::uint64_t window =
          at[column] >> shift | (shift == 0 ? 0 : at[column + kColumns] << (64 - shift));
      if ((std::popcount(window & equation) & 1) != 0) return false;
    }
    return true;
  }
  void prefetch(std::uint64_t key) const noexcept {
    const std::uint64_t* const at = &columns_[detail::fast_range(key, starts_) / 64 * kColumns];
    __builtin_prefetch(at);
    __builtin_prefetch(at + kColumns);
  }

 private:
  static std::uint64_t coefficients(std::uint64_t key) noexcept {
    return detail::mix_key(key, 2) | 1;
  }

  std::uint64_t starts_ = 0;
  std::vector<std::uint64_t> columns_;  // all columns of 64 rows; then those of the next 64
};

}  // namespace bloomery::bench
