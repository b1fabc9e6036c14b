// A file that appears at its path complete, or not at all.
//
// It is written as `.<name>.new` beside the path, with the writer's lock already on it, and
// renamed when all of it is on the device. What a crash leaves of it is removed by the next one,
// which knows it by its name, by how it begins, and because its lock is free.
#pragma once

#include "store/opened.hpp"

#include <span>

namespace bloomery::detail {

// The filter at the path that a new file will replace, locked; a file that is not open if there is
// none. Error{exists} unless it may be replaced; errors as of lock_for_replacing.
[[nodiscard]] File lock_replaced(Os& os, const std::string& path, bool replace);

class NewFile {
 public:
  // Reserves room for so many bytes. If `replaced` is open, the new file gets its owner, group and
  // permissions, as far as this process may give them, and never admits anybody whom it kept out, nor
  // anybody whom one of the files kept out that it is made from (rights.hpp).
  // Error{no_space | io | locked}; {not_a_filter}: a file that is none of ours has the temporary
  // name.
  NewFile(Os& os, std::string path, std::uint64_t bytes, const File& replaced,
          std::span<const Os::Stat> inputs = {});
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  [[nodiscard]] File& file() noexcept { return file_; }
  // Gives the file to the writer that will go on with it.
  [[nodiscard]] File take() noexcept { return std::move(file_); }
  // Puts the file, all of which is on the device, at its path: over the filter whose lock is held in
  // `replaced`, or, if that is not open or has been moved away, as a new one; Error{exists} if another
  // file is there by now, or `replaced` was written to since. An Error leaves what was at the path, unless the device refused to keep the
  // new name. It can be called again after an Error.
  void publish(const File& replaced);
  // The steps of publish. The file takes the place of `replaced`, and of nothing else. False: that is
  // not at the path any more, and nothing has changed.
  [[nodiscard]] bool take_place_of(const File& replaced);
  // Whether the path has this file, or may have it after a loss of power. Known after an Error too.
  [[nodiscard]] bool is_named() const noexcept { return named_; }
  // The name gets to the device.
  void make_name_last();

 private:
  void name();  // where nothing is
  // Whether its temporary name still has it: another writer's may have come there after a rename of the
  // directory.
  [[nodiscard]] bool is_at_temporary() const noexcept;

  Os& os_;
  std::string path_;
  std::string directory_;
  std::string temporary_;  // its name until it has the path's
  bool named_ = false;
  std::uint64_t replaced_modified_ = 0;
  File file_;
  Os::Stat own_;  // of the file, when it was new
};

// Writes both copies of a header; for a file that no reader can see yet.
void write_first_header(File& file, const Header& header);

// A new identity.
[[nodiscard]] Os::Id random_id(Os& os, const std::string& path);

}  // namespace bloomery::detail
