// Compaction: fingerprints move to older sub-filters, in slices.
//
// A fingerprint that moves to an older sub-filter keeps its bucket there: the older one has no more
// buckets, and both numbers are powers of two. It is written before it is removed, so it is never
// missing.
#include <algorithm>

#include "cuckoo/filter.hpp"

namespace bloomery::server::cuckoo {

namespace {

// How many sub-filters are probed for an empty entry before a call ends: when a compaction begins, and
// when an insert or a remove continues it. docs/cuckoo.md has the times. If this is enough for a whole
// compaction, every entry is where RedisBloom has it.
constexpr std::uint64_t kProbesAtOnce = std::uint64_t{1} << 22;
constexpr std::uint64_t kProbesBeside = std::uint64_t{1} << 14;

}  // namespace

void Filter::compact() noexcept { start_compaction(true); }

void Filter::go_on() noexcept { compact_some(kProbesBeside); }

void Filter::start_compaction(bool thorough) noexcept {
  if (!is_compacting()) compaction_.sub_filter = header_.sub_filters - 1;
  compaction_.thorough |= thorough;
  compact_some(kProbesAtOnce);
}

// False: the fingerprint has to stay.
bool Filter::move_down(std::uint32_t from, std::uint64_t bucket, Entry& entry) noexcept {
  const Place place(entry, bucket);
  for (std::uint32_t i = 0; i < from; ++i)
    if (put(i, place)) {
      entry = 0;
      return true;
    }
  return false;
}

void Filter::compact_some(std::uint64_t probes) noexcept {
  std::uint64_t left = probes;
  while (is_compacting()) {
    const std::uint32_t from = compaction_.sub_filter;
    const std::uint64_t buckets = buckets_of(from);
    Entry* entry = entries_of(from) + compaction_.bucket * header_.bucket_size;
    for (std::uint64_t& bucket = compaction_.bucket; bucket < buckets; ++bucket) {
      if (left == 0) return;
      for (std::uint32_t i = 0; i < header_.bucket_size; ++i, ++entry)
        if (*entry != 0) {
          compaction_.stays |= !move_down(from, bucket, *entry);
          left -= std::min<std::uint64_t>(left, from);
        }
      left -= std::min<std::uint64_t>(left, 1);
    }
    const bool stays = compaction_.stays;
    if (!stays && from == header_.sub_filters - 1) release_newest();
    const bool thorough = compaction_.thorough;
    compaction_ = {};
    if (from != 1 && (!stays || thorough)) {
      compaction_.sub_filter = from - 1;
      compaction_.thorough = thorough;
    }
  }
  compaction_ = {};
  header_.deletes = 0;
}

}  // namespace bloomery::server::cuckoo
