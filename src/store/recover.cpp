// Replaying the journal, checking the outcome, and writing it down as clean.
#include "store/recover.hpp"

#include <bloomery/error.hpp>

#include "store/journal_file.hpp"

#include <algorithm>
#include <string>

namespace bloomery::detail {

namespace {

// A page whose write the device once refused may look clean to the system and never be
// written again; storing to it makes the system write it.
void store_again(FilterView& view, Hash128 hash) noexcept {
  for_each_block(view.plan().layout, view.bit_array(), hash, [&](std::uint64_t block) {
    volatile std::uint32_t* word = view.bit_array().words + block * (kBlockBits / 32);
    *word = *word;
  });
}

Replayed insert_records(const File& file, const Header& header, FilterView& view) {
  Replayed result{0, header.total, header.inserted, {}};
  const JournalEnd end =
      read_journal(file, header, 0, JournalIs::quiet, [&](const JournalRecord& record) {
        if (record.what != Journaled::keys || record.removed != 0)
          refuse_journal(file, record.index);
        const auto hashes = std::span<const Hash128>(record.hashes).first(record.count);
        view.insert_hashes(hashes);
        for (const Hash128 hash : hashes) store_again(view, hash);
        result.total = record.total;
        result.inserted = record.inserted;
      });
  result.records = end.sectors;
  return result;
}

}  // namespace

Replayed replay(const File& file, const Header& header, MappedBits& bits) {
  Replayed result = insert_records(file, header, bits.view);
  result.sums = sums_of(bits.bits());
  if (total_of(result.sums) != result.total)
    throw Error(ErrorCode::corrupt,
                file.path() +
                    ": the bits are not what its journal says, keys may be lost; "
                    "restore a backup or rebuild it");
  return result;
}

void write_back(File& file, const Mapping& bits) {
  file.flush(bits);
  file.sync();
}

void mark_failed(Opened& opened) noexcept {
  opened.header.state = State::failed;
  opened.header.journal_bytes = 0;
  try {
    store_header(opened);
  } catch (...) {
    // The device refuses this too; the header that it has says that a writer was at work.
    return;
  }
}

Error unclean_error(const Header& header, const std::string& path) {
  return {ErrorCode::unclean,
          path +
              (header.state == State::failed
                   ? ": the device refused what had been added, so keys may be missing"
                   : ": the machine stopped while it was being written without waiting for the "
                     "device, so keys may be missing") +
              "; rebuild it or restore a backup"};
}

bool is_lost(const Header& header, Os& os) noexcept {
  const bool in_memory = header.state == State::mapped || header.state == State::noted;
  return header.state == State::failed || (in_memory && !memory_is_whole(header, os));
}

void recover(Opened& opened) {
  Header& header = opened.header;
  const State was = header.state;
  if (was == State::clean) return;

  const FileLayout layout(header.plan);
  opened.file.reserve(0, layout.clean_bytes);
  MappedBits bits(opened, Os::Map::shared_write);
  Sums sums;
  if (was == State::journaled) {
    // A record that a killed writer had not synced is seen here and may yet be lost; its keys
    // in bits that are kept would then contradict the journal. So: the journal first.
    opened.file.sync();
    Replayed replayed = replay(opened.file, header, bits);
    header.inserted = replayed.inserted;
    sums = std::move(replayed.sums);
  } else {
    header.inserted = std::max(header.inserted, estimated_count(bits.view));
    sums = sums_of(bits.bits());
  }
  opened.file.write(encode_sums(sums), layout.sums_at);
  try {
    write_back(opened.file, bits.mapping);
  } catch (...) {
    if (was == State::mapped) mark_failed(opened);
    throw;
  }
  header.state = State::clean;
  header.journal_bytes = 0;
  header.total = total_of(sums);
  store_header(opened);
}

}  // namespace bloomery::detail
