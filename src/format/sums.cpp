// The sums of blocks and chunks, and the total.
#include "format/sums.hpp"

#include "base/endian.hpp"

#include <array>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace bloomery::detail {

std::uint64_t block_sum(const void* block, std::uint64_t index_in_chunk) noexcept {
  return XXH3_64bits_withSeed(block, kBlockBytes, index_in_chunk);
}

// The finalizer of SplitMix64, made odd.
std::uint64_t chunk_weight(std::uint64_t chunk) noexcept {
  std::uint64_t z = (chunk + 1) * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return (z ^ (z >> 31)) | 1;
}

std::uint64_t chunk_sum(std::uint64_t chunk, std::span<const std::byte> blocks) noexcept {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < blocks.size() / kBlockBytes; ++i)
    sum += block_sum(blocks.data() + i * kBlockBytes, i);
  return sum * chunk_weight(chunk);
}

Sums sums_of(std::span<const std::byte> bits) {
  Sums sums((bits.size() + kChunkBytes - 1) / kChunkBytes);
  for (std::uint64_t chunk = 0; chunk < sums.size(); ++chunk)
    sums[chunk] = chunk_sum(chunk, chunk_of(bits, chunk));
  return sums;
}

Sums sums_of(const Pieces& pieces) {
  Sums sums;
  std::uint64_t block = 0;
  for (const auto piece : pieces) {
    for (std::size_t at = 0; at < piece.size(); at += kBlockBytes, ++block) {
      const std::uint64_t index = block % kBlocksPerChunk;
      if (index == 0) sums.push_back(0);
      sums.back() += block_sum(piece.data() + at, index);
    }
  }
  for (std::uint64_t chunk = 0; chunk < sums.size(); ++chunk) sums[chunk] *= chunk_weight(chunk);
  return sums;
}

namespace {

std::uint64_t unweighted_sum_of_zeros(std::uint64_t bytes) noexcept {
  constexpr std::array<std::byte, kBlockBytes> kZeros{};
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < bytes / kBlockBytes; ++i) sum += block_sum(kZeros.data(), i);
  return sum;
}

}  // namespace

std::uint64_t unweighted_sum_of_zeros() noexcept { return unweighted_sum_of_zeros(kChunkBytes); }

std::uint64_t sum_of_zeros(std::uint64_t chunk, std::uint64_t bytes) noexcept {
  return unweighted_sum_of_zeros(bytes) * chunk_weight(chunk);
}

Sums sums_of_zeros(const FileLayout& layout) {
  const std::uint64_t unweighted = unweighted_sum_of_zeros();
  Sums sums(layout.chunks);
  for (std::uint64_t chunk = 0; chunk < sums.size(); ++chunk)
    sums[chunk] = unweighted * chunk_weight(chunk);
  const std::uint64_t last = layout.chunks - 1;
  sums[last] = sum_of_zeros(last, layout.chunk_bytes(last));
  return sums;
}

std::vector<std::byte> encode_sums(const Sums& sums) {
  std::vector<std::byte> bytes(sums.size() * 8);
  for (std::size_t i = 0; i < sums.size(); ++i) store_le64(bytes.data() + 8 * i, sums[i]);
  return bytes;
}

Sums decode_sums(std::span<const std::byte> bytes) {
  Sums sums(bytes.size() / 8);
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = load_le64(bytes.data() + 8 * i);
  return sums;
}

}  // namespace bloomery::detail
