// A filter file that is open, with its header read and, for a writer, the lock held.
#pragma once

#include "base/file.hpp"
#include "format/header_bytes.hpp"

#include <string>

namespace bloomery::detail {

struct Opened {
  File file;
  Header header;
  unsigned first = 0;        // the copy that the next header goes over first
  bool both_current = true;  // both copies of the header are this one
  bool poisoned = false;     // a write failed: it is not known what the device has
};

// Errors as of FilterFile::open. The path's links are followed, so that replacing the file
// replaces what they point to.
[[nodiscard]] Opened open_for_reading(Os& os, const std::string& path);
[[nodiscard]] Opened open_for_writing(Os& os, const std::string& path);

// Without a lock.
[[nodiscard]] File open_regular(Os& os, const std::string& target);

// The lock on whatever filter file is at the path, damaged or not, to replace it.
// Error{not_a_filter}: it is something else, which is never replaced.
[[nodiscard]] File lock_for_replacing(Os& os, const std::string& path);

// Whether this file is still at its path, and not one that has replaced it.
[[nodiscard]] inline bool still_at_path(const File& file) { return file.is_at(file.path()); }

// A writer's file may be renamed, itself or one of its directories: it stays its file, and gets its path
// of now. Error{missing}, and poisoned: it was removed, or something else has written into it.
void require_own(Opened& opened);
// The first half of it: that the file is at some path.
void require_at_a_path(Opened& opened);
// Error{missing}, and poisoned: something else has written into the file.
[[noreturn]] void refuse_foreign(Opened& opened);
// Whether the file has the header that its writer wrote last.
[[nodiscard]] bool has_own_header(const Opened& opened);

// Puts the file's name on the device. A writer may have died after it had given the file that name
// and before it had done this.
void make_name_last(const File& file);

// Reads the header again.
[[nodiscard]] FoundHeader read_headers(const File& file);

// Makes `opened.header` the file's header, as a later generation: over one copy, and once that
// is on the device, over the other.
// After an Error the file has the old header or the new one, and nothing more may be written.
void store_header(Opened& opened);

// The start of the machine, or zeros where it cannot be known.
[[nodiscard]] Os::Id this_boot(Os& os) noexcept;
// Whether this is the boot in which the header's state was set: then everything that was stored
// into the file's pages is still there, although its writer has ended.
[[nodiscard]] bool is_same_boot(const Header& header, Os& os) noexcept;

// Absolute paths, which a change of the working directory leaves alone: with its links followed, of
// a file that is there or of one that may be new; and with its links kept.
// Error{missing}: the directory does not exist.
[[nodiscard]] std::string resolved(Os& os, const std::string& path);
[[nodiscard]] std::string resolved_or_new(Os& os, const std::string& path);
[[nodiscard]] std::string absolute(Os& os, const std::string& path);

}  // namespace bloomery::detail
