// Every chunk against its own sum, and all of them against the header's total.
#include "store/chunk_check.hpp"

namespace bloomery::detail {

namespace {

// Sums that the device refuses to give are sums that vouch for nothing.
Sums stored_sums(const File& file, const FileLayout& layout) {
  std::vector<std::byte> stored(layout.chunks * 8);
  if (file.try_read(stored, layout.sums_at) < 0) return Sums(layout.chunks);
  return decode_sums(stored);
}

}  // namespace

ChunkCheck check_chunks(const File& file, const Header& header) {
  const FileLayout layout = layout_of(header);
  const Sums stored = stored_sums(file, layout);
  std::vector<std::byte> buffer(kChunkBytes);
  ChunkCheck check;
  bool readable = true;
  std::uint64_t total = 0;
  for (std::uint64_t chunk = 0; chunk < layout.chunks; ++chunk) {
    const auto blocks = std::span(buffer).first(layout.chunk_bytes(chunk));
    const bool read = file.try_read(blocks, kBitsAt + chunk * kChunkBytes) == 0;
    const std::uint64_t sum = chunk_sum(chunk, blocks);
    check.read.push_back(sum);
    total += sum;
    readable &= read;
    if (!read || sum != stored[chunk]) check.damaged.push_back(chunk);
  }
  // The header's total vouches for all of the bits at once; then it is the sums that err.
  if (readable && total == header.total) {
    check.sums_damaged = !check.damaged.empty();
    check.damaged.clear();
  }
  return check;
}

}  // namespace bloomery::detail
