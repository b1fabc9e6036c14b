// The file of -o, which is the standard output while it lives.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace bloomery::cli {

class OutputFile {
 public:
  enum class Way {
    whole,     // the file at the path changes at keep(), or not at all
    in_place,  // it is written as the lines come, after begin()
  };

  // No path, or /dev/stdout: the standard output stays what it is. What is no regular file, such as a pipe, is written in
  // place. `others`: the most that group and others may do with it. Error{io}: it cannot be written.
  OutputFile(const std::optional<std::string>& path, Way way, mode_t others);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  // without keep(): nothing is left of a file that was to be whole

  // Error if keep() would replace this file.
  void refuse_to_replace(const std::string& path) const;
  // Before the first line; what is written in place is emptied.
  void begin();
  // After the last line. Error{io}.
  void keep();
  // Whether there is something that keep() has yet to do.
  [[nodiscard]] bool waits() const noexcept { return !temporary_.empty(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;       // that keep() replaces; a link's is where it leads
  std::string temporary_;  // where the lines are until then
  bool empties_ = false;
};

}  // namespace bloomery::cli
