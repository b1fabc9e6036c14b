// The journal of operations that must not be done twice: which records are written, and when they are on the device.
//
// `process`: an operation is acknowledged when it is written; if the writer did not close the file, the file is
// refused in another boot, unless the last call was sync(). `sync`: an operation is acknowledged when it is on the
// device.
#pragma once

#include <bloomery/durability.hpp>

#include "format/journal.hpp"
#include "store/journal/snapshot.hpp"

#include <vector>

namespace bloomery::detail {

class OperationJournal {
 public:
  // `opened`: a clean file of a writer. Reserves room for the journal; Error{no_space}.
  OperationJournal(Opened& opened, Durability durability);

  // The most keys per group: a group is one write, and with `sync` it waits once for the device. The keys and records
  // of a group are in memory during the write.
  [[nodiscard]] std::size_t most_keys() const noexcept;
  // Whether the journal has no room for so many more keys.
  [[nodiscard]] bool is_full_for(std::uint64_t keys) const noexcept;
  // Writes operations to the journal, with the durability that was chosen. After an Error they are not in the
  // journal, or the file is poisoned.
  void note(std::span<const Hash128> hashes, bool removed);
  void note_time(std::uint64_t now);  // takes the room of one key

  // Puts all noted operations on the device; after that they are valid in any boot.
  void sync();
  // Replaces the file by a snapshot of all noted operations, with an empty journal. For a small filter the new
  // journal is larger than the one before, so that replacements become rarer. After an Error the old file continues,
  // or it is poisoned.
  void restart(const Contents& contents, const Batch& batch);
  // Replaces the file by a clean snapshot of all operations, noted or not. The next one begins a journal. Errors as
  // for restart.
  void save(const Contents& contents, const Batch& batch);
  // Replaces the file by a clean snapshot of all noted operations, without a journal. Errors as for restart.
  void finish(const Contents& contents, const Batch& batch);

 private:
  void reserve();
  [[nodiscard]] std::uint64_t next_bytes(const Contents& contents) const;
  void begin_again(std::uint64_t bytes) noexcept;
  void begin();
  void enter(State state);
  [[nodiscard]] JournalRecord first_record() const;
  [[nodiscard]] Sector sector(std::uint32_t index) noexcept;  // a sector of the buffer
  void append(JournalPosition end);
  void replace(const Contents& contents, const Batch& batch, const Beginning& next);

  Opened* opened_;
  State state_;             // the state while operations are noted
  std::uint64_t bytes_;     // the size, reserved or to be
  bool has_saved_ = false;  // operations are in the file also while it is clean
  JournalPosition end_;
  std::uint32_t synced_ = 0;  // sectors of a `process` writer that are on the device
  std::vector<std::byte> buffer_;
};

}  // namespace bloomery::detail
