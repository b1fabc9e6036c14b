// A file that appears at its path whole, or not at all.
//
// It is written as `.<name>.new` beside the path, with the writer's lock already on it, and
// renamed when all of it is on the device. What a crash leaves of it, the next one removes:
// it is recognised by its name and by nobody holding its lock.
#pragma once

#include "store/opened.hpp"

#include <optional>

namespace bloomery::detail {

// What a new file at the path is to take the place of: nothing (a file that is not open), or
// the filter that is there, locked. Error{exists} where it may not be replaced, and as
// lock_for_replacing.
[[nodiscard]] File lock_replaced(Os& os, const std::string& path, bool replace);

class NewFile {
 public:
  // Reserves room for the whole. Error{no_space, io, locked}. `mode`: permissions, unless the
  // process's own are to apply.
  NewFile(Os& os, std::string path, std::uint64_t bytes, std::optional<std::uint32_t> mode = {});
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] File& file() noexcept { return file_; }
  // Puts the file, which is on the device then, at the path; its name there is yet to be
  // made to last. publish_new: Error{exists} where something is. publish_over: the caller
  // holds the lock of what it replaces.
  [[nodiscard]] File publish_new();
  [[nodiscard]] File publish_over();

 private:
  std::string path_;
  std::string temporary_;  // its name until it is published
  File file_;
};

// Puts the name of a published file on the device.
void make_name_last(const File& file);

// Writes both copies of a header; for a file that nobody can see yet.
void write_first_header(File& file, const Header& header);

// Puts a file at its path for good: over the filter whose lock is held in `replaced`, or, where
// that is closed, as a new one.
[[nodiscard]] File publish(NewFile& fresh, const File& replaced);

// A new identity.
[[nodiscard]] Os::Id random_id(Os& os, const std::string& path);

}  // namespace bloomery::detail
