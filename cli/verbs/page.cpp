// The planner page: the bytes that were built into the tool, and writing them to a file.
#include "verbs/verbs.hpp"

#include "output/output.hpp"
#include "output/system.hpp"
#include "output/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bloomery/error.hpp>

#include <array>
#include <cerrno>
#include <cstdio>

#ifdef BLOOMERY_PAGE
asm(".pushsection .rodata\n"
    ".globl bloomery_page_begin, bloomery_page_end\n"
    "bloomery_page_begin: .incbin \"" BLOOMERY_PAGE
    "\"\n"
    "bloomery_page_end: .byte 0\n"
    ".popsection\n");
extern "C" const char bloomery_page_begin[], bloomery_page_end[];
#endif

namespace bloomery::cli {

namespace {

constexpr std::string_view kBeginning = "<!doctype html>";

bool is_page(const std::string& path) {
  std::array<char, kBeginning.size()> beginning{};
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  const ssize_t count =
      file.get() < 0 ? -1 : ::read(file.get(), beginning.data(), beginning.size());
  return count == static_cast<ssize_t>(kBeginning.size()) &&
         std::string_view(beginning.data(), beginning.size()) == kBeginning;
}

bool is_at(const FileDescriptor& file, const std::string& path) {
  struct stat ours {
  }, there{};
  return ::fstat(file.get(), &ours) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

// Removes a file that is empty or holds the beginning of the page, or all of it, and nothing else: a run that was
// killed has left it. A run that is writing holds a lock.
void remove_left_over(const std::string& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0 || !is_at(file, path)) return;
  std::string bytes(page().size() + 1, '\0');
  const ssize_t count = ::read(file.get(), bytes.data(), bytes.size());
  if (count >= 0 && page().starts_with({bytes.data(), static_cast<std::size_t>(count)}))
    ::unlink(path.c_str());
}

// A file that was not there, locked as long as the descriptor is open.
FileDescriptor create_locked(const std::string& path) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    remove_left_over(path);
    FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.get() < 0 && errno != EEXIST)
      throw_system(fmt::format("cannot write {}", path), errno, path);
    if (file.get() < 0) break;
    // Until it has the lock, another run may take it for left over. Some file systems have no locks.
    const bool taken = ::flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!taken && is_at(file, path)) return file;
  }
  throw Error(ErrorCode::exists,
              fmt::format("{} exists: another run writes the page, or the file is yours; try "
                          "again, or move it away",
                          path));
}

// Writes a file that was not there, whole or not at all.
FileDescriptor write_new(const std::string& path) {
  FileDescriptor file = create_locked(path);
  try {
    write_all(file.get(), {page().data(), page().size()}, fmt::format("cannot write {}", path));
  } catch (...) {
    ::unlink(path.c_str());
    throw;
  }
  return file;
}

}  // namespace

std::string_view page() noexcept {
#ifdef BLOOMERY_PAGE
  return {bloomery_page_begin, static_cast<std::size_t>(bloomery_page_end - bloomery_page_begin)};
#else
  return {};
#endif
}

void write_page(const std::string& path, bool replace) {
  if (page().empty())
    throw Error(
        ErrorCode::unavailable,
        "plan: this tool was built without the page; to have it, run ./dev build where node "
        "and npm are installed");
  const bool exists = ::access(path.c_str(), F_OK) == 0;
  if (exists && !replace)
    throw Error(ErrorCode::exists,
                fmt::format("{} exists; name another file, or replace it with --force", path));
  if (exists && !is_page(path))
    throw Error(ErrorCode::exists,
                fmt::format("{} exists and is not a page; name another file", path));
  const std::string fresh = path + ".new";
  const FileDescriptor file = write_new(fresh);
  // A file that has come to the path meanwhile stays, unless the file system cannot tell.
  int failed =
      ::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, path.c_str(), exists ? 0 : RENAME_NOREPLACE);
  if (failed != 0 && errno == EINVAL) failed = ::rename(fresh.c_str(), path.c_str());
  if (failed != 0) {
    const int error = errno;
    ::unlink(fresh.c_str());
    throw_system(fmt::format("cannot write {}", path), error);
  }
  remark(fmt::format("wrote {}, {}; open it in a browser", path, bytes_text(page().size())));
}

}  // namespace bloomery::cli
