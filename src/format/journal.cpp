// Encodes journal records, and decodes them without trusting them.
#include "format/journal.hpp"

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "base/zeros.hpp"

#include <algorithm>

namespace bloomery::detail {

namespace {

enum Field : std::size_t {
  sector_checksum_at = 0,
  epoch_at = 8,
  index_at = 16,
  synced_at = 20,
  total_at = 24,
  inserted_at = 32,
  count_at = 40,
  what_at = 42,
  removed_at = 44,
  hashes_at = 48,
};
static_assert(hashes_at + kHashesPerSector * 16 == kSectorBytes);

// The checksum covers the identity: a record of another file is damage.
std::uint64_t record_checksum(ConstSector sector, const Os::Id& identity) noexcept {
  return checksum(sector.subspan<epoch_at>(),
                  load_le64(identity.data()) ^ load_le64(identity.data() + 8));
}

}  // namespace

void encode_record(const JournalRecord& record, const Os::Id& identity, Sector sector) noexcept {
  std::fill(sector.begin(), sector.end(), std::byte{0});
  std::byte* p = sector.data();
  store_le64(p + epoch_at, record.epoch);
  store_le(p + index_at, record.index);
  store_le(p + synced_at, record.synced);
  store_le64(p + total_at, record.total);
  store_le64(p + inserted_at, record.inserted);
  store_le(p + count_at, record.count);
  store_le(p + what_at, static_cast<std::uint16_t>(record.what));
  store_le(p + removed_at, record.removed);
  for (std::size_t i = 0; i < record.count; ++i) {
    store_le64(p + hashes_at + 16 * i, record.hashes[i].high);
    store_le64(p + hashes_at + 16 * i + 8, record.hashes[i].low);
  }
  store_le64(p + sector_checksum_at, record_checksum(sector, identity));
}

SectorState decode_record(ConstSector sector, const Os::Id& identity, std::uint32_t index,
                          JournalRecord& record) noexcept {
  const std::byte* p = sector.data();
  if (is_zeros(sector)) return SectorState::empty;
  if (load_le64(p + sector_checksum_at) != record_checksum(sector, identity))
    return SectorState::damaged;
  record.epoch = load_le64(p + epoch_at);
  record.index = load_le<std::uint32_t>(p + index_at);
  record.synced = load_le<std::uint32_t>(p + synced_at);
  record.total = load_le64(p + total_at);
  record.inserted = load_le64(p + inserted_at);
  record.count = load_le<std::uint16_t>(p + count_at);
  record.what = static_cast<Journaled>(load_le<std::uint16_t>(p + what_at));
  record.removed = load_le<std::uint32_t>(p + removed_at);
  if (record.index != index || record.synced > index || record.count == 0 ||
      record.count > kHashesPerSector)
    return SectorState::damaged;
  const bool time = record.what == Journaled::time;
  if (record.what > Journaled::time || (time && record.count != 1) ||
      record.removed >> (time ? 0 : record.count) != 0)
    return SectorState::damaged;
  for (std::size_t i = 0; i < record.count; ++i)
    record.hashes[i] = {load_le64(p + hashes_at + 16 * i), load_le64(p + hashes_at + 16 * i + 8)};
  return SectorState::record;
}

}  // namespace bloomery::detail
