// Loading, replacing and replaying on top of snapshots.
#include "store/snapshot.hpp"

#include <bloomery/error.hpp>

#include "store/journal_file.hpp"
#include "store/new_file.hpp"

namespace bloomery::detail {

Loaded load_snapshot(const Opened& opened) {
  Payload payload(layout_of(opened.header).bits_bytes);
  opened.file.read(payload.bytes(), kBitsAt);
  Sums sums = sums_of(payload.bytes());
  if (total_of(sums) != opened.header.total)
    throw Error(
        ErrorCode::corrupt,
        opened.file.path() + ": the bits are damaged; verify says where, salvage saves the rest");
  return {make_contents(opened.header, std::move(payload)), std::move(sums)};
}

std::unique_ptr<Contents> map_snapshot(const Opened& opened) {
  const std::uint64_t bytes = layout_of(opened.header).bits_bytes;
  return make_contents(opened.header,
                       Payload(opened.file.map(kBitsAt + bytes, Os::Map::shared_read), bytes));
}

void write_snapshot(File& file, Header& header, const Contents& contents) {
  contents.describe(header);
  const Pieces pieces = contents.pieces();
  const Sums sums = sums_of(pieces);
  header.total = total_of(sums);
  write_first_header(file, header);
  std::uint64_t at = kBitsAt;
  for (const auto piece : pieces) {
    file.write(piece, at);
    at += piece.size();
  }
  file.write(encode_sums(sums), layout_of(header).sums_at);
}

void replace_snapshot(Opened& opened, const Contents& contents, State state,
                      std::uint64_t journal_bytes) {
  Header header = opened.header;
  ++header.generation;
  header.state = state;
  header.journal_bytes = journal_bytes;
  if (has_journal(state)) {
    ++header.epoch;
    // A journal that goes on has the boot of this process in its header already; asking again
    // could fail, and the new file would be of no boot.
    if (!has_journal(opened.header.state)) header.boot = this_boot(opened.file.os());
  }
  contents.describe(header);
  const FileLayout layout = layout_of(header);
  NewFile fresh(opened.file.os(), opened.file.path(),
                journal_bytes == 0 ? layout.clean_bytes : layout.journal_at + journal_bytes,
                opened.file);
  write_snapshot(fresh.file(), header, contents);
  fresh.file().sync();
  fresh.name(opened.file);
  opened = {fresh.take(), std::move(header), 0};
  fresh.make_name_last();
}

namespace {

void replay(const File& file, const JournalRecord& record, Contents& contents) {
  if (record.what == Journaled::time) {
    if (contents.window() == nullptr) refuse_journal(file, record.index);
    contents.window()->advance(record.hashes[0].high);
    return;
  }
  const auto hashes = std::span(record.hashes).first(record.count);
  const auto is_removed = [&](std::size_t i) { return (record.removed >> i & 1) != 0; };
  for (std::size_t from = 0, to = 0; from < hashes.size(); from = to) {
    const bool removed = is_removed(from);
    while (to < hashes.size() && is_removed(to) == removed) ++to;
    const auto run = hashes.subspan(from, to - from);
    if (!removed) {
      contents.prepare(run);
      contents.insert(run, {});
    } else {
      if (contents.counting() == nullptr) refuse_journal(file, record.index);
      contents.counting()->remove_hashes(run);
    }
  }
}

}  // namespace

void replay_operations(const File& file, const Header& header, Contents& contents,
                       Position& position) {
  for (;;) {
    const JournalIs is = file.locked() ? JournalIs::live : JournalIs::quiet;
    const JournalEnd end =
        read_journal(file, header, position.sector, is, [&](const JournalRecord& record) {
          if (record.total != header.total || record.inserted != position.operations)
            refuse_journal(file, record.index);
          replay(file, record, contents);
          position = {record.index + 1, position.operations + record.count};
        });
    // A live journal may end within a record that is just being written. If its writer is gone
    // by now, what is there is there for good.
    if (!end.damaged || file.locked()) return;
  }
}

}  // namespace bloomery::detail
