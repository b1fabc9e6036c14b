// Keys of one call, inserted by several threads, each of which writes to regions of the array that are its own.
#pragma once

#include <bloomery/detail/kernel.hpp>
#include <bloomery/detail/keys.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace bloomery::detail {

// What keys are inserted into.
struct BulkTarget {
  BitArray array;
  std::uint64_t bytes = 0;
  std::uint64_t seed_multiplier = 0;
  unsigned blocks_per_key = 0;  // 0: bits are anywhere, and the kernel is one for several threads
  OfHashes insert_hashes = nullptr;
  OfIntegers insert_integers = nullptr;
};
[[nodiscard]] BulkTarget bulk_target(Layout layout, const BitArray& array, const Hasher& hasher,
                                     const Kernel& kernel) noexcept;
[[nodiscard]] BulkTarget bulk_target(Layout layout, const BitArray& array, const Hasher& hasher,
                                     const CountingKernel& kernel) noexcept;

// As many keys are divided by region at a time. They take 16 bytes each, integers 8, and 4 more if there are answers.
// Each thread takes up to 8 MiB (10) for lists that are not full.
inline constexpr std::size_t kMostDivided = std::size_t{1} << 21;

// Inserts by so many threads; 0: one for each core that the process may use, or one if the array is below 12 MiB, where
// several would take longer. A number that is given is taken as it is. Bits and counters are those of one
// thread. `answers` is null or has room for one per key; returns how many are true. They are those of one thread, too;
// but where a key has two blocks, of one thread that takes the keys in another order, and with bits anywhere a
// key that comes twice may be told twice that it is new.
// Nothing: no key was inserted, because one thread is as good (few keys, or hardly an array), or because there is no
// memory or no second thread. Then the caller inserts them.
[[nodiscard]] std::optional<std::size_t> insert_by_threads(const BulkTarget& target,
                                                           const BulkKeys& keys, bool* answers,
                                                           unsigned threads) noexcept;

}  // namespace bloomery::detail
