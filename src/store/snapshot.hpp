// The file of a kind other than plain, whole: read into memory, or replaced by another.
//
// Counting a key twice is not counting it once. So the bits in such a file are never stored
// into: they are a snapshot, which the journal beside it, in the same file, goes on top of; and
// a newer snapshot is a new file, whose journal is empty. Whichever of the two a crash leaves at
// the path, no operation is both in the snapshot and in the journal, and none is in neither.
#pragma once

#include "store/contents.hpp"
#include "store/opened.hpp"

namespace bloomery::detail {

struct Loaded {
  std::unique_ptr<Contents> contents;
  Sums sums;
};

// The snapshot in memory. Error{corrupt}: its bits do not add up to what the header says;
// `no_memory`.
[[nodiscard]] Loaded load_snapshot(const Opened& opened);
// As it is in the file, unchecked, only to be read.
[[nodiscard]] std::unique_ptr<Contents> map_snapshot(const Opened& opened);

// Writes contents and sums into a new file, and completes the header with what it says of them.
void write_snapshot(File& file, Header& header, const Contents& contents);

// Replaces the file by a snapshot of the contents: clean (no journal_bytes), or with an empty
// journal. After an Error the path has the old file or, where `opened` is that already, the new
// one, whose name may not last.
void replace_snapshot(Opened& opened, const Contents& contents, State state,
                      std::uint64_t journal_bytes);

// How far a journal has been played.
struct Position {
  std::uint32_t sector = 0;
  std::uint64_t operations = 0;
};
// Does what the journal has from the position on; where a writer is alive, what it has written
// so far. Error{corrupt}: an acknowledged record is damaged; `no_memory`: as far as it got.
void replay_operations(const File& file, const Header& header, Contents& contents,
                       Position& position);

}  // namespace bloomery::detail
