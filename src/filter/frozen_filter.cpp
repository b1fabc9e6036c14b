// Look-ups in bulk, and a frozen filter over its bytes.
#include <bloomery/frozen_filter.hpp>

#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <string>

#include "base/endian.hpp"
#include "filter/frozen_shard.hpp"

namespace bloomery {

namespace {

using detail::FuseShard;
using detail::FuseSlots;

[[noreturn]] void refuse(std::uint32_t shard, const std::string& what) {
  throw Error(ErrorCode::corrupt, "shard " + std::to_string(shard) + " of a frozen filter has " +
                                      what + "; build the filter again");
}

// A filter of no keys is a table of one entry of zeros. Of a shard without slots a look-up reads these, which no key but one of
// 2^32 agrees with.
alignas(64) constexpr std::array<std::byte, 64> kZeros{};
constexpr FuseShard kEmptyShard{
    .slots = kZeros.data(), .seed = 0x9E3779B97F4A7C15, .mask = UINT32_MAX, .bits = 32};

// An entry of the table, zeros if the shard has no keys: where its slots begin (8), its keys (8), the seed (8), the segments in which first slots are
// (4), the bits of a segment's size (1), of a fingerprint (1), zeros (2).
struct Entry {
  std::uint64_t at, keys, seed;
  detail::ShardGeometry geometry;
  std::uint32_t bits;
};

void write_entry(const Entry& entry, std::byte* to) noexcept {
  detail::store_le64(to, entry.at);
  detail::store_le64(to + 8, entry.keys);
  detail::store_le64(to + 16, entry.seed);
  detail::store_le(to + 24, entry.geometry.starts);
  to[28] = static_cast<std::byte>(entry.geometry.segment_bits);
  to[29] = static_cast<std::byte>(entry.bits);
}

Entry read_entry(const std::byte* from, std::uint32_t shard) {
  const Entry entry{.at = detail::load_le64(from),
                    .keys = detail::load_le64(from + 8),
                    .seed = detail::load_le64(from + 16),
                    .geometry = {.starts = detail::load_le<std::uint32_t>(from + 24),
                                 .segment_bits = static_cast<std::uint32_t>(from[28])},
                    .bits = static_cast<std::uint32_t>(from[29])};
  if (entry.geometry.starts == 0) {
    if (!std::ranges::equal(std::span(from, detail::kShardEntryBytes),
                            std::span(kZeros).first(detail::kShardEntryBytes)))
      refuse(shard, "keys, but no slots");
    return entry;
  }
  if (entry.geometry.segment_bits > detail::kMaxSegmentBits || entry.geometry.slots() > UINT32_MAX)
    refuse(shard, std::to_string(entry.geometry.starts) + " segments of 2^" +
                      std::to_string(entry.geometry.segment_bits) + " slots");
  if (detail::load_le<std::uint16_t>(from + 30) != 0) refuse(shard, "unknown fields");
  return entry;
}

}  // namespace

FrozenFilter::FrozenFilter(const FrozenPlan& plan, const Hasher& hasher)
    : plan_(plan), hasher_(hasher) {}

FrozenFilter::FrozenFilter(double fpr, const Hasher& hasher)
    : FrozenFilter(empty_frozen_plan(fpr), hasher) {
  table_ = kZeros;
  shards_ = {kEmptyShard};
}

FrozenFilter::FrozenFilter(const FrozenPlan& plan, const Hasher& hasher,
                           std::vector<detail::BuiltShard> built)
    : FrozenFilter(plan, hasher) {
  const auto table_bytes = static_cast<std::size_t>(detail::shard_table_bytes(plan.shards));
  memory_.emplace_back(table_bytes);
  table_ = memory_.front().bytes();
  std::byte* entry = memory_.front().bytes().data();
  std::uint64_t at = table_bytes;
  for (detail::BuiltShard& shard : built) {
    if (shard.keys == 0) {
      shards_.push_back(kEmptyShard);
      entry += detail::kShardEntryBytes;
      continue;
    }
    write_entry({.at = at,
                 .keys = shard.keys,
                 .seed = shard.seed,
                 .geometry = shard.geometry,
                 .bits = shard.bits},
                entry);
    entry += detail::kShardEntryBytes;
    at += shard.slots.bytes().size();
    keys_ += shard.keys;
    slots_.push_back(shard.slots.bytes());
    shards_.push_back(shard.fuse());
    memory_.push_back(std::move(shard.slots));
  }
  plan_.array.bits = at * 8;
  plan_.array.capacity = std::max<std::uint64_t>(keys_, 1);
}

FrozenFilter FrozenFilter::over(const FrozenPlan& plan, std::uint64_t keys, const Hasher& hasher,
                                std::span<const std::byte> bytes) {
  validate(plan);
  FrozenFilter filter(plan, hasher);
  filter.keys_ = keys;
  const std::uint64_t table = detail::shard_table_bytes(plan.shards);
  if (bytes.size() != plan.bytes() || bytes.size() < table)
    refuse(0, std::to_string(bytes.size()) + " bytes in all");
  filter.table_ = bytes.first(static_cast<std::size_t>(table));
  std::uint64_t at = table, sum = 0;
  for (std::uint32_t shard = 0; shard < plan.shards; ++shard) {
    const Entry entry = read_entry(bytes.data() + shard * detail::kShardEntryBytes, shard);
    if (entry.geometry.starts == 0) {
      filter.shards_.push_back(kEmptyShard);
      continue;
    }
    if (entry.bits != plan.bits_of(shard))
      refuse(shard, "fingerprints of " + std::to_string(entry.bits) + " bits");
    const std::uint64_t size = entry.geometry.bytes(entry.bits);
    if (entry.at != at || size > bytes.size() - at)
      refuse(shard, "slots at byte " + std::to_string(entry.at));
    filter.slots_.push_back(
        bytes.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size)));
    filter.shards_.push_back(
        detail::fuse_of(entry.geometry, entry.seed, entry.bits, filter.slots_.back().data()));
    at += size;
    sum += entry.keys;
    if (entry.keys == 0 || entry.keys > entry.geometry.slots() || sum > keys)
      refuse(shard, std::to_string(entry.keys) + " keys");
  }
  if (at != bytes.size() || sum != keys || std::max<std::uint64_t>(keys, 1) != plan.array.capacity)
    refuse(plan.shards - 1, "not the last bytes or keys");
  return filter;
}

FrozenFilter FrozenFilter::over(const FrozenPlan& plan, std::uint64_t keys, const Hasher& hasher,
                                detail::BitMemory memory) {
  FrozenFilter filter = over(plan, keys, hasher, std::span<const std::byte>(memory.bytes()));
  filter.memory_.push_back(std::move(memory));
  return filter;
}

Stats FrozenFilter::stats(Precision /*precision*/) const noexcept {
  // Slots that a key has made right, of all.
  std::uint64_t slots = 0;
  for (const FuseShard& shard : shards_)
    slots += shard.first_slots + (std::uint64_t{2} << shard.segment_bits);
  return {.fill = static_cast<double>(keys_) / static_cast<double>(slots),
          .estimated_items = static_cast<double>(keys_),
          .current_fpr = plan_.fingerprint_fpr(),
          .over_capacity = false};
}

std::vector<std::span<const std::byte>> FrozenFilter::pieces() const {
  std::vector<std::span<const std::byte>> pieces = {table_};
  pieces.insert(pieces.end(), slots_.begin(), slots_.end());
  return pieces;
}

// A ring: three slots of each key are on their way from memory while older keys are looked at.
std::size_t FrozenFilter::do_contain(std::span<const Hash128> hashes,
                                     bool* answers) const noexcept {
  constexpr std::size_t kAhead = 64;
  struct Waiting {
    std::array<const std::byte*, 3> from;
    std::array<std::uint8_t, 4> shifts;
    std::uint32_t fingerprint, mask;
  };
  std::array<Waiting, kAhead> ring;
  const auto fetch = [&](std::size_t i) {
    const FuseShard& shard = shard_of(hashes[i]);
    const std::uint64_t mixed = detail::mix(hashes[i].low, shard.seed);
    const FuseSlots at = shard.slots_of(mixed);
    Waiting& waiting = ring[i % kAhead];
    const auto go = [&](std::size_t which, std::uint64_t slot) {
      const std::uint64_t bit = slot * shard.bits;
      waiting.from[which] = shard.slots + (bit >> 3);
      waiting.shifts[which] = static_cast<std::uint8_t>(bit & 7);
      __builtin_prefetch(waiting.from[which]);
    };
    go(0, at.first);
    go(1, at.second);
    go(2, at.third);
    waiting.fingerprint = static_cast<std::uint32_t>(FuseShard::fingerprint(mixed));
    waiting.mask = shard.mask;
  };
  std::size_t found = 0;
  const std::size_t count = hashes.size();
  for (std::size_t i = 0; i < std::min(count, kAhead); ++i) fetch(i);
  for (std::size_t i = 0; i < count; ++i) {
    const Waiting& it = ring[i % kAhead];
    const std::uint64_t slots = detail::load_slots(it.from[0]) >> it.shifts[0] ^
                                detail::load_slots(it.from[1]) >> it.shifts[1] ^
                                detail::load_slots(it.from[2]) >> it.shifts[2];
    const bool yes = ((slots ^ it.fingerprint) & it.mask) == 0;
    if (i + kAhead < count) fetch(i + kAhead);
    found += yes ? 1 : 0;
    if (answers != nullptr) answers[i] = yes;
  }
  return found;
}

}  // namespace bloomery
