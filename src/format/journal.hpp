// The journal's record: up to 29 acknowledged keys in one sector that vouches for itself.
//
// Of a plain filter a record says which keys were inserted. Of the other kinds, whose operations
// may not be done twice, it says which operations followed which: inserts and removals of keys,
// or the time that a window has moved on to.
//
// A device writes a sector of 512 bytes whole or not at all, so a sector of the journal is
// either a record of this epoch, an older one, or zeros as reserved; anything else is damage.
// A record is never written over within its epoch, except one that was never acknowledged.
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

// As large as the bits, so that a checkpoint, which writes all of them, costs as much as the
// journaling before it.
[[nodiscard]] constexpr std::uint64_t journal_bytes_for(std::uint64_t bits_bytes) noexcept {
  constexpr std::uint64_t kMinJournalBytes = 16 << 10;
  const std::uint64_t rounded = bits_bytes / 4096 * 4096;
  return rounded < kMinJournalBytes   ? kMinJournalBytes
         : rounded > kMaxJournalBytes ? kMaxJournalBytes
                                      : rounded;
}

enum class Journaled : std::uint16_t {
  keys = 0,
  time = 1,  // hashes[0].high is the new time of a window; only there
};

struct JournalRecord {
  std::uint64_t epoch = 0;
  std::uint32_t index = 0;   // of its sector
  std::uint32_t synced = 0;  // sectors before this one were on the device when it was written
  // Plain: of the bits, once these keys are in them. Other kinds: of the bits under the journal.
  std::uint64_t total = 0;
  // Plain: the file's count, then. Other kinds: how many keys and times this epoch had before.
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
// `record` is filled where the sector holds one, of whatever epoch. `index`: which sector.
[[nodiscard]] SectorState decode_record(ConstSector sector, const Os::Id& identity,
                                        std::uint32_t index, JournalRecord& record) noexcept;

}  // namespace bloomery::detail
