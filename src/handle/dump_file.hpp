// Dumps of a module's filters in files: what BF.SCANDUMP gave, chunk after chunk, and a checksum.
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

// Whether a file begins as one.
[[nodiscard]] bool is_dump_file(const std::string& path);

// Believes nothing: no chunk is larger than the file, or than a module makes it. Error{corrupt},
// naming the path; the checksum is known to be right once next() has given the end.
class DumpReader {
 public:
  explicit DumpReader(const std::string& path);
  [[nodiscard]] ModuleChunk next();

 private:
  void read(void* to, std::size_t size);
  [[noreturn]] void refuse(const std::string& what) const;

  File file_;
  std::uint64_t at_ = 0;
  std::uint64_t left_ = 0;  // bytes of the file
  std::uint64_t sum_ = 0;
  std::uint64_t before_ = 0;  // the iterator of the chunk before
};

// A file that appears under its name whole, synced, or not at all.
class WholeFile {
 public:
  // Users whom the file at `source` keeps out, or the one that it replaces, cannot open it.
  WholeFile(const std::string& path, const std::string& source);
  WholeFile(const WholeFile&) = delete;
  WholeFile& operator=(const WholeFile&) = delete;
  ~WholeFile();
  void write(std::span<const std::byte> bytes);
  // Error{exists}, unless `replace`.
  void publish(bool replace);

 private:
  std::string path_, scratch_;  // no scratch: it is in its place
  File file_;
  std::uint64_t at_ = 0;
};

class DumpWriter {
 public:
  DumpWriter(const std::string& path, const std::string& source);
  void put(const ModuleChunk& chunk);
  // `replace`: what is there goes, if it is a dump as well.
  void finish(bool replace);

 private:
  void write(std::span<const char> bytes);

  std::string path_;
  WholeFile file_;
  std::uint64_t sum_ = 0;
};

}  // namespace bloomery::detail
