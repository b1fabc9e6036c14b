// Reading and writing dumps; the checksum of a piece is the seed of the next one's.
#include "dump_file.hpp"

#include "base/checksum.hpp"
#include "base/endian.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bloomery/error.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace bloomery::cli {

namespace {

constexpr std::array<char, 16> kStart = {'\x89', 'B', 'L', 'D', '\r', '\n', '\x1a', '\n',
                                         1,      0,   0,   0,   0,    0,    0,      0};
constexpr std::uint64_t kMagicBytes = 8;

FileDescriptor opened(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_system(fmt::format("cannot read {}", path), errno);
  return FileDescriptor(fd);
}

std::size_t read_some(int fd, void* to, std::size_t size, const std::string& path) {
  std::size_t have = 0;
  while (have < size) {
    const ssize_t got = ::read(fd, static_cast<char*>(to) + have, size - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system(fmt::format("cannot read {}", path), errno);
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  return have;
}

std::uint64_t sum_on(std::uint64_t sum, std::span<const char> bytes) {
  return detail::checksum(std::as_bytes(bytes), sum);
}

}  // namespace

bool is_dump_file(const std::string& path) {
  std::array<char, kMagicBytes> start{};
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd.get() >= 0 && read_some(fd.get(), start.data(), start.size(), path) == start.size() &&
         std::memcmp(start.data(), kStart.data(), start.size()) == 0;
}

DumpReader::DumpReader(const std::string& path) : path_(path), fd_(opened(path)) {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) throw_system(fmt::format("cannot read {}", path), errno);
  left_ = static_cast<std::uint64_t>(status.st_size);
  std::array<char, kStart.size()> start{};
  read(start.data(), start.size());
  if (std::memcmp(start.data(), kStart.data(), kMagicBytes) != 0) refuse("it is no dump");
  if (start != kStart) refuse("it is of a newer version; use a newer bloomery");
}

void DumpReader::refuse(const std::string& what) const {
  throw Error(ErrorCode::corrupt, fmt::format("{}: {}; take the dump anew", path_, what));
}

void DumpReader::read(void* to, std::size_t size) {
  if (size > left_ || read_some(fd_.get(), to, size, path_) != size) refuse("the dump is cut off");
  left_ -= size;
  sum_ = sum_on(sum_, {static_cast<const char*>(to), size});
}

ModuleChunk DumpReader::next() {
  std::array<char, 16> head{};
  read(head.data(), head.size());
  ModuleChunk chunk{detail::load_le64(head.data()), {}};
  const std::uint64_t size = detail::load_le64(head.data() + 8);
  if (chunk.iterator == 0 && size == 0) {
    const std::uint64_t sum = sum_;
    std::array<char, 8> end{};
    read(end.data(), end.size());
    if (detail::load_le64(end.data()) != sum || left_ != 0) refuse("the dump is damaged");
    return chunk;
  }
  if (chunk.iterator <= before_ || size > kMostChunkBytes || size > left_)
    refuse("the dump has a chunk that no module makes");
  before_ = chunk.iterator;
  chunk.bytes.resize(size);
  read(chunk.bytes.data(), size);
  return chunk;
}

WholeFile::WholeFile(const std::string& path) : path_(path), scratch_(path + ".XXXXXX") {
  const int fd = ::mkostemp(scratch_.data(), O_CLOEXEC);
  if (fd < 0) throw_system(fmt::format("cannot create {}", path), errno);
  fd_ = FileDescriptor(fd);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd, 0666 & ~mask);
}

WholeFile::~WholeFile() {
  if (!scratch_.empty()) ::unlink(scratch_.c_str());
}

void WholeFile::write(std::span<const char> bytes) {
  write_all(fd_.get(), bytes, fmt::format("cannot write {}", path_));
}

void WholeFile::publish(bool replace) {
  if (::fsync(fd_.get()) != 0) throw_system(fmt::format("cannot write {}", path_), errno);
  if (replace) {
    if (::rename(scratch_.c_str(), path_.c_str()) != 0)
      throw_system(fmt::format("cannot create {}", path_), errno);
    scratch_.clear();
  } else if (::link(scratch_.c_str(), path_.c_str()) != 0) {
    if (errno == EEXIST)
      throw Error(ErrorCode::exists, fmt::format("{} exists; name another", path_));
    throw_system(fmt::format("cannot create {}", path_), errno);
  }
  const std::string directory = std::filesystem::path(path_).parent_path().string();
  const FileDescriptor parent(
      ::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.get() < 0 || ::fsync(parent.get()) != 0)
    throw_system(fmt::format("cannot sync the directory of {}", path_), errno);
}

DumpWriter::DumpWriter(const std::string& path) : path_(path), file_(path) {
  write({kStart.data(), kStart.size()});
}

void DumpWriter::write(std::span<const char> bytes) {
  file_.write(bytes);
  sum_ = sum_on(sum_, bytes);
}

void DumpWriter::put(const ModuleChunk& chunk) {
  std::array<char, 16> head{};
  detail::store_le64(head.data(), chunk.iterator);
  detail::store_le64(head.data() + 8, chunk.bytes.size());
  write(head);
  write(chunk.bytes);
}

void DumpWriter::finish(bool replace) {
  write(std::array<char, 16>{});
  std::array<char, 8> sum{};
  detail::store_le64(sum.data(), sum_);
  write(sum);
  std::error_code ignored;
  const bool there = std::filesystem::exists(std::filesystem::symlink_status(path_, ignored));
  if (there && replace && !is_dump_file(path_))
    throw Error(ErrorCode::not_a_filter,
                fmt::format("{} is no dump, and is not replaced; name another file", path_));
  file_.publish(there && replace);
}

}  // namespace bloomery::cli
