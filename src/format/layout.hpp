// Where things are in a filter file: two headers, the bits, their sums, and the journal.
//
//   0        the header, first copy
//   4096     the header, second copy
//   8192     the bits; of a counting filter its counters, of a scalable filter the bits of its
//            sub-filters, one after the other, of a window filter the interleaved blocks of its slices
//   sums_at  one sum of 8 bytes for each 64 KiB of the bits; a clean file ends here
//   journal_at  (the next multiple of 4096) the journal, while a writer with a journal has the file open
#pragma once

#include <bloomery/plan.hpp>

#include <cstdint>

namespace bloomery::detail {

constexpr std::uint64_t kHeaderBytes = 4096;
constexpr std::uint64_t kBitsAt = 2 * kHeaderBytes;
constexpr std::uint64_t kBlockBytes = kBlockBits / 8;
constexpr std::uint64_t kChunkBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kBlocksPerChunk = kChunkBytes / kBlockBytes;

struct FileLayout {
  std::uint64_t bits_bytes;
  std::uint64_t chunks;
  std::uint64_t sums_at;
  std::uint64_t clean_bytes;  // the size of a file that no writer has open
  std::uint64_t journal_at;

  explicit FileLayout(const Plan& plan) noexcept : FileLayout(plan.bytes()) {}
  explicit FileLayout(std::uint64_t bytes) noexcept
      : bits_bytes(bytes),
        chunks((bits_bytes + kChunkBytes - 1) / kChunkBytes),
        sums_at(kBitsAt + bits_bytes),
        clean_bytes(sums_at + chunks * 8),
        journal_at((clean_bytes + 4095) / 4096 * 4096) {}

  [[nodiscard]] std::uint64_t chunk_bytes(std::uint64_t chunk) const noexcept {
    const std::uint64_t rest = bits_bytes - chunk * kChunkBytes;
    return rest < kChunkBytes ? rest : kChunkBytes;
  }
};

}  // namespace bloomery::detail
