// The journal of a kind whose operations may not be done twice: what is written to it, and when
// that is on the device.
//
// `process`: an operation counts when it is written; a file that was left so is refused after
// another boot, unless settle() came last. `sync`: an operation counts when the device has it.
#pragma once

#include <bloomery/filter_file.hpp>

#include "format/journal.hpp"
#include "store/snapshot.hpp"

#include <vector>

namespace bloomery::detail {

class OperationJournal {
 public:
  // `opened`: a writer's clean file. Reserves the room; Error{no_space}.
  OperationJournal(Opened& opened, Durability durability);

  // How many keys it takes at once.
  [[nodiscard]] std::size_t most_keys() const noexcept;
  // Whether so many keys more do not fit.
  [[nodiscard]] bool is_full_for(std::size_t keys) const noexcept;
  // Writes them down, as the durability asks. After an Error they are not in the journal, or
  // else it is poisoned.
  void note(std::span<const Hash128> hashes, bool removed);
  void note_time(std::uint64_t now);  // as one key

  // All that was noted is on the device, and will be believed in any boot.
  void settle();
  // The file is replaced by a snapshot of all that was noted, with an empty journal; a larger
  // one than before where the filter is small, so that it is not replaced all the time. After
  // an Error the old one goes on, or else it is poisoned.
  void restart(const Contents& contents);
  // The file is a clean snapshot of all that was noted, without a journal. Errors as restart.
  void finish(const Contents& contents);

  [[nodiscard]] bool poisoned() const noexcept { return poisoned_; }
  void poison() noexcept { poisoned_ = true; }

 private:
  void begin();
  void enter(State state);
  [[nodiscard]] JournalRecord first_record() const;
  [[nodiscard]] Sector sector(std::uint32_t index) noexcept;  // of those in the buffer
  void append(Position end);
  void replace(const Contents& contents, State state, std::uint64_t bytes);

  Opened* opened_;
  State state_;          // while operations are noted
  std::uint64_t bytes_;  // of the room
  Position end_;
  std::uint32_t settled_ = 0;  // sectors of a `process` writer that are on the device
  std::vector<std::byte> buffer_;
  bool poisoned_ = false;  // it is not known what the device has
};

}  // namespace bloomery::detail
