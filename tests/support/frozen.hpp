// Frozen filters of integers, and their bytes.
#pragma once

#include <bloomery/frozen_filter.hpp>

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bloomery::test {

inline std::vector<std::uint64_t> integers_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::size_t i = 0; i < count; ++i) keys[i] = first + i;
  return keys;
}

inline FrozenFilter built(std::span<const std::uint64_t> keys, double fpr, unsigned threads = 1,
                          const Hasher& hasher = Hasher()) {
  FrozenBuilder builder(fpr, hasher);
  builder.insert_many(keys);
  return builder.build(threads);
}

inline std::vector<std::byte> bytes_of(const FrozenFilter& filter) {
  std::vector<std::byte> bytes;
  for (const auto piece : filter.pieces()) bytes.insert(bytes.end(), piece.begin(), piece.end());
  return bytes;
}

inline std::uint64_t digest(const FrozenFilter& filter) {
  const auto bytes = bytes_of(filter);
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace bloomery::test
