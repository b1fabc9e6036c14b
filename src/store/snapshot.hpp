// The bits of a file, all of them: checked, loaded or mapped as contents, and replaced.
//
// Counting a key twice is not counting it once. So in files of the kinds that are not stored in place
// the bits are a snapshot that no writer changes; the journal behind it, in the same file, has the
// operations since then; and a newer snapshot is a new file with an empty journal. Whichever of the
// two files a crash leaves at the path, every operation is in its snapshot or in its journal, and
// none is in both.
#pragma once

#include "format/contents.hpp"
#include "store/opened.hpp"

#include <memory>
#include <vector>

namespace bloomery::detail {

// Every chunk against its own sum, and all of them against the header's total.
struct ChunkCheck {
  std::vector<std::uint64_t> damaged;  // chunks that no sum vouches for
  Sums read;                           // the sums of what was read
  bool sums_damaged = false;           // the sums are, and the bits are not
};
// For bits that no writer stores into. A chunk that the device refuses to read is damaged.
[[nodiscard]] ChunkCheck check_chunks(const File& file, const Header& header);

struct Loaded {
  std::unique_ptr<Contents> contents;
  Sums sums;
};
// The bits in memory. Error{corrupt}: they do not add up to what the header says; {no_memory}.
[[nodiscard]] Loaded load_snapshot(const Opened& opened);
// The bits as they are in the file, unchecked.
[[nodiscard]] Payload map_payload(const Opened& opened, Os::Map how);
[[nodiscard]] std::unique_ptr<Contents> map_contents(const Opened& opened);

// Writes contents and sums into a new file, and completes the header with what it says of them. sparse:
// zeros are left out, so that they become holes.
void write_snapshot(File& file, Header& header, const Contents& contents, bool sparse = false);

// Replaces the file by a snapshot of the contents, up to there in the batch: clean (journal_bytes is 0), or
// with an empty journal. After an Error the path has the old file or, if `opened` is that already, the new
// one, whose name the device may lose.
void replace_snapshot(Opened& opened, const Contents& contents, const Batch& batch, State state,
                      std::uint64_t journal_bytes);

// How far a journal has been replayed.
struct JournalPosition {
  std::uint32_t sector = 0;
  std::uint64_t operations = 0;
  Batch batch{};  // where it stands then; at sector 0 that of the header
};
// Does the operations that the journal has from the position on; if a writer is alive, those that it
// has written so far. Error{corrupt}: an acknowledged record is damaged; {no_memory}: the position
// says how far it got.
void replay_operations(const File& file, const Header& header, Contents& contents,
                       JournalPosition& position);

}  // namespace bloomery::detail
