// Builds a partition: mixes and sorts its keys, finds an order in which they can be peeled, and fills the cells
// in the reverse order.
//
// Each key is an edge between its three cells. If a cell has only one key left, that key can be peeled, because
// no key that is peeled later needs the cell. If every key can be peeled, the cells are filled from the last
// one back, and the value of each cell makes its own key agree. Keys are sorted by their first cell, and the
// other two cells are near it, so that building stays in the second-level cache of the processor.
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

// One pass of a radix sort by kBits bits. It applies `change` to each key first. Returns where the keys of each
// value end.
template <unsigned kBits, class Change>
std::array<std::size_t, std::size_t{1} << kBits> distribute(std::span<std::uint64_t> from,
                                                            std::uint64_t* to, unsigned shift,
                                                            Change change) noexcept {
  constexpr std::size_t kMask = (std::size_t{1} << kBits) - 1;
  std::array<std::size_t, kMask + 1> next{};
  for (std::uint64_t& key : from) ++next[(key = change(key)) >> shift & kMask];
  std::size_t begin = 0;
  for (std::size_t& count : next) begin += std::exchange(count, begin);
  for (const std::uint64_t key : from) to[next[key >> shift & kMask]++] = key;
  return next;
}
constexpr auto kAsItIs = [](std::uint64_t key) noexcept { return key; };
// Keys with the same highest bits form a piece. The first cells of a piece, even of the largest partition, stay in
// the first-level cache.
constexpr unsigned kPieceBits = 11;
constexpr unsigned kPieceShift = 64 - kPieceBits;

// Sorts keys by their highest 27 bits, and the few that are equal in these by all bits. `memory` has room
// for as many keys.
void sort(std::span<std::uint64_t> keys, std::uint64_t* memory) noexcept {
  constexpr std::size_t kFew = 2048;
  if (keys.size() < kFew) {
    std::ranges::sort(keys);
    return;
  }
  std::size_t begin = 0;
  for (const std::size_t end : distribute<kPieceBits>(keys, memory, kPieceShift, kAsItIs)) {
    const std::span<std::uint64_t> piece(memory + begin, end - begin);
    const std::span<std::uint64_t> sorted(keys.data() + begin, end - begin);
    begin = end;
    if (piece.size() > kFew + keys.size() / 256) {  // hashes that were made to collide
      std::ranges::sort(piece);
      std::ranges::copy(piece, sorted.begin());
      continue;
    }
    distribute<8>(piece, sorted.data(), kPieceShift - 16, kAsItIs);
    distribute<8>(sorted, piece.data(), kPieceShift - 8, kAsItIs);
    for (std::size_t i = 0; i < piece.size(); ++i) {
      std::size_t at = i;
      for (; at > 0 && sorted[at - 1] > piece[i]; --at) sorted[at] = sorted[at - 1];
      sorted[at] = piece[i];
    }
  }
}

// The room for keys or for cells, whichever are more, because their arrays are exchanged.
std::size_t room_of(std::size_t keys, std::uint32_t attempt = 0) noexcept {
  return std::max(keys, static_cast<std::size_t>(partition_geometry(keys, attempt).cells()));
}

// Whether some keys of the first piece are equal. If keys of the partition came more than once, this is
// nearly always so, unless only a few did.
bool some_are_equal(std::span<std::uint64_t> placed) {
  const auto end =
      std::ranges::find_if(placed, [](std::uint64_t key) { return key >> kPieceShift != 0; });
  const std::span<std::uint64_t> piece(placed.begin(), end);
  std::ranges::sort(piece);
  return std::ranges::adjacent_find(piece) != piece.end();
}

}  // namespace

std::span<std::uint64_t> PartitionBuilder::room_for(std::size_t keys) {
  return keys_.take(room_of(keys)).first(keys);
}

template <class Change>
std::span<std::uint64_t> PartitionBuilder::place(std::span<std::uint64_t> keys, std::size_t room,
                                                 Change change) {
  const std::span<std::uint64_t> placed = keys_of_cell_.take(room).first(keys.size());
  distribute<kPieceBits>(keys, placed.data(), kPieceShift, change);
  keys_.swap(keys_of_cell_);
  return placed;
}

bool PartitionBuilder::peel(std::span<const std::uint64_t> keys, const BuiltPartition& partition) {
  const FusePartition fuse = partition.fuse();
  const auto cells = static_cast<std::size_t>(partition.geometry.cells());
  // Local pointers: the compiler must assume that a store of a byte can change members.
  std::uint64_t* const keys_of = keys_of_cell_.take(cells).data();
  std::uint8_t* const count = count_.take(cells).data();
  std::fill_n(keys_of, cells, 0);
  std::fill_n(count, cells, 0);
  std::uint32_t* const order = order_.take(cells + 2).data();
  std::uint8_t most = 0;
  for (const std::uint64_t mixed : keys) {
    const FuseCells at = fuse.cells_of(mixed);
    for (const std::uint64_t cell : {at.first, at.second, at.third}) {
      keys_of[cell] ^= mixed;
      most = std::max(most, ++count[cell]);
    }
    if (most == std::numeric_limits<std::uint8_t>::max())
      return false;  // the count of one more would overflow
  }
  // Cells that have one key left wait at the end of order_; cells that were peeled are at its beginning. A cell waits
  // at most once, so there is room for both, and for one cell that is written before it is known whether it waits:
  // this is random, so a branch on it would be mispredicted. For speed, the next cell is never read from where it was
  // just written.
  std::size_t peeled = 0, waiting = cells + 1;
  order[cells + 1] = 0;  // read if no cell waits
  for (std::size_t first = 0; first < cells; ++first) {
    if (count[first] != 1) continue;
    std::size_t cell = first;
    std::uint64_t mixed = keys_of[first];
    for (;;) {
      const std::size_t below = order[waiting];
      const std::uint64_t of_below = keys_of[below];
      if (count[cell] == 1) {  // otherwise its key was peeled at another cell
        order[peeled++] = static_cast<std::uint32_t>(cell);
        count[cell] = 0;
        const FuseCells at = fuse.cells_of(mixed);
        const std::size_t one = cell == at.first ? at.second : at.first;
        const std::size_t two = cell == at.third ? at.second : at.third;
        const std::uint64_t of_one = keys_of[one] ^ mixed, of_two = keys_of[two] ^ mixed;
        keys_of[one] = of_one;
        keys_of[two] = of_two;
        const bool one_waits = --count[one] == 1, two_waits = --count[two] == 1;
        cell = below;
        mixed = of_below;
        cell = one_waits ? one : cell;
        mixed = one_waits ? of_one : mixed;
        cell = two_waits ? two : cell;
        mixed = two_waits ? of_two : mixed;
        order[waiting - 1] = static_cast<std::uint32_t>(one);
        waiting -= one_waits ? 1 : 0;
        order[waiting - 1] = static_cast<std::uint32_t>(two);
        waiting -= two_waits ? 1 : 0;
      } else {
        cell = below;
        mixed = of_below;
      }
      if (waiting++ > cells) break;
    }
    --waiting;
  }
  peeled_ = peeled;
  return peeled == keys.size();
}

void PartitionBuilder::fill(BuiltPartition& partition) {
  // The key of a cell is prefetched this many keys before its turn, and the cells that it reads and
  // sets half as many keys before.
  constexpr std::size_t kAhead = 24;
  const FusePartition fuse = partition.fuse();
  std::byte* const bytes = partition.cells.bytes().data();
  const auto cells = static_cast<std::size_t>(partition.geometry.cells());
  const std::span<const std::uint64_t> keys_of = keys_of_cell_.take(cells);
  const std::span<const std::uint32_t> order = order_.take(cells + 2).first(peeled_);
  for (std::size_t i = peeled_; i-- > 0;) {
    if (i >= kAhead) {
      __builtin_prefetch(&keys_of[order[i - kAhead]]);
      const FuseCells soon = fuse.cells_of(keys_of[order[i - kAhead / 2]]);
      for (const std::uint64_t cell : {soon.first, soon.second, soon.third})
        __builtin_prefetch(bytes + (cell * partition.bits >> 3));
    }
    const std::uint64_t cell = order[i];
    const std::uint64_t mixed = keys_of[cell];
    const FuseCells at = fuse.cells_of(mixed);
    // The cell itself is still zero.
    const std::uint64_t value = (fuse.load(at.first) ^ fuse.load(at.second) ^ fuse.load(at.third) ^
                                 FusePartition::fingerprint(mixed)) &
                                fuse.mask;
    std::byte* const to = bytes + (cell * partition.bits >> 3);
    store_le64(to, load_le64(to) | value << (cell * partition.bits & 7));
  }
}

BuiltPartition PartitionBuilder::build(std::span<std::uint64_t> keys, std::uint32_t bits) {
  constexpr std::size_t kMostKeys = std::size_t{1} << 31;
  BuiltPartition partition;
  partition.bits = bits;
  const auto try_once = [&](std::uint32_t attempt) {
    partition.keys = keys.size();
    partition.geometry = partition_geometry(partition.keys, attempt);
    return peel(keys, partition);
  };
  partition.seed = seed_of(0);
  keys = place(keys, room_of(keys.size()),
               [seed = partition.seed](std::uint64_t key) noexcept { return mix_key(key, seed); });
  // Equal keys can never be peeled. So if all keys can be peeled, no two are equal, and no search for them is needed.
  if (keys.size() > kMostKeys || some_are_equal(keys) || !try_once(0)) {
    sort(keys, keys_of_cell_.take(room_of(keys.size())).data());
    const auto different =
        static_cast<std::size_t>(std::unique(keys.begin(), keys.end()) - keys.begin());
    std::uint32_t attempt = different == keys.size() ? 1 : 0;
    keys = keys.first(different);
    if (different > kMostKeys)
      throw Error(ErrorCode::too_large, "a partition of a frozen filter would have " +
                                            std::to_string(different) +
                                            " keys, above the limit of 2^31; divide the set");
    for (;; ++attempt) {
      const std::uint64_t before = std::exchange(partition.seed, seed_of(attempt));
      keys = place(keys, room_of(keys.size(), attempt),
                   [before, seed = partition.seed](std::uint64_t key) noexcept {
                     return mix_key(unmix(key, before), seed);
                   });
      if (try_once(attempt)) break;
    }
  }
  partition.cells = BitMemory(static_cast<std::size_t>(partition.geometry.bytes(bits)));
  fill(partition);
  return partition;
}

}  // namespace bloomery::detail
