// All bits of a file: checked, loaded or mapped as contents, and replaced.
//
// Counting a key twice is not the same as counting it once. So in files of the kinds that are not stored in place the
// bits are a snapshot that no writer changes. The journal behind it, in the same file, has the operations after the
// snapshot. A newer snapshot is a new file with an empty journal. Whichever of the two files is at the path after a
// crash, every operation is in its snapshot or in its journal, and none is in both.
#pragma once

#include "format/contents.hpp"
#include "store/disk/opened.hpp"

#include <memory>
#include <vector>

namespace bloomery::detail {

// The result of comparing every chunk with its own sum, and all chunks with the header's total.
struct ChunkCheck {
  std::vector<std::uint64_t> damaged;  // chunks whose sums do not match
  Sums read;                           // the sums of the chunks as they were read
  bool sums_damaged = false;           // the stored sums are damaged, but the bits are not
};
// For bits that no writer stores into. A chunk that the device refuses to read counts as damaged.
[[nodiscard]] ChunkCheck check_chunks(const File& file, const Header& header);

[[nodiscard]] Error damaged_error(const std::string& path);

struct Loaded {
  std::unique_ptr<Contents> contents;
  Sums sums;
};
// Loads the bits into memory. Error{corrupt}: their total is not the header's; {no_memory}.
[[nodiscard]] Loaded load_snapshot(const Opened& opened);
// Maps the bits as they are in the file, without a check.
[[nodiscard]] Payload map_payload(const Opened& opened, Os::Map how);
[[nodiscard]] std::unique_ptr<Contents> map_contents(const Opened& opened);

// Writes contents and sums into a new file, and completes the header with their fields. sparse: zeros are left out,
// so that they become holes.
void write_snapshot(File& file, Header& header, const Contents& contents, bool sparse = false);

// How a new file begins: clean, or with an empty journal.
struct Beginning {
  State state = State::clean;
  std::uint64_t journal_bytes = 0;
};

// Replaces the file by a snapshot of the contents; the header's batch becomes `batch`. After an Error the path has the
// old file or, if `opened` is already the new file, the new one, whose name the device may lose.
//
// The parameters are four, and not five, because gcc 12 for s390x loses the exception that is in flight in a function
// which catches, and passes a constant as fifth parameter.
void replace_snapshot(Opened& opened, const Contents& contents, const Batch& batch,
                      const Beginning& next);

// The end of the part of a journal that has been replayed.
struct JournalPosition {
  std::uint32_t sector = 0;
  std::uint64_t operations = 0;
  Batch batch{};       // the state of the batch there; at sector 0 it is the header's batch
  bool ended = false;  // its writer has ended: nothing follows, the next one makes a new file
};
// Does the operations in the journal from the position on; if a writer is alive, the operations that it has written
// so far. Error{corrupt}: an acknowledged record is damaged; {no_memory}: the position is the end of the replayed
// part.
void replay_operations(const File& file, const Header& header, Contents& contents,
                       JournalPosition& position);

}  // namespace bloomery::detail
