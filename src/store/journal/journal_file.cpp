// Walks over the sectors of a journal, and writes them.
#include "store/journal/journal_file.hpp"

#include <bloomery/error.hpp>

#include "format/kinds.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace bloomery::detail {

void refuse_journal(const File& file, std::uint32_t sector) {
  throw Error(ErrorCode::corrupt, file.path() + ": the journal is damaged at record " +
                                      std::to_string(sector) +
                                      ", keys may be lost; restore a backup or rebuild it");
}

JournalEnd read_journal(const File& file, const Header& header, std::uint32_t from, JournalIs is,
                        const std::function<void(const JournalRecord&)>& visit) {
  const std::uint64_t journal_at = layout_of(header).journal_at;
  const auto sectors = static_cast<std::uint32_t>(header.journal_bytes / kSectorBytes);
  constexpr std::uint32_t kBlockSectors = (1 << 20) / kSectorBytes;
  std::vector<std::byte> block(std::min(kBlockSectors, sectors - from) * kSectorBytes);
  JournalEnd end{from};
  bool ended = false;
  JournalRecord record;
  for (std::uint32_t index = from; index < sectors; ++index) {
    const std::uint32_t in_block = (index - from) % kBlockSectors;
    if (in_block == 0)
      file.read(std::span(block).first(std::min(kBlockSectors, sectors - index) * kSectorBytes),
                journal_at + index * kSectorBytes);
    const ConstSector sector =
        std::span(block).subspan(in_block * kSectorBytes).first<kSectorBytes>();
    const SectorState state = decode_record(sector, header.identity, index, record);
    const bool current = state == SectorState::record && record.epoch == header.epoch;
    if (ended) {
      // Sectors after the end may be parts of a batch that was never acknowledged. But if such a record says that
      // more sectors were on the device, then some of these are lost.
      if (current && record.synced > end.sectors) refuse_journal(file, end.sectors);
      continue;
    }
    if (current) {
      visit(record);
      end.sectors = index + 1;
      continue;
    }
    const bool stale = state == SectorState::record && record.epoch < header.epoch;
    end.damaged = state != SectorState::empty && !stale;
    if (is == JournalIs::live) return end;
    if (end.damaged) refuse_journal(file, index);
    ended = true;
  }
  return end;
}

void write_records(Opened& opened, std::span<std::byte> records, std::uint64_t at) {
  try {
    opened.file.write(records, at);
  } catch (...) {
    // A later reader would take a part of a record for damage.
    opened.poisoned = true;
    std::ranges::fill(records, std::byte{0});
    opened.file.write(records, at);
    opened.file.sync();
    opened.poisoned = false;
    throw;
  }
}

}  // namespace bloomery::detail
