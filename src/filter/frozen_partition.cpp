// A partition's keys, mixed and sorted; the order in which they can be peeled; the cells, in the reverse order.
//
// Each key is an edge between its three cells. As long as a cell has one key left, that key can be taken out:
// nothing that is taken out after it needs the cell. If every key can be taken out, cells are filled from the
// last one back, and each cell makes its own key right. Keys are sorted by their first cell, and the neighbours
// of a cell are near, so that building stays in the processor's second cache.
#include "filter/frozen_partition.hpp"

#include <bloomery/detail/fuse.hpp>
#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "base/endian.hpp"

namespace bloomery::detail {

namespace {

// The inverse of mix_key().
std::uint64_t unmix(std::uint64_t mixed, std::uint64_t seed) noexcept {
  mixed = (mixed ^ mixed >> 33) * 0x9CB4B2F8129337DB;
  mixed = (mixed ^ mixed >> 33) * 0x4F74430C22A54005;
  return mixed ^ mixed >> 33 ^ seed;
}

std::uint64_t seed_of(std::uint32_t attempt) noexcept {
  return (attempt + std::uint64_t{1}) * 0x9E3779B97F4A7C15;
}

// One pass of a radix sort, by kBits bits. Returns where each value ends.
template <unsigned kBits>
std::array<std::size_t, std::size_t{1} << kBits> distribute(std::span<const std::uint64_t> from,
                                                            std::uint64_t* to,
                                                            unsigned shift) noexcept {
  constexpr std::size_t kMask = (std::size_t{1} << kBits) - 1;
  std::array<std::size_t, kMask + 1> next{};
  for (const std::uint64_t key : from) ++next[key >> shift & kMask];
  std::size_t begin = 0;
  for (std::size_t& count : next) begin += std::exchange(count, begin);
  for (const std::uint64_t key : from) to[next[key >> shift & kMask]++] = key;
  return next;
}

// By their highest 27 bits: the first pass makes pieces that stay in the processor's second cache for the other two.
// Few keys are equal in those bits.
void sort(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& memory) {
  constexpr std::size_t kFew = 2048;
  if (keys.size() < kFew) {
    std::ranges::sort(keys);
    return;
  }
  memory.resize(std::max(memory.size(), keys.size()));
  std::size_t begin = 0;
  for (const std::size_t end : distribute<11>(keys, memory.data(), 53)) {
    const std::span<std::uint64_t> piece(memory.data() + begin, end - begin);
    const std::span<std::uint64_t> sorted(keys.data() + begin, end - begin);
    begin = end;
    if (piece.size() > kFew + keys.size() / 256) {  // of hashes that were made to be so
      std::ranges::sort(piece);
      std::ranges::copy(piece, sorted.begin());
      continue;
    }
    distribute<8>(piece, sorted.data(), 37);
    distribute<8>(sorted, piece.data(), 45);
    for (std::size_t i = 0; i < piece.size(); ++i) {
      std::size_t at = i;
      for (; at > 0 && sorted[at - 1] > piece[i]; --at) sorted[at] = sorted[at - 1];
      sorted[at] = piece[i];
    }
  }
}

}  // namespace

bool PartitionBuilder::peel(std::span<const std::uint64_t> keys, const BuiltPartition& partition) {
  const FusePartition fuse = partition.fuse();
  const auto cells = static_cast<std::size_t>(partition.geometry.cells());
  keys_of_cell_.assign(cells, 0);
  count_.assign(cells, 0);
  order_.resize(cells + 1);
  std::uint8_t most = 0;
  for (const std::uint64_t mixed : keys) {
    const FuseCells at = fuse.cells_of(mixed);
    for (const std::uint64_t cell : {at.first, at.second, at.third}) {
      keys_of_cell_[cell] ^= mixed;
      most = std::max(most, ++count_[cell]);
    }
    if (most == std::numeric_limits<std::uint8_t>::max())
      return false;  // one more would not be counted
  }
  // Cells with one key wait at the end of order_, those that are peeled are at its beginning. A cell comes to have one
  // key at most once, so there is room for both, and for one that is written before it is known to wait: whether it
  // does is a matter of chance, which no processor predicts.
  peeled_ = 0;
  std::size_t waiting = cells + 1;
  std::uint32_t* const order = order_.data();
  for (std::size_t first = 0; first < cells; ++first) {
    if (count_[first] != 1) continue;
    order[--waiting] = static_cast<std::uint32_t>(first);
    while (waiting <= cells) {
      const std::uint32_t cell = order[waiting++];
      if (count_[cell] != 1) continue;  // its key was another cell's
      order[peeled_++] = cell;
      const std::uint64_t mixed = keys_of_cell_[cell];
      const FuseCells at = fuse.cells_of(mixed);
      count_[cell] = 0;
      for (const std::uint64_t other :
           {cell == at.first ? at.second : at.first, cell == at.third ? at.second : at.third}) {
        keys_of_cell_[other] ^= mixed;
        order[waiting - 1] = static_cast<std::uint32_t>(other);
        waiting -= --count_[other] == 1 ? 1 : 0;
      }
    }
  }
  return peeled_ == keys.size();
}

void PartitionBuilder::fill(BuiltPartition& partition) const noexcept {
  // So many keys before its turn a cell's key is fetched, and half as many before, what the key sets.
  constexpr std::size_t kAhead = 24;
  const FusePartition fuse = partition.fuse();
  std::byte* const bytes = partition.cells.bytes().data();
  for (std::size_t i = peeled_; i-- > 0;) {
    if (i >= kAhead) {
      __builtin_prefetch(&keys_of_cell_[order_[i - kAhead]]);
      const FuseCells soon = fuse.cells_of(keys_of_cell_[order_[i - kAhead / 2]]);
      for (const std::uint64_t cell : {soon.first, soon.second, soon.third})
        __builtin_prefetch(bytes + (cell * partition.bits >> 3));
    }
    const std::uint64_t cell = order_[i];
    const std::uint64_t mixed = keys_of_cell_[cell];
    const FuseCells at = fuse.cells_of(mixed);
    // The cell itself is zero yet.
    const std::uint64_t value = (fuse.load(at.first) ^ fuse.load(at.second) ^ fuse.load(at.third) ^
                                 FusePartition::fingerprint(mixed)) &
                                fuse.mask;
    std::byte* const to = bytes + (cell * partition.bits >> 3);
    store_le64(to, load_le64(to) | value << (cell * partition.bits & 7));
  }
}

BuiltPartition PartitionBuilder::build(std::vector<std::uint64_t>& keys, std::uint32_t bits) {
  BuiltPartition partition;
  if (keys.empty()) return partition;
  partition.bits = bits;
  std::uint64_t seed = 0;  // what the keys are mixed with
  for (std::uint32_t attempt = 0;; ++attempt) {
    partition.seed = seed_of(attempt);
    for (std::uint64_t& key : keys)
      key = mix_key(attempt == 0 ? key : unmix(key, seed), partition.seed);
    seed = partition.seed;
    sort(keys, keys_of_cell_);
    if (attempt == 0) {
      keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
      partition.keys = keys.size();
      if (partition.keys > std::uint64_t{1} << 31)
        throw Error(ErrorCode::too_large, "a partition of a frozen filter would have " +
                                              std::to_string(partition.keys) +
                                              " keys, above the limit of 2^31; divide the set");
    }
    partition.geometry = partition_geometry(partition.keys, attempt);
    if (peel(keys, partition)) break;
  }
  partition.cells = BitMemory(static_cast<std::size_t>(partition.geometry.bytes(bits)));
  fill(partition);
  return partition;
}

}  // namespace bloomery::detail
