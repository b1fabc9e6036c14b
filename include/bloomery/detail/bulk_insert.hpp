// Inserts the keys of one call by several threads. Each thread writes to its own regions of the array.
#pragma once

#include <bloomery/detail/kernel.hpp>
#include <bloomery/detail/keys.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace bloomery::detail {

// The array that keys are inserted into, and its kernel.
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

// The most keys that are divided by region at a time, unless the array is large: half of the array's bytes in lists,
// and at most 64 MiB of them, pay for themselves. A key takes 16 bytes of a list, an integer 8 bytes, and 4 bytes
// more if answers are wanted. Each thread takes up to 8 MiB more (with answers 10 MiB) for lists that are not full.
inline constexpr std::size_t kMostDivided = std::size_t{1} << 21;
inline constexpr std::uint64_t kMostListed = std::uint64_t{64} << 20;  // bytes

// Inserts the keys by `threads` threads. 0 means one for each core that the process may use, or one if the array is
// below 12 MiB, for which several threads would take longer. Any other number applies to arrays of every size, but
// fewer threads run if one would have fewer than 65,536 keys. The bits and counters are the same as with one thread.
// `answers` is null or has room for one per key; returns how many are true. The answers are also the same as with one
// thread, with two exceptions: if a key has two blocks, they are those of one thread that takes the keys in another
// order; and if bits are anywhere, a key that comes twice may get the answer "new" twice.
// nullopt: the function has inserted no key, because one thread is as fast (few keys, or a very small array), or
// because there is no memory or no second thread. Then the caller inserts them.
[[nodiscard]] std::optional<std::size_t> insert_by_threads(const BulkTarget& target,
                                                           const BulkKeys& keys, bool* answers,
                                                           unsigned threads) noexcept;

}  // namespace bloomery::detail
