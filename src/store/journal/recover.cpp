// Replays the journal, checks the result, and writes it as a clean file.
#include "store/journal/recover.hpp"

#include "format/kinds.hpp"
#include "format/make_contents.hpp"
#include "store/journal/journal_file.hpp"

#include <algorithm>

namespace bloomery::detail {

namespace {

// If the device once refused a write, the system may treat the page as clean and never write it again. A store to the
// page makes the system write it.
void store_again(const FilterView& view, Hash128 hash) noexcept {
  for_each_block(view.plan().layout, view.bit_array(), hash, [&](std::uint64_t block) {
    volatile std::uint32_t* word = view.bit_array().words + block * (kBlockBits / 32);
    *word = *word;
  });
}

// Inserts the journal's keys into the bits. Stores to every block of these keys, changed or not. Returns the sums of
// the bits. `room`: the file, if the bits are stored into it. Error{corrupt}: an acknowledged record is damaged, or
// the total of the bits is not the one in the last record.
Sums replay_in_place(const Opened& opened, BitContents& contents, Holes& holes, File* room) {
  std::uint64_t total = opened.header.total;
  (void)read_journal(opened.file, opened.header, 0, JournalIs::quiet,
                     [&](const JournalRecord& record) {
                       if (record.what != Journaled::keys || record.removed != 0)
                         refuse_journal(opened.file, record.index);
                       const auto hashes = std::span(record.hashes).first(record.count);
                       holes.fill(room, contents.filter(), hashes);
                       contents.insert(hashes, {});
                       for (const Hash128 hash : hashes) store_again(contents.filter(), hash);
                       contents.set_inserted(record.inserted);
                       total = record.total;
                     });
  Sums sums = holes.sums_of(contents.payload().bytes());
  if (total_of(sums) != total)
    throw Error(ErrorCode::corrupt,
                opened.file.path() +
                    ": the bits are not what its journal says, keys may be lost; "
                    "restore a backup or rebuild it");
  return sums;
}

// Error{corrupt}: the sums of the list are not as before.
void require_list(const Opened& opened, const Sums& sums) {
  if (!has_delta(opened.header.plan)) return;
  const FileLayout layout = layout_of(opened.header);
  const std::uint64_t delta = std::get<FrozenPlan>(opened.header.plan).delta->bytes();
  std::vector<std::byte> stored(layout.chunks * 8);
  opened.file.read(stored, layout.sums_at);
  const Sums before = decode_sums(stored);
  for (std::uint64_t chunk = FileLayout(delta).chunks; chunk < layout.chunks; ++chunk)
    if (sums[chunk] != before[chunk])
      throw Error(ErrorCode::corrupt, opened.file.path() + ": chunk " + std::to_string(chunk) +
                                          " of its list is damaged; rebuild it from its keys");
}

}  // namespace

bool is_lost(const Header& header, Os& os, const std::string& path) {
  if (!ends_with_boot(header.state)) return header.state == State::failed;
  const Os::Id boot = boot_for(header.state, os, path);
  return boot == Os::Id{} || boot != header.boot;
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

bool needs_replay(const Opened& opened) noexcept {
  if (!has_records(opened.header.state)) return false;
  // In the boot of its last writer the bits are complete; if that writer still runs, its inserts are visible at once.
  return !is_stored_in_place(opened.header.plan) || !is_same_boot(opened.header, opened.file.os());
}

std::unique_ptr<Contents> replayed_contents(const Opened& opened, JournalPosition& position,
                                            Holes& holes) {
  if (is_stored_in_place(opened.header.plan)) {
    auto contents = make_bits(opened.header, map_payload(opened, Os::Map::private_write));
    (void)replay_in_place(opened, *contents, holes, nullptr);
    return contents;
  }
  auto contents = load_snapshot(opened).contents;
  replay_operations(opened.file, opened.header, *contents, position);
  return contents;
}

void require_list(const Opened& opened) {
  if (has_delta(opened.header.plan))
    require_list(opened, check_chunks(opened.file, opened.header).read);
}

void recover(Opened& opened) {
  Header& header = opened.header;
  const State was = header.state;
  if (was == State::clean) return;

  const FileLayout layout = layout_of(header);
  Holes holes(opened.file, header);
  if (holes.none()) opened.file.reserve(0, layout.clean_bytes);
  const auto bits = make_bits(header, map_payload(opened, Os::Map::shared_write));
  BitContents& contents = *bits;
  Sums sums;
  if (was == State::journaled) {
    // A record that a killed writer did not sync is visible now and may still be lost. If the device kept bits with
    // its keys but not the record, they would contradict the journal. So the journal is synced first.
    opened.file.sync();
    sums = replay_in_place(opened, contents, holes, &opened.file);
  } else {
    contents.set_inserted(std::max(header.inserted, contents.estimated_count()));
    sums = holes.sums_of(contents.payload().bytes());
    require_list(opened, sums);
  }
  opened.file.write(encode_sums(sums), layout.sums_at);
  try {
    write_back(opened.file, contents.payload().mapping());
  } catch (...) {
    if (was == State::mapped) mark_failed(opened);
    throw;
  }
  contents.describe(header);
  header.state = State::clean;
  header.journal_bytes = 0;
  header.total = total_of(sums);
  store_header(opened);
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
    // The device refuses this write too; the header on it still says that a writer was at work.
    return;
  }
}

}  // namespace bloomery::detail
