// The journal of operations that may not be done twice: what is written to it, and when that is on
// the device.
//
// `process`: an operation is acknowledged when it is written; a file that was left so is refused in
// another boot, unless sync() came last. `sync`: it is acknowledged when the device has it.
#pragma once

#include <bloomery/durability.hpp>

#include "format/journal.hpp"
#include "store/snapshot.hpp"

#include <vector>

namespace bloomery::detail {

class OperationJournal {
 public:
  // `opened`: a writer's clean file. Reserves the room; Error{no_space}.
  OperationJournal(Opened& opened, Durability durability);

  // How many keys it takes at once: each group is one write, and with `sync` one wait for the device.
  // They and their records are in memory meanwhile.
  [[nodiscard]] std::size_t most_keys() const noexcept;
  // Whether so many more keys do not fit.
  [[nodiscard]] bool is_full_for(std::size_t keys) const noexcept;
  // Writes them down, as the durability asks. After an Error they are not in the journal, or
  // the file is poisoned.
  void note(std::span<const Hash128> hashes, bool removed);
  void note_time(std::uint64_t now);  // takes the room of one key

  // Everything that was noted is on the device, and will be believed in any boot.
  void sync();
  // Replaces the file by a snapshot of everything that was noted, with an empty journal; of a small
  // filter a larger journal than before, so that it is not replaced all the time. After
  // an Error the old file goes on, or it is poisoned.
  void restart(const Contents& contents, const Batch& batch);
  // Makes the file a clean snapshot of everything that was noted, without a journal. Errors as of
  // restart.
  void finish(const Contents& contents, const Batch& batch);

 private:
  void begin();
  void enter(State state);
  [[nodiscard]] JournalRecord first_record() const;
  [[nodiscard]] Sector sector(std::uint32_t index) noexcept;  // of those in the buffer
  void append(JournalPosition end);
  void replace(const Contents& contents, const Batch& batch, State state, std::uint64_t bytes);

  Opened* opened_;
  State state_;          // while operations are noted
  std::uint64_t bytes_;  // of the room
  JournalPosition end_;
  std::uint32_t synced_ = 0;  // sectors of a `process` writer that are on the device
  std::vector<std::byte> buffer_;
};

}  // namespace bloomery::detail
