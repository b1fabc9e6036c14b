// Reads and writes dumps; the checksum of a piece is the seed of the next piece's checksum.
#include "handle/dump_file.hpp"

#include <bloomery/error.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "base/checksum.hpp"
#include "base/endian.hpp"
#include "base/text.hpp"
#include "format/header_bytes.hpp"
#include "store/disk/new_file.hpp"
#include "store/disk/opened.hpp"
#include "store/disk/rights.hpp"

namespace bloomery::detail {

namespace {

constexpr std::array<char, 16> kStart = [] {
  std::array<char, 16> start{};
  std::ranges::copy(kDumpMagic, start.begin());
  start[kDumpMagic.size()] = 1;  // the version
  return start;
}();

std::uint64_t sum_on(std::uint64_t sum, std::span<const char> bytes) {
  return checksum(std::as_bytes(bytes), sum);
}

}  // namespace

bool is_dump_file(const std::string& path) {
  std::array<std::byte, kDumpMagic.size()> start{};
  const int fd = uninterrupted([&] { return real_os().open(path.c_str(), Os::Open::read); });
  if (fd < 0) return false;
  const File file(real_os(), path, fd);
  return file.try_read(start, 0) == 0 && is_dump(start);
}

DumpReader::DumpReader(const std::string& path)
    : file_(real_os(), path, Os::Open::read), left_(file_.stat().size) {
  std::array<char, kStart.size()> start{};
  read(start.data(), start.size());
  if (!is_dump(std::as_bytes(std::span(start)))) refuse("it is not a dump");
  if (start != kStart) refuse("it is of a newer version; use a newer bloomery");
}

void DumpReader::refuse(const std::string& what) const {
  throw Error(ErrorCode::corrupt, fill_in("{}: {}; take the dump again", file_.path(), what));
}

void DumpReader::read(void* to, std::size_t size) {
  if (size > left_) refuse("the dump is cut off");
  file_.read({static_cast<std::byte*>(to), size}, at_);
  at_ += size;
  left_ -= size;
  sum_ = sum_on(sum_, {static_cast<const char*>(to), size});
}

ModuleChunk DumpReader::next() {
  std::array<char, 16> head{};
  read(head.data(), head.size());
  ModuleChunk chunk{load_le64(head.data()), {}};
  const std::uint64_t size = load_le64(head.data() + 8);
  if (chunk.iterator == 0 && size == 0) {
    const std::uint64_t sum = sum_;
    std::array<char, 8> end{};
    read(end.data(), end.size());
    if (load_le64(end.data()) != sum || left_ != 0) refuse("the dump is damaged");
    return chunk;
  }
  if (chunk.iterator <= before_ || size > kMostChunkBytes)
    refuse("the dump has a chunk that no module makes");
  if (size > left_) refuse("the dump is cut off");
  before_ = chunk.iterator;
  chunk.bytes.resize(size);
  read(chunk.bytes.data(), size);
  return chunk;
}

WholeFile::WholeFile(const std::string& path, const std::string& source)
    : path_(resolved_or_new(real_os(), path)) {
  Os& os = real_os();
  const std::vector<Os::Stat> inputs = rights_of(os, {&source, 1});
  const std::vector<Os::Stat> replaced = rights_of(os, {&path_, 1});
  const bool is_free = inputs.empty() && replaced.empty();
  const std::uint32_t mode = is_free ? 0666 : 0600;
  constexpr int kTries = 100;
  for (int i = 1; !file_.is_open(); ++i) {
    const Os::Id id = random_id(os, path);
    std::string name = path_ + ".";
    for (std::size_t at = 0; at < 6; ++at)
      name += static_cast<char>('a' + std::to_integer<int>(id[at]) % 26);
    const int fd = uninterrupted([&] { return os.open(name.c_str(), Os::Open::create, mode); });
    if (fd < 0 && (fd != -EEXIST || i == kTries)) throw os_error(-fd, path, "create");
    if (fd < 0) continue;
    file_ = File(os, path, fd);
    scratch_ = std::move(name);
  }
  if (is_free) return;
  try {
    take_rights(file_, replaced.empty() ? nullptr : replaced.data(), inputs);
  } catch (...) {
    (void)os.unlink(scratch_.c_str());
    throw;
  }
}

WholeFile::~WholeFile() {
  if (!scratch_.empty()) (void)real_os().unlink(scratch_.c_str());
}

// A filter of a sparse file has many zeros.
void WholeFile::write(std::span<const std::byte> bytes) {
  file_.write_sparsely(bytes, at_);
  at_ += bytes.size();
}

void WholeFile::publish(bool replace) {
  Os& os = real_os();
  if (file_.stat().size < at_) file_.truncate(at_);  // it ends in a hole
  file_.sync();
  const int done = replace ? os.rename(scratch_.c_str(), path_.c_str())
                           : os.rename_new(scratch_.c_str(), path_.c_str());
  if (done == -EEXIST) throw Error(ErrorCode::exists, path_ + " exists; name another");
  if (done < 0) throw os_error(-done, path_, "create");
  scratch_.clear();
  const std::string directory = directory_of(path_);
  checked_call(directory, "write to the device",
               [&] { return os.sync_directory(directory.c_str()); });
}

DumpWriter::DumpWriter(const std::string& path, const std::string& source)
    : path_(path), file_(path, source) {
  write({kStart.data(), kStart.size()});
}

void DumpWriter::write(std::span<const char> bytes) {
  file_.write(std::as_bytes(bytes));
  sum_ = sum_on(sum_, bytes);
}

void DumpWriter::put(const ModuleChunk& chunk) {
  std::array<char, 16> head{};
  store_le64(head.data(), chunk.iterator);
  store_le64(head.data() + 8, chunk.bytes.size());
  write(head);
  write(chunk.bytes);
}

void DumpWriter::finish(bool replace) {
  write(std::array<char, 16>{});
  std::array<char, 8> sum{};
  store_le64(sum.data(), sum_);
  write(sum);
  Os::Stat status;
  const bool there = real_os().stat_path(path_.c_str(), status) == 0;
  if (there && replace && !is_dump_file(path_))
    throw Error(ErrorCode::not_a_filter,
                path_ + " is not a dump, and is not replaced; name another file");
  file_.publish(there && replace);
}

}  // namespace bloomery::detail
