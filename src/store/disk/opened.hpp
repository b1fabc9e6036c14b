// A filter file that is open, with its header read; for a writer, the lock is held.
#pragma once

#include "base/file.hpp"
#include "format/header_bytes.hpp"

#include <string>

namespace bloomery::detail {

struct Opened {
  File file;
  Header header;
  unsigned first = 0;        // the copy that the next header overwrites first
  bool both_current = true;  // both copies of the header are this header
  bool poisoned = false;     // a write failed, so the bytes on the device are unknown
};

// Errors as for FilterFile::open. The links of the path are followed, so a replacement of the file replaces the
// link's target.
[[nodiscard]] Opened open_for_reading(Os& os, const std::string& path);
[[nodiscard]] Opened open_for_writing(Os& os, const std::string& path);

// Error{not_a_filter}: it is a directory, a pipe or a device.
void require_regular(const File& file);

// Opens the file without a lock.
[[nodiscard]] File open_regular(Os& os, const std::string& target);

// Locks any filter file at the path, damaged or not, to replace it. Error{not_a_filter}: it is another file, which is
// never replaced.
[[nodiscard]] File lock_for_replacing(Os& os, const std::string& path);

// Error{poisoned | read_only | inherited}: an earlier write has failed, the file is closed, or it is the writer of the
// process from which this one was forked.
[[noreturn]] void refuse_to_write(const Opened& opened);
inline void require_writer(const Opened& opened) {
  if (opened.poisoned || !opened.file.is_open() || opened.file.is_inherited()) [[unlikely]]
    refuse_to_write(opened);
}

// Whether this file is still at its path, and no other file has replaced it.
[[nodiscard]] inline bool still_at_path(const File& file) { return file.is_at(file.path()); }

// A writer's file, or one of its directories, may be renamed: the writer keeps the file and takes over its current
// path. Error{missing}, and the file is poisoned: it was removed, or another process has written into it.
void require_own(Opened& opened);
// The first check of require_own: the file has some path.
void require_at_a_path(Opened& opened);
// Error{missing}, and the file is poisoned: another process has written into the file.
[[noreturn]] void refuse_foreign(Opened& opened);
// Whether the file has the header that its writer wrote last.
[[nodiscard]] bool has_own_header(const Opened& opened);

// Puts the file's name on the device. An earlier writer may have crashed after it gave the file that name and before
// it did this.
void make_name_last(const File& file);

// Does work that, if it fails, leaves the bytes on the device unknown; then it poisons the file.
template <class Work>
void or_poison(Opened& opened, Work work) {
  try {
    work();
  } catch (...) {
    opened.poisoned = true;
    throw;
  }
}

// Reads the header again.
[[nodiscard]] FoundHeader read_headers(const File& file);

// Writes `opened.header` to the file with a later generation: over one copy, and when that copy is on the device,
// over the other. After an Error the file has the old header or the new one, and nothing more may be written.
void store_header(Opened& opened);

// The boot id of the machine, or zeros if it is unknown.
[[nodiscard]] Os::Id this_boot(Os& os) noexcept;
// The same for a header of this state. Error{io | no_memory}: it cannot be read now, for example because too many files
// are open, and without it the state would be lost with its writer.
[[nodiscard]] Os::Id boot_for(State state, Os& os, const std::string& path);
// Whether the header's state was set in this boot. If so, everything that was stored into the file's pages is still
// there, although the writer has ended.
[[nodiscard]] bool is_same_boot(const Header& header, Os& os) noexcept;

// Absolute paths, which do not depend on later changes of the working directory. The first two follow links: to a
// file that exists, and to a file that exists or may be new. The third keeps links. Error{missing}: the directory
// does not exist.
[[nodiscard]] std::string resolved(Os& os, const std::string& path);
[[nodiscard]] std::string resolved_or_new(Os& os, const std::string& path);
[[nodiscard]] std::string absolute(Os& os, const std::string& path);

}  // namespace bloomery::detail
