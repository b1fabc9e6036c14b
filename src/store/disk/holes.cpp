// Finds holes and gives them room.
#include "store/disk/holes.hpp"

#include "format/kinds.hpp"

#include <algorithm>

namespace bloomery::detail {

Holes::Holes(const File& file, const Header& header) : layout_(layout_of(header)) {
  if (file.stat().allocated >= layout_.clean_bytes) return;
  // Bytes that a crashed writer stored may be only in memory, and some file systems report them as a hole.
  if (header.state != State::clean) file.sync();
  holes_.assign(layout_.chunks, true);
  needs_room_ = holes_;
  left_ = layout_.chunks;
  std::uint64_t at = kBitsAt;
  while (at < layout_.sums_at) {
    const auto data = file.next_data(at);
    if (!data || data->from >= layout_.sums_at) break;
    const std::uint64_t end = std::min(data->to, layout_.sums_at);
    for (std::uint64_t chunk = (data->from - kBitsAt) / kChunkBytes;
         chunk <= (end - 1 - kBitsAt) / kChunkBytes; ++chunk) {
      const std::uint64_t from = kBitsAt + chunk * kChunkBytes;
      left_ -= holes_[chunk] ? 1 : 0;
      holes_[chunk] = false;
      if (data->from <= from && from + layout_.chunk_bytes(chunk) <= end)
        needs_room_[chunk] = false;
    }
    at = end;
  }
  unweighted_sum_ = unweighted_sum_of_zeros();
}

std::uint64_t Holes::sum(std::uint64_t chunk) const noexcept {
  if (layout_.chunk_bytes(chunk) == kChunkBytes) return unweighted_sum_ * chunk_weight(chunk);
  return sum_of_zeros(chunk, layout_.chunk_bytes(chunk));
}

Sums Holes::sums_of(std::span<const std::byte> bits) const {
  Sums sums(layout_.chunks);
  for (std::uint64_t chunk = 0; chunk < sums.size(); ++chunk)
    sums[chunk] = has(chunk) ? sum(chunk) : chunk_sum(chunk, chunk_of(bits, chunk));
  return sums;
}

std::vector<File::Range> Holes::data() const {
  if (none()) return {{0, layout_.bits_bytes}};
  std::vector<File::Range> ranges;
  for (std::uint64_t chunk = 0; chunk < layout_.chunks; ++chunk) {
    if (has(chunk)) continue;
    const std::uint64_t from = chunk * kChunkBytes, to = from + layout_.chunk_bytes(chunk);
    if (!ranges.empty() && ranges.back().to == from)
      ranges.back().to = to;
    else
      ranges.push_back({from, to});
  }
  return ranges;
}

void Holes::fill(File* file, std::uint64_t chunk) {
  if (holes_.empty()) return;
  if (file != nullptr && needs_room_[chunk]) {
    file->reserve(kBitsAt + chunk * kChunkBytes, layout_.chunk_bytes(chunk));
    needs_room_[chunk] = false;
  }
  left_ -= holes_[chunk] ? 1 : 0;
  holes_[chunk] = false;
}

void Holes::fill(File* file, const FilterView& view, std::span<const Hash128> hashes) {
  if (holes_.empty()) return;
  for (const Hash128 hash : hashes)
    for_each_block(view.plan().layout, view.bit_array(), hash,
                   [&](std::uint64_t block) { fill(file, block / kBlocksPerChunk); });
}

}  // namespace bloomery::detail
