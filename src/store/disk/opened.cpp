// Opens and locks files, and puts both copies of the header on the device.
#include "store/disk/opened.hpp"

#include <bloomery/error.hpp>

#include <array>
#include <cerrno>

namespace bloomery::detail {

void require_regular(const File& file) {
  if (!file.stat().regular)
    throw Error(ErrorCode::not_a_filter,
                file.path() + ": is not a regular file; give the path of a filter file");
}

File open_regular(Os& os, const std::string& target) {
  File file(os, target, Os::Open::write);
  require_regular(file);
  return file;
}

namespace {

File open_locked(Os& os, const std::string& path) {
  const std::string target = resolved(os, path);
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    File file = open_regular(os, target);
    if (!file.try_lock())
      throw Error(ErrorCode::locked, target +
                                         ": another writer has it open, or several share it; wait "
                                         "until they have finished, or open it for reading");
    // Another process may have replaced the file between open and lock.
    if (still_at_path(file)) return file;
  }
  throw Error(ErrorCode::locked, target + ": other writers keep replacing it; try again");
}

// The system would read the path only up to a zero byte, and so open another file.
void require_no_zero(const std::string& path) {
  if (path.find('\0') != std::string::npos)
    throw Error(ErrorCode::invalid_argument,
                path.substr(0, path.find('\0')) +
                    ": the path goes on after a zero byte, which no path can have");
}

// The path with its links followed, or the path itself if that fails.
std::string followed(Os& os, const std::string& path, int& result) {
  std::string target;
  result = uninterrupted([&] { return os.resolve(path.c_str(), target); });
  if (result == -ENOMEM) throw os_error(ENOMEM, path, "follow the path");
  return result == 0 ? target : path;
}

std::string resolved_directory(Os& os, const std::string& path) {
  int result = 0;
  std::string directory = followed(os, directory_of(path), result);
  if (result == -ENOENT)
    throw Error(ErrorCode::missing, path + ": the directory " + directory +
                                        " does not exist; check the path, or make it first");
  return directory;
}

}  // namespace

std::string resolved(Os& os, const std::string& path) {
  require_no_zero(path);
  int result = 0;
  std::string target = followed(os, path, result);
  if (result == -ENOENT) (void)resolved_directory(os, path);
  return target;  // open() reports whatever else is wrong with it
}

std::string resolved_or_new(Os& os, const std::string& path) {
  require_no_zero(path);
  Os::Stat there;
  const bool absent = uninterrupted([&] { return os.stat_path(path.c_str(), there); }) == -ENOENT;
  if (!absent) return resolved(os, path);
  const std::string directory = resolved_directory(os, path);
  const std::size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  return directory + (directory.ends_with('/') ? "" : "/") + name;
}

std::string absolute(Os& os, const std::string& path) {
  std::string here;
  if (path.empty() || path.front() == '/' ||
      uninterrupted([&] { return os.resolve(".", here); }) < 0)
    return path;
  return here + (here.ends_with('/') ? "" : "/") + path;
}

bool has_own_header(const Opened& opened) {
  try {
    const Header there = read_headers(opened.file).header;
    return there.identity == opened.header.identity && there.generation == opened.header.generation;
  } catch (const Error& error) {
    switch (error.code()) {
      case ErrorCode::not_a_filter:
      case ErrorCode::newer_format:
      case ErrorCode::wrong_kind:
      case ErrorCode::corrupt:
        return false;
      default:
        throw;
    }
  }
}

void refuse_to_write(const Opened& opened) {
  const std::string& path = opened.file.path();
  if (opened.file.is_inherited())
    throw Error(ErrorCode::inherited, path +
                                          ": was opened before this process was forked, and "
                                          "belongs to the parent; open it after the fork");
  if (opened.poisoned)
    throw Error(ErrorCode::poisoned,
                path + ": a write failed before, so nothing more is changed; open the file again");
  throw Error(ErrorCode::read_only, path + ": is closed; open it again");
}

void require_at_a_path(Opened& opened) {
  File& file = opened.file;
  if (still_at_path(file)) return;
  std::string now = file.present_path();
  if (now.empty() || !file.is_at(now)) {
    opened.poisoned = true;
    throw Error(ErrorCode::missing, file.path() +
                                        ": was removed or replaced while it was being written, "
                                        "and what was added went with it; add it again");
  }
  file.set_path(std::move(now));
}

void refuse_foreign(Opened& opened) {
  opened.poisoned = true;
  throw Error(ErrorCode::missing,
              opened.file.path() +
                  ": something else has written into it while it was being written; restore a "
                  "backup, and add again what was added");
}

void require_own(Opened& opened) {
  require_at_a_path(opened);
  if (!has_own_header(opened)) refuse_foreign(opened);
}

void make_name_last(const File& file) {
  const std::string directory = directory_of(file.path());
  checked_call(file.path(), "make its name last",
               [&] { return file.os().sync_directory(directory.c_str()); });
}

FoundHeader read_headers(const File& file) {
  std::array<std::byte, kBitsAt> pages;
  const std::uint64_t before = file.stat().size;
  const auto start = std::span(pages).first(std::min<std::uint64_t>(before, pages.size()));
  file.read(start, 0);
  try {
    return decode_headers(start, before, file.path());
  } catch (const Error&) {
    // A writer may have made room for its journal before the header that was read describes the journal.
    const std::uint64_t now = file.stat().size;
    if (now <= before) throw;
    return decode_headers(start, now, file.path());
  }
}

Opened open_for_reading(Os& os, const std::string& path) {
  File file(os, resolved(os, path), Os::Open::read);
  require_regular(file);
  const FoundHeader found = read_headers(file);
  return {std::move(file), found.header, found.first, found.both_current};
}

Opened open_for_writing(Os& os, const std::string& path) {
  File file = open_locked(os, path);
  const FoundHeader found = read_headers(file);
  return {std::move(file), found.header, found.first, found.both_current};
}

File lock_for_replacing(Os& os, const std::string& path) {
  File file = open_locked(os, path);
  std::array<std::byte, kBitsAt> pages;
  const auto start = std::span(pages).first(std::min<std::uint64_t>(file.stat().size, kBitsAt));
  file.read(start, 0);
  if (!is_filter_file(start))
    throw Error(ErrorCode::not_a_filter,
                path + ": is not a Bloomery filter, so it is not replaced; use another path");
  return file;
}

void store_header(Opened& opened) {
  const unsigned first = opened.first;
  opened.header.generation += (opened.header.generation + 1) % 2 == first ? 1 : 2;
  std::array<std::byte, kHeaderBytes> page;
  encode_header(opened.header, page);
  for (const unsigned copy : {first, 1 - first}) {
    opened.file.write(page, copy * kHeaderBytes);
    opened.file.sync();
  }
  opened.first = 1 - first;
  opened.both_current = true;
}

Os::Id this_boot(Os& os) noexcept {
  Os::Id id{};
  if (uninterrupted([&] { return os.boot_id(id); }) < 0) id = {};
  return id;
}

Os::Id boot_for(State state, Os& os, const std::string& path) {
  if (!ends_with_boot(state)) return this_boot(os);
  Os::Id id{};
  const int result = uninterrupted([&] { return os.boot_id(id); });
  if (result == -EMFILE || result == -ENFILE || result == -ENOMEM || result == -EIO)
    throw os_error(-result, path, "read the boot id of the machine");
  return result < 0 ? Os::Id{} : id;  // a system without /proc never tells it
}

bool is_same_boot(const Header& header, Os& os) noexcept {
  const Os::Id boot = this_boot(os);
  return boot != Os::Id{} && boot == header.boot;
}

}  // namespace bloomery::detail
