// What a counting kernel is: the operations on blocks of counters on one instruction set, over
// borrowed memory.
//
// Law: for equal BitArray, hashes and counters, every kernel gives the same counters and answers.
#pragma once

#include <bloomery/detail/kernel.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

// The BitArray of a counting filter: `words` are its counters, `bits` says how many those are, and its
// blocks have 64 bytes each, so that block_of() serves. The sixteen words of a block are those of
// layout `blocked`, each of 8 counters of 4 bits or 4 counters of 8 bits.
//
// `answers`, where not null, receives one bool a key. For insert: was it certainly new; for
// remove: was it there, so that its counters were counted down; for contains: may it be there. The
// result counts the true ones. Keys of one call take effect in their order.
struct CountingKernel {
  using OfOne = bool (*)(const BitArray&, Hash128) noexcept;
  using OfHashes = std::size_t (*)(const BitArray&, const Hash128*, std::size_t, bool*) noexcept;
  // Keys hashed on the way, with hash_integer(key, seed_multiplier).
  using OfIntegers = std::size_t (*)(const BitArray&, std::uint64_t seed_multiplier,
                                     const std::uint64_t*, std::size_t, bool*) noexcept;
  const char* name;
  OfOne insert, remove, contains;
  // The least of a key's counters.
  std::uint32_t (*least)(const BitArray&, Hash128) noexcept;
  OfHashes insert_hashes, remove_hashes, contains_hashes;
  OfIntegers insert_integers, remove_integers, contains_integers;
  // How many counters are not zero, and how many are saturated.
  std::uint64_t (*count_used)(const BitArray&) noexcept;
  std::uint64_t (*count_saturated)(const BitArray&) noexcept;
};

// As kernel_for and kernels_of, for counters of 4 or 8 bits.
const CountingKernel& counting_kernel_for(std::uint32_t counter_bits);
std::span<const CountingKernel* const> counting_kernels_of(std::uint32_t counter_bits) noexcept;

}  // namespace bloomery::detail
