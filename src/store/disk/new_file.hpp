// A file that appears at its path complete or not at all.
//
// It is written as `.<name>.new` beside the path, with the writer's lock already held, and is renamed when all of it
// is on the device. If a crash leaves a temporary file, the next new file at this path removes it; it recognizes the
// leftover by its name, by its first bytes, and because its lock is free.
#pragma once

#include "store/disk/opened.hpp"

#include <span>

namespace bloomery::detail {

// Locks and returns the filter at the path that a new file will replace; the returned file is not open if there is
// none. Error{exists}: it must not be replaced; other errors as for lock_for_replacing.
[[nodiscard]] File lock_replaced(Os& os, const std::string& path, bool replace);

class NewFile {
 public:
  // Reserves room for so many bytes. If `replaced` is open, the new file gets its owner, group and permissions, as
  // far as this process can set them. A user who has no access to `replaced`, or to one of the files that the new
  // file is made from, has no access to the new file (rights.hpp). `keys`, files of keys, count only if there is
  // neither `replaced` nor `inputs`. Error{no_space | io | locked}; {not_a_filter}: the temporary name belongs to a file
  // that is not ours.
  NewFile(Os& os, std::string path, std::uint64_t bytes, const File& replaced,
          std::span<const Os::Stat> inputs = {}, std::span<const Os::Stat> keys = {});
  ~NewFile();  // removes the file if it has no path yet, but not in a child that inherited this object
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] File& file() noexcept { return file_; }
  // Gives the file to the writer that continues with it.
  [[nodiscard]] File take() noexcept { return std::move(file_); }
  // Gives the file, which is on the device completely, its path. It replaces the filter `replaced`, whose lock is held;
  // if `replaced` is not open or has been moved away, it becomes a new file. Error{exists}: another file is at the
  // path by now, or another process wrote to `replaced`. After an Error the path still has its old file, unless the
  // device refused to keep the new name. The call can be repeated after an Error.
  void publish(const File& replaced);
  // The steps of publish. The file takes the place of `replaced`, and of no other file. False: `replaced` is not at
  // the path any more, or something has written into it since this file was made; nothing has changed.
  [[nodiscard]] bool take_place_of(const File& replaced);
  // Whether room for all of it was reserved.
  [[nodiscard]] bool has_room() const noexcept { return has_room_; }
  // Whether the path has this file, or may have it after a power loss. This is known after an Error too.
  [[nodiscard]] bool is_named() const noexcept { return named_; }
  // Puts the name on the device.
  void make_name_last();

 private:
  void name();  // if nothing is at the path
  [[nodiscard]] Error came_meanwhile() const;
  // Whether the temporary name still belongs to this file: after a rename of the directory it may belong to the file
  // of another writer.
  [[nodiscard]] bool is_at_temporary() const noexcept;

  Os& os_;
  std::string path_;
  std::string directory_;
  std::string temporary_;  // the name of the file until it gets the path
  bool has_room_;
  bool named_ = false;
  std::uint64_t replaced_modified_ = 0;
  File file_;
  Os::Stat own_;  // of the file when it was new
  Origin origin_;
};

// Writes both copies of a header into a file that no reader can see yet.
void write_first_header(File& file, const Header& header);

// A new identity.
[[nodiscard]] Os::Id random_id(Os& os, const std::string& path);

}  // namespace bloomery::detail
