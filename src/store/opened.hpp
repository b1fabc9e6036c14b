// A filter file that is open, with its header read and, for a writer, the lock held.
#pragma once

#include "base/file.hpp"
#include "format/header.hpp"

#include <string>

namespace bloomery::detail {

struct Opened {
  File file;
  Header header;
  unsigned first = 0;   // the copy that the next header goes over first
  bool settled = true;  // both copies of the header are this one
};

// Error as FilterFile::open. The path's links are followed, so that replacing the file
// replaces what they point to.
[[nodiscard]] Opened open_for_reading(Os& os, const std::string& path);
[[nodiscard]] Opened open_for_writing(Os& os, const std::string& path);

// The lock on whatever filter file is at the path, damaged or not, to replace it.
// Error{not_a_filter}: it is something else, which is never replaced.
[[nodiscard]] File lock_for_replacing(Os& os, const std::string& path);

// Whether it is this file that is at its path, and not one that has replaced it.
[[nodiscard]] bool still_at_path(const File& file);

// Puts the name that the file is found by on the device. A writer may have died after it had
// given that name and before it had seen to this.
void make_name_last(const File& file);

// Reads the header again.
[[nodiscard]] FoundHeader read_headers(const File& file);

// Makes `opened.header` the file's header, as a later generation: over one copy, and once that
// is on the device, over the other.
// After an Error the file has the old header or the new one, and nothing more may be written.
void store_header(Opened& opened);

// The start of the machine, or zeros where it cannot be known.
[[nodiscard]] Os::Id this_boot(Os& os) noexcept;
// Whether all that was ever stored into the file's pages is still to be seen in them: its
// writer ended, but the machine has not.
[[nodiscard]] bool memory_is_whole(const Header& header, Os& os) noexcept;

// Paths that stay the same whatever becomes of the working directory. The path with its links
// followed; the same for a file that may be yet to come; and the path with its links.
[[nodiscard]] std::string resolved(Os& os, const std::string& path);
[[nodiscard]] std::string place_of(Os& os, const std::string& path);
[[nodiscard]] std::string absolute(Os& os, const std::string& path);

}  // namespace bloomery::detail
