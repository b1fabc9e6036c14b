// Checks, loads and replaces snapshots, and replays journals.
#include "store/journal/snapshot.hpp"

#include <bloomery/error.hpp>

#include "format/kinds.hpp"
#include "format/make_contents.hpp"
#include "store/disk/holes.hpp"
#include "store/disk/new_file.hpp"
#include "store/journal/journal_file.hpp"

namespace bloomery::detail {

namespace {

// Sums that the device refuses to read are zeros, which count as mismatches.
Sums stored_sums(const File& file, const FileLayout& layout) {
  std::vector<std::byte> stored(layout.chunks * 8);
  (void)file.try_read(stored, layout.sums_at);
  return decode_sums(stored);
}

// Reads the bits that are not holes.
void read_around(const Opened& opened, const Holes& holes, std::span<std::byte> bits) {
  const FileLayout layout = layout_of(opened.header);
  for (std::uint64_t chunk = 0; chunk < layout.chunks; ++chunk)
    if (!holes.has(chunk))
      opened.file.read(bits.subspan(chunk * kChunkBytes, layout.chunk_bytes(chunk)),
                       kBitsAt + chunk * kChunkBytes);
}

void replay(const File& file, const JournalRecord& record, Contents& contents, Batch& batch) {
  if (record.what == Journaled::time) {
    if (!contents.can(Ability::advance)) refuse_journal(file, record.index);
    // Only one of the two calls changes the time: the writer noted a different time and moved the window to it.
    contents.set_back(record.hashes[0].high);
    contents.advance(record.hashes[0].high);
    return;
  }
  const auto hashes = std::span(record.hashes).first(record.count);
  const auto is_removed = [&](std::size_t i) { return (record.removed >> i & 1) != 0; };
  for (std::size_t from = 0, to = 0; from < hashes.size(); from = to) {
    const bool removed = is_removed(from);
    while (to < hashes.size() && is_removed(to) == removed) ++to;
    const auto run = hashes.subspan(from, to - from);
    if (batch.open) batch.add(run, removed);
    if (!removed) {
      contents.prepare(run);
      contents.insert(run, {});
    } else {
      if (!contents.can(Ability::remove)) refuse_journal(file, record.index);
      contents.remove(run, {});
    }
  }
}

}  // namespace

ChunkCheck check_chunks(const File& file, const Header& header) {
  const FileLayout layout = layout_of(header);
  const Sums stored = stored_sums(file, layout);
  const Holes holes(file, header);
  std::vector<std::byte> buffer(kChunkBytes);
  ChunkCheck check;
  bool readable = true;
  std::uint64_t total = 0;
  for (std::uint64_t chunk = 0; chunk < layout.chunks; ++chunk) {
    const auto blocks = std::span(buffer).first(layout.chunk_bytes(chunk));
    const bool hole = holes.has(chunk);
    const bool read = hole || file.try_read(blocks, kBitsAt + chunk * kChunkBytes) == 0;
    const std::uint64_t sum = hole ? holes.sum(chunk) : chunk_sum(chunk, blocks);
    check.read.push_back(sum);
    total += sum;
    readable &= read;
    if (!read || sum != stored[chunk]) check.damaged.push_back(chunk);
  }
  // The header's total is right for all bits together, so it is the stored sums that are wrong.
  if (readable && total == header.total) {
    check.sums_damaged = !check.damaged.empty();
    check.damaged.clear();
  }
  return check;
}

Error damaged_error(const std::string& path) {
  return {ErrorCode::corrupt,
          path + ": the bits are damaged; verify says where, salvage saves the rest"};
}

Loaded load_snapshot(const Opened& opened) {
  const Holes holes(opened.file, opened.header);
  Payload payload(payload_bytes(opened.header));
  if (holes.none())
    opened.file.read(payload.bytes(), kBitsAt);
  else
    read_around(opened, holes, payload.bytes());
  Sums sums = holes.sums_of(payload.bytes());
  if (total_of(sums) != opened.header.total) throw damaged_error(opened.file.path());
  return {make_contents(opened.header, std::move(payload)), std::move(sums)};
}

Payload map_payload(const Opened& opened, Os::Map how) {
  const std::uint64_t bytes = payload_bytes(opened.header);
  return {opened.file.map(kBitsAt + bytes, how), bytes};
}

std::unique_ptr<Contents> map_contents(const Opened& opened) {
  return make_contents(opened.header, map_payload(opened, Os::Map::shared_read));
}

void write_snapshot(File& file, Header& header, const Contents& contents, bool sparse) {
  contents.describe(header);
  const Pieces pieces = contents.pieces();
  const Sums sums = sums_of(pieces);
  header.total = total_of(sums);
  write_first_header(file, header);
  std::uint64_t at = kBitsAt;
  for (const auto piece : pieces) {
    if (sparse)
      file.write_sparsely(piece, at);
    else
      file.write(piece, at);
    at += piece.size();
  }
  file.write(encode_sums(sums), layout_of(header).sums_at);
}

void replace_snapshot(Opened& opened, const Contents& contents, const Batch& batch,
                      const Beginning& next) {
  const auto [state, journal_bytes] = next;
  Header header = opened.header;
  header.batch = batch;
  ++header.generation;
  header.state = state;
  header.journal_bytes = journal_bytes;
  if (has_journal(state)) {
    ++header.epoch;
    // A journal that continues mostly has the boot of this process in its header, and asking again could fail.
    if (!has_journal(opened.header.state) || header.boot == Os::Id{})
      header.boot = boot_for(state, opened.file.os(), opened.file.path());
  }
  contents.describe(header);
  const FileLayout layout = layout_of(header);
  const std::uint64_t size =
      journal_bytes == 0 ? layout.clean_bytes : layout.journal_at + journal_bytes;
  const bool sparse = !Holes(opened.file, opened.header).none();
  constexpr int kTries = 10;
  for (int i = 1;; ++i) {
    require_at_a_path(opened);
    NewFile fresh(opened.file.os(), opened.file.path(), sparse ? 0 : size, opened.file);
    require_own(
        opened);  // from here on, `fresh` knows when something else has written into the file
    write_snapshot(fresh.file(), header, contents, sparse);
    if (sparse && journal_bytes != 0) fresh.file().reserve(layout.journal_at, journal_bytes);
    fresh.file().sync();
    bool taken = false;
    try {
      taken = fresh.take_place_of(opened.file);
    } catch (...) {
      opened.poisoned |= fresh.is_named();
      throw;
    }
    if (taken) {
      opened = {fresh.take(), std::move(header)};
      fresh.make_name_last();
      return;
    }
    if (i == kTries)
      throw Error(ErrorCode::locked, opened.file.path() +
                                         ": is renamed or touched again and again while it is "
                                         "written; try again");
  }
}

void replay_operations(const File& file, const Header& header, Contents& contents,
                       JournalPosition& position) {
  if (position.sector == 0) position.batch = header.batch;
  for (;;) {
    const JournalIs is = file.locked() ? JournalIs::live : JournalIs::quiet;
    const JournalEnd end =
        read_journal(file, header, position.sector, is, [&](const JournalRecord& record) {
          if (record.total != header.total || record.inserted != position.operations)
            refuse_journal(file, record.index);
          replay(file, record, contents, position.batch);
          position.sector = record.index + 1;
          position.operations += record.count;
        });
    position.ended = is == JournalIs::quiet;
    // A live journal may end in a record that is just being written. If its writer has ended by now, the records no
    // longer change.
    if (!end.damaged || file.locked()) return;
  }
}

}  // namespace bloomery::detail
