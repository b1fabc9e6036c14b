// A file that appears at its path whole, or not at all.
//
// It is written as `.<name>.new` beside the path, with the writer's lock already on it, and
// renamed when all of it is on the device. What a crash leaves of it, the next one removes:
// it is recognised by its name, by how it begins, and by nobody holding its lock.
#pragma once

#include "store/opened.hpp"

namespace bloomery::detail {

// What a new file at the path is to take the place of: nothing (a file that is not open), or
// the filter that is there, locked. Error{exists} where it may not be replaced, and as
// lock_for_replacing.
[[nodiscard]] File lock_replaced(Os& os, const std::string& path, bool replace);

class NewFile {
 public:
  // Reserves room for the whole. Where `replaced` is open, the new file gets its owner, group
  // and permissions, as far as this process may give them, and never lets in whom that kept out.
  // Error{no_space, io, locked}, and {not_a_filter} where a stranger's file has the name that it
  // needs.
  NewFile(Os& os, std::string path, std::uint64_t bytes, const File& replaced);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] File& file() noexcept { return file_; }
  // Gives the file away, to the writer that will go on with it.
  [[nodiscard]] File take() noexcept { return std::move(file_); }
  // Puts the file, all of which is on the device, at its path for good: over the filter whose
  // lock is held in `replaced`, or, where that is closed, as a new one; Error{exists} if there is
  // one by now. An Error leaves what was at the path there, unless the device refused to make
  // the new name last. What has failed can be tried again.
  void publish(const File& replaced);
  // The steps of that: the file gets the path's name, and the name gets to the device.
  void name(const File& replaced);
  void make_name_last();

 private:
  Os& os_;
  std::string path_;
  std::string directory_;
  std::string temporary_;  // its name until it has the path's
  bool named_ = false;
  File file_;
};

// Writes both copies of a header; for a file that nobody can see yet.
void write_first_header(File& file, const Header& header);

// A new identity.
[[nodiscard]] Os::Id random_id(Os& os, const std::string& path);

}  // namespace bloomery::detail
