// The file of -o, which is the standard output while it lives.
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>

namespace bloomery::cli {

class OutputFile {
 public:
  enum class Way {
    whole,     // the file at the path changes at keep(), or not at all
    in_place,  // it is written as the lines come, after begin()
  };

  // No path, or /dev/stdout: the standard output stays what it is. Anything but a regular file, for example a pipe, is
  // written in place. `others`: the most rights that group and others may get if the file has this group. Error{io}: it
  // cannot be written.
  OutputFile(const std::optional<std::string>& path, Way way,
             const std::function<mode_t(gid_t)>& others);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  // Without keep() it removes the temporary file of `whole`, and without begin() the file that it has made.
  ~OutputFile();

  // Error if keep() would replace this file.
  void refuse_to_replace(const std::string& path) const;
  // Call it before the first line. A file that is written in place is emptied, and users whom `others` leaves no
  // rights lose them. Error{io}.
  void begin();
  // Call it after the last line. Error{io}.
  void keep();
  // Whether keep() still has something to do.
  [[nodiscard]] bool waits() const noexcept { return !temporary_.empty(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  void open(const std::optional<std::string>& path, Way way,
            const std::function<mode_t(gid_t)>& others);
  void remove_unused() noexcept;

  std::string path_;       // the file that keep() replaces; of a link, its target
  std::string temporary_;  // where the lines are until then
  bool empties_ = false;
  bool unused_ = false;             // the file at the path is new, and begin() has not been called
  std::optional<mode_t> narrowed_;  // what its mode becomes at begin()
};

}  // namespace bloomery::cli
