// A record of the journal: up to 29 acknowledged keys in one sector that has its own checksum.
//
// In a plain filter a record says which keys were inserted. Operations of the other kinds must not be done twice, so
// there a record says in which order the operations were done: inserts and removals of keys, or the new time of a
// window.
//
// A device writes a sector of 512 bytes completely or not at all. So a sector of the journal is a record of this
// epoch, an older record, or reserved zeros; anything else is damage. A record is never overwritten in its epoch,
// unless it was never acknowledged.
#pragma once

#include <bloomery/hash.hpp>

#include "base/os.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bloomery::detail {

constexpr std::uint64_t kSectorBytes = 512;
constexpr std::size_t kHashesPerSector = 29;
constexpr std::uint64_t kMaxJournalBytes = std::uint64_t{256} << 20;

// The journal is as large as the bits. So a checkpoint, which writes all bits, costs as much as the journal writes
// before it.
[[nodiscard]] constexpr std::uint64_t journal_bytes_for(std::uint64_t bits_bytes) noexcept {
  constexpr std::uint64_t kMinJournalBytes = 16 << 10;
  const std::uint64_t rounded = bits_bytes / 4096 * 4096;
  return rounded < kMinJournalBytes   ? kMinJournalBytes
         : rounded > kMaxJournalBytes ? kMaxJournalBytes
                                      : rounded;
}

enum class Journaled : std::uint16_t {
  keys = 0,
  time = 1,  // hashes[0].high is the new time of a window; only this kind has it
};

struct JournalRecord {
  std::uint64_t epoch = 0;
  std::uint32_t index = 0;   // of the record's sector
  std::uint32_t synced = 0;  // sectors before this one were on the device when it was written
  // Plain: the total of the bits when these keys are in them. Other kinds: the total of the snapshot.
  std::uint64_t total = 0;
  // Plain: the file's count of inserts after these keys. Other kinds: the keys and times of this epoch before this
  // record.
  std::uint64_t inserted = 0;
  std::uint16_t count = 0;
  Journaled what = Journaled::keys;
  std::uint32_t removed = 0;  // bit i: key i was removed, not inserted
  std::array<Hash128, kHashesPerSector> hashes;
};

using Sector = std::span<std::byte, kSectorBytes>;
using ConstSector = std::span<const std::byte, kSectorBytes>;

void encode_record(const JournalRecord& record, const Os::Id& identity, Sector sector) noexcept;

enum class SectorState : std::uint8_t { empty, record, damaged };
// Fills `record` if the sector holds a record of any epoch. `index`: the number of the sector.
[[nodiscard]] SectorState decode_record(ConstSector sector, const Os::Id& identity,
                                        std::uint32_t index, JournalRecord& record) noexcept;

}  // namespace bloomery::detail
