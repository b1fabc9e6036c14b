// Files with dumps of a module's filters: the chunks that BF.SCANDUMP returned, in order, and a checksum.
//
// Little-endian: 8 bytes "\x89BLD\r\n\x1a\n", version 1 (4), zeros (4); for each chunk its iterator
// and its length (8 each) and its bytes; two zeros (8 each) for the end; the XXH3 of all before (8).
#pragma once

#include <bloomery/module_dump.hpp>

#include <cstdint>
#include <span>
#include <string>

#include "base/file.hpp"

namespace bloomery::detail {

// Whether a file begins like a dump.
[[nodiscard]] bool is_dump_file(const std::string& path);

// Does not trust the file: no chunk may be larger than the file, or than a module makes it. Error{corrupt}, with the
// path. When next() has returned the end, the checksum is known to be right.
class DumpReader {
 public:
  explicit DumpReader(const std::string& path);
  [[nodiscard]] ModuleChunk next();
  [[nodiscard]] std::uint64_t file_bytes() const noexcept { return at_ + left_; }

 private:
  void read(void* to, std::size_t size);
  [[noreturn]] void refuse(const std::string& what) const;

  File file_;
  std::uint64_t at_ = 0;
  std::uint64_t left_ = 0;  // unread bytes of the file
  std::uint64_t sum_ = 0;
  std::uint64_t before_ = 0;  // the iterator of the previous chunk
};

// A file that appears under its name complete and synced, or not at all.
class WholeFile {
 public:
  // A user who has no access to the file at `source`, or to the file that is replaced, has no access to this file.
  WholeFile(const std::string& path, const std::string& source);
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile();
  void write(std::span<const std::byte> bytes);
  // Error{exists}: a file is there, and `replace` is false.
  void publish(bool replace);

 private:
  std::string path_, scratch_;  // scratch_ is empty when the file is at its path
  File file_;
  std::uint64_t at_ = 0;
};

class DumpWriter {
 public:
  DumpWriter(const std::string& path, const std::string& source);
  void put(const ModuleChunk& chunk);
  // `replace`: replaces the file at the path if it is a dump too.
  void finish(bool replace);

 private:
  void write(std::span<const char> bytes);

  std::string path_;
  WholeFile file_;
  std::uint64_t sum_ = 0;
};

}  // namespace bloomery::detail
