// Opens a temporary file, beside the file that it is to replace, as descriptor 1.
#include "output/output_file.hpp"

#include "output/output.hpp"
#include "output/system.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/xattr.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <bloomery/error.hpp>

#include <cerrno>
#include <filesystem>

namespace bloomery::cli {

namespace {

constexpr mode_t kRead = 0044;  // everybody may read it

[[noreturn]] void refuse(const std::string& path) {
  throw_system(fmt::format("cannot write {}", path), errno, path);
}

void become_output(const FileDescriptor& file, const std::string& path) {
  if (::dup2(file.get(), STDOUT_FILENO) < 0) refuse(path);
  name_output(path);
}

// Also works for a link to a file that does not exist yet.
std::string where_it_leads(const std::string& path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::filesystem::path at = path;
  std::error_code error;
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(at, error); ++i)
    at = at.parent_path() / std::filesystem::read_symlink(at, error);
  return at;
}

// These paths lead to whatever descriptor 1 is open on, not to a file that could be replaced.
bool is_standard_output(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/fd/1" || path == "/proc/self/fd/1";
}

// The mode of a new file. No other thread runs yet that could make a file under the mask of a moment.
mode_t usual_mode() noexcept {
  const mode_t mask = ::umask(0077);
  ::umask(mask);
  return 0666 & ~mask;
}

// Takes away the access control list that the directory has given a new file.
bool drop_list(const FileDescriptor& file) noexcept {
  return ::fremovexattr(file.get(), XATTR_NAME_POSIX_ACL_ACCESS) == 0 || errno == ENODATA ||
         errno == EOPNOTSUPP;
}

gid_t group_of(const FileDescriptor& file) noexcept {
  struct stat status {};
  return ::fstat(file.get(), &status) == 0 ? status.st_gid : ::getegid();
}

}  // namespace

OutputFile::OutputFile(const std::optional<std::string>& path, Way way,
                       const std::function<mode_t(gid_t)>& others) {
  try {
    open(path, way, others);
  } catch (...) {
    remove_unused();
    throw;
  }
}

void OutputFile::open(const std::optional<std::string>& path, Way way,
                      const std::function<mode_t(gid_t)>& others) {
  if (!path || is_standard_output(*path)) return;
  struct stat there {};
  const bool exists = ::stat(path->c_str(), &there) == 0;
  if (!exists && errno != ENOENT) refuse(*path);
  // The links of /proc may lead to files without a path.
  path_ = exists && !S_ISREG(there.st_mode) ? *path : where_it_leads(*path);
  if (exists && ::access(path_.c_str(), W_OK) != 0) refuse(path_);
  if (way == Way::in_place || (exists && !S_ISREG(there.st_mode))) {
    const int flags = O_WRONLY | O_CLOEXEC | (exists ? 0 : O_CREAT | O_EXCL);
    const FileDescriptor file(::open(path_.c_str(), flags, 0600));
    if (file.get() < 0) refuse(path_);
    unused_ = !exists;
    mode_t most = 0700 | others(group_of(file));
    const bool denies = (most & kRead) != kRead;
    if (denies && exists && has_access_list(path_)) most = 0700;
    if (denies && !exists && !drop_list(file)) refuse(path_);
    if (!exists && ::fchmod(file.get(), usual_mode() & most) != 0) refuse(path_);
    if (exists && S_ISREG(there.st_mode) && (there.st_mode & 0077 & ~most) != 0)
      narrowed_ = there.st_mode & most & 07777;
    become_output(file, path_);
    empties_ = !exists || S_ISREG(there.st_mode);
    return;
  }
  temporary_ = path_ + ".XXXXXX";
  const FileDescriptor file(::mkostemp(temporary_.data(), O_CLOEXEC));
  if (file.get() < 0) {
    temporary_.clear();
    refuse(path_);
  }
  // A failure to set the owner is ignored: only root may give files away. The mode is set afterwards,
  // since a change of the owner clears some of its bits.
  if (exists && ::fchown(file.get(), there.st_uid, there.st_gid) != 0) errno = 0;
  // Where there is an access control list, the bits of the group are not the rights of the group.
  const mode_t most = exists && has_access_list(path_) ? 0700 : 0700 | others(group_of(file));
  // The list of the directory might admit users whom the file before, or an input, denies.
  const bool denies = exists || (most & kRead) != kRead;
  if ((denies && !drop_list(file)) ||
      ::fchmod(file.get(), (exists ? there.st_mode : usual_mode()) & most) != 0)
    refuse(path_);
  become_output(file, path_);
}

OutputFile::~OutputFile() { remove_unused(); }

void OutputFile::remove_unused() noexcept {
  if (unused_) ::unlink(path_.c_str());
  if (waits()) ::unlink(temporary_.c_str());
}

void OutputFile::refuse_to_replace(const std::string& path) const {
  struct stat ours {
  }, theirs{};
  if (waits() && ::stat(path_.c_str(), &ours) == 0 && ::stat(path.c_str(), &theirs) == 0 &&
      ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{} is the output as well; write to another file", path));
}

void OutputFile::begin() {
  if (narrowed_ && ::fchmod(STDOUT_FILENO, *narrowed_) != 0)
    throw_system(fmt::format("cannot deny {} to users who cannot read its inputs; remove "
                             "it, or write to another file",
                             path_),
                 errno);
  if (empties_ && ::ftruncate(STDOUT_FILENO, 0) != 0) refuse(path_);
  unused_ = false;
}

void OutputFile::keep() {
  if (!waits()) return;
  // The bytes are synced before the rename, so that after a power loss the name has the old file or the new one.
  if (::fdatasync(STDOUT_FILENO) != 0) refuse(path_);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) refuse(path_);
  temporary_.clear();
}

}  // namespace bloomery::cli
