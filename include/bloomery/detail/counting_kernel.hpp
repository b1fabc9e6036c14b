// What a counting kernel is: the operations on lines of cells on one instruction set, over
// borrowed memory.
//
// Law: for equal Shape, hashes and cells, every kernel gives the same cells and answers.
#pragma once

#include <bloomery/detail/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

// The Shape of a counting filter: `words` are its cells, `bits` says how many those are, and its
// lines have 64 bytes each, so that line_of() serves. The sixteen words of a line are those of
// layout `line`, each of 8 cells of 4 bits or 4 cells of 8 bits.
//
// `answers`, where not null, receives one bool a key. For insert: was it certainly new; for
// remove: was it there, so that its cells were counted down; for contains: may it be there. The
// result counts the true ones. Keys of one call take effect in their order.
struct CountingKernel {
  using OfOne = bool (*)(const Shape&, Hash128) noexcept;
  using OfHashes = std::size_t (*)(const Shape&, const Hash128*, std::size_t, bool*) noexcept;
  // Keys hashed on the way, with hash_integer(key, seed_multiplier).
  using OfIntegers = std::size_t (*)(const Shape&, std::uint64_t seed_multiplier,
                                     const std::uint64_t*, std::size_t, bool*) noexcept;
  const char* name;
  OfOne insert, remove, contains;
  // The least of a key's cells.
  std::uint32_t (*least)(const Shape&, Hash128) noexcept;
  OfHashes insert_hashes, remove_hashes, contains_hashes;
  OfIntegers insert_integers, remove_integers, contains_integers;
  // How many cells are not zero, and how many are saturated.
  std::uint64_t (*count_used)(const Shape&) noexcept;
  std::uint64_t (*count_saturated)(const Shape&) noexcept;
};

// As kernel_for and kernels_of, for cells of 4 or 8 bits.
const CountingKernel& counting_kernel_for(std::uint32_t cell_bits);
std::span<const CountingKernel* const> counting_kernels_of(std::uint32_t cell_bits) noexcept;

}  // namespace bloomery::detail
