// A shard's keys, mixed and sorted; the order in which they can be peeled; the slots, in the reverse order.
//
// Each key is an edge between its three slots. As long as a slot has one key left, that key can be taken out: nothing
// that is taken out after it needs the slot. If every key can be taken out, slots are filled from the last one back, and each
// slot makes its own key right. Keys are sorted by their first slot, and the neighbours of a slot are near, so that
// building stays in the processor's second cache.
#include "filter/frozen_shard.hpp"

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

// The inverse of mix().
std::uint64_t unmix(std::uint64_t mixed, std::uint64_t seed) noexcept {
  mixed = (mixed ^ mixed >> 33) * 0x9CB4B2F8129337DB;
  mixed = (mixed ^ mixed >> 33) * 0x4F74430C22A54005;
  return mixed ^ mixed >> 33 ^ seed;
}

std::uint64_t seed_of(std::uint32_t attempt) noexcept {
  return (attempt + std::uint64_t{1}) * 0x9E3779B97F4A7C15;
}

// One pass of a radix sort by 11 bits.
void distribute(std::span<const std::uint64_t> from, std::uint64_t* to, unsigned shift) noexcept {
  constexpr std::size_t kValues = 2048;
  std::array<std::size_t, kValues> next{};
  for (const std::uint64_t key : from) ++next[key >> shift & (kValues - 1)];
  std::size_t begin = 0;
  for (std::size_t& count : next) begin += std::exchange(count, begin);
  for (const std::uint64_t key : from) to[next[key >> shift & (kValues - 1)]++] = key;
}

// By their highest 33 bits in three passes; few are equal in those.
void sort(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& memory) {
  constexpr std::size_t kFew = 2048;
  if (keys.size() < kFew) {
    std::ranges::sort(keys);
    return;
  }
  memory.resize(std::max(memory.size(), keys.size()));
  const std::span<std::uint64_t> other = std::span(memory).first(keys.size());
  distribute(keys, other.data(), 31);
  distribute(other, keys.data(), 42);
  distribute(keys, other.data(), 53);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t key = other[i];
    std::size_t at = i;
    for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
    keys[at] = key;
  }
}

}  // namespace

bool ShardBuilder::peel(std::span<const std::uint64_t> keys, const BuiltShard& shard) {
  const FuseShard fuse = shard.fuse();
  const auto slots = static_cast<std::size_t>(shard.geometry.slots());
  keys_of_slot_.assign(slots, 0);
  count_.assign(slots, 0);
  order_.resize(slots);
  std::uint8_t most = 0;
  for (const std::uint64_t mixed : keys) {
    const FuseSlots at = fuse.slots_of(mixed);
    for (const std::uint64_t slot : {at.first, at.second, at.third}) {
      keys_of_slot_[slot] ^= mixed;
      most = std::max(most, ++count_[slot]);
    }
    if (most == std::numeric_limits<std::uint8_t>::max())
      return false;  // one more would not be counted
  }
  // Slots with one key wait at the end of order_, those that are peeled are at its beginning. A slot comes to have one
  // key at most once, so there is room for both.
  peeled_ = 0;
  std::size_t waiting = slots;
  for (std::size_t first = 0; first < slots; ++first) {
    if (count_[first] != 1) continue;
    order_[--waiting] = static_cast<std::uint32_t>(first);
    while (waiting < slots) {
      const std::uint32_t slot = order_[waiting++];
      if (count_[slot] != 1) continue;  // its key was another slot's
      order_[peeled_++] = slot;
      const std::uint64_t mixed = keys_of_slot_[slot];
      const FuseSlots at = fuse.slots_of(mixed);
      count_[slot] = 0;
      for (const std::uint64_t other : {at.first, at.second, at.third}) {
        if (other == slot) continue;
        keys_of_slot_[other] ^= mixed;
        if (--count_[other] == 1) order_[--waiting] = static_cast<std::uint32_t>(other);
      }
    }
  }
  return peeled_ == keys.size();
}

void ShardBuilder::fill(BuiltShard& shard) const noexcept {
  const FuseShard fuse = shard.fuse();
  std::byte* const bytes = shard.slots.bytes().data();
  for (std::size_t i = peeled_; i-- > 0;) {
    const std::uint64_t slot = order_[i];
    const std::uint64_t mixed = keys_of_slot_[slot];
    const FuseSlots at = fuse.slots_of(mixed);
    // The slot itself is zero yet.
    const std::uint64_t value = (fuse.load(at.first) ^ fuse.load(at.second) ^ fuse.load(at.third) ^
                                 FuseShard::fingerprint(mixed)) &
                                fuse.mask;
    std::byte* const to = bytes + (slot * shard.bits >> 3);
    store_le64(to, load_le64(to) | value << (slot * shard.bits & 7));
  }
}

BuiltShard ShardBuilder::build(std::vector<std::uint64_t>& keys, std::uint32_t bits) {
  BuiltShard shard;
  if (keys.empty()) return shard;
  shard.bits = bits;
  std::uint64_t seed = 0;  // what the keys are mixed with
  for (std::uint32_t attempt = 0;; ++attempt) {
    shard.seed = seed_of(attempt);
    for (std::uint64_t& key : keys) key = mix(attempt == 0 ? key : unmix(key, seed), shard.seed);
    seed = shard.seed;
    sort(keys, keys_of_slot_);
    if (attempt == 0) {
      keys.erase(std::ranges::unique(keys).begin(), keys.end());
      shard.keys = keys.size();
      if (shard.keys > std::uint64_t{1} << 31)
        throw Error(ErrorCode::too_large, "a shard of a frozen filter would have " +
                                              std::to_string(shard.keys) +
                                              " keys, above the limit of 2^31; divide the set");
    }
    shard.geometry = shard_geometry(shard.keys, attempt);
    if (peel(keys, shard)) break;
  }
  shard.slots = BitMemory(static_cast<std::size_t>(shard.geometry.bytes(bits)));
  fill(shard);
  return shard;
}

}  // namespace bloomery::detail
