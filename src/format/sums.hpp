// The checksums of the bits: updated block by block, added up chunk by chunk.
//
//   block sum   XXH3-64 of the block's 64 bytes, seeded with its index in its chunk
//   chunk sum  (the sum of its block sums) * an odd number made from the chunk's index
//   total      the sum of the chunk sums                              all modulo 2^64
//
// Because sums are added, the total is incremental: a writer that changes one block knows the new total without
// reading the rest, so each journal record can say the total after its keys. The odd number ensures that chunks that
// were written to each other's place are detected.
#pragma once

#include "format/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace bloomery::detail {

[[nodiscard]] std::uint64_t block_sum(const void* block, std::uint64_t index_in_chunk) noexcept;
[[nodiscard]] std::uint64_t chunk_weight(std::uint64_t chunk) noexcept;
// `blocks`: all blocks of that chunk.
[[nodiscard]] std::uint64_t chunk_sum(std::uint64_t chunk,
                                      std::span<const std::byte> blocks) noexcept;

using Sums = std::vector<std::uint64_t>;  // one per chunk

[[nodiscard]] inline std::span<const std::byte> chunk_of(std::span<const std::byte> bits,
                                                         std::uint64_t chunk) noexcept {
  const std::size_t at = chunk * kChunkBytes;
  return bits.subspan(at, std::min<std::size_t>(kChunkBytes, bits.size() - at));
}
[[nodiscard]] Sums sums_of(std::span<const std::byte> bits);
// Arrays that follow one another; each consists of whole blocks.
using Pieces = std::vector<std::span<const std::byte>>;
[[nodiscard]] Sums sums_of(const Pieces& pieces);
// The sums of zeros: of all chunks, of one chunk of so many bytes, and of a whole chunk before its weight is applied.
[[nodiscard]] Sums sums_of_zeros(const FileLayout& layout);
[[nodiscard]] std::uint64_t sum_of_zeros(std::uint64_t chunk, std::uint64_t bytes) noexcept;
[[nodiscard]] std::uint64_t unweighted_sum_of_zeros() noexcept;
[[nodiscard]] inline std::uint64_t total_of(const Sums& sums) noexcept {
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

// Sums as bytes of a file: little-endian, one after the other.
[[nodiscard]] std::vector<std::byte> encode_sums(const Sums& sums);
[[nodiscard]] Sums decode_sums(std::span<const std::byte> bytes);

}  // namespace bloomery::detail
