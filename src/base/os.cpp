// The system calls of Linux.
#include "base/os.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/xattr.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace bloomery {

namespace {

template <class T>
T or_errno(T result) noexcept {
  return result < 0 ? static_cast<T>(-errno) : result;
}

// The gate is the lock of one byte, beyond the end of any file; the writers' lock covers all bytes before it.
constexpr off_t kGateAt = off_t{1} << 62;

struct flock range(short type, off_t from, off_t size) noexcept {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = from;
  lock.l_len = size;
  return lock;
}
int set_lock(int fd, short type, off_t from, off_t size) noexcept {
  struct flock lock = range(type, from, size);
  const int result = or_errno(::fcntl(fd, F_OFD_SETLK, &lock));
  return result == -EACCES ? -EAGAIN : result;
}

int nibble(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

constexpr const char* kAcl = XATTR_NAME_POSIX_ACL_ACCESS;

// Of the size of that attribute.
int is_there(ssize_t size) noexcept {
  if (size >= 0) return 1;
  return errno == ENODATA || errno == EOPNOTSUPP ? 0 : -errno;
}

class RealOs final : public Os {
 public:
  int open(const char* path, Open how, std::uint32_t mode) override {
    constexpr int kCommon = O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
    const int flags = how == Open::read       ? O_RDONLY
                      : how == Open::write    ? O_RDWR
                      : how == Open::nameless ? O_RDWR | O_TMPFILE
                                              : O_RDWR | O_CREAT | O_EXCL;
    return above_standard_streams(
        or_errno(::open(path, flags | kCommon, how == Open::create ? mode : 0600U)));
  }
  int close(int fd) override { return or_errno(::close(fd)); }
  ssize_t pread(int fd, void* to, std::size_t size, std::uint64_t offset) override {
    return or_errno(::pread(fd, to, size, static_cast<off_t>(offset)));
  }
  ssize_t pwrite(int fd, const void* from, std::size_t size, std::uint64_t offset) override {
    return or_errno(::pwrite(fd, from, size, static_cast<off_t>(offset)));
  }
  int fdatasync(int fd) override { return or_errno(::fdatasync(fd)); }
  // Writes the bytes again, with RWF_DSYNC: fdatasync would also wait for every page that a mapping of
  // the file has made dirty.
  int sync_written(int fd, const void* from, std::size_t size, std::uint64_t offset) override {
    const iovec piece{const_cast<void*>(from), size};
    const ssize_t done = ::pwritev2(fd, &piece, 1, static_cast<off_t>(offset), RWF_DSYNC);
    if (done == static_cast<ssize_t>(size)) return 0;
    const bool cannot = done >= 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL;
    return cannot ? fdatasync(fd) : -errno;
  }
  int truncate(int fd, std::uint64_t size) override {
    return or_errno(::ftruncate(fd, static_cast<off_t>(size)));
  }
  int allocate(int fd, std::uint64_t offset, std::uint64_t size) override {
    return or_errno(::fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(size)));
  }
  int next_data(int fd, std::uint64_t offset, std::uint64_t& from, std::uint64_t& to) override {
    const off_t data = ::lseek(fd, static_cast<off_t>(offset), SEEK_DATA);
    if (data < 0) return -errno;
    const off_t hole = ::lseek(fd, data, SEEK_HOLE);
    if (hole < 0) return -errno;
    from = static_cast<std::uint64_t>(data);
    to = static_cast<std::uint64_t>(hole);
    return 0;
  }
  int stat(int fd, Stat& out) override {
    struct ::stat found {};
    return take(::fstat(fd, &found), found, out);
  }
  int stat_path(const char* path, Stat& out) override {
    struct ::stat found {};
    return take(::stat(path, &found), found, out);
  }
  int stat_link(const char* path, Stat& out) override {
    struct ::stat found {};
    return take(::lstat(path, &found), found, out);
  }
  int chmod(int fd, std::uint32_t mode) override { return or_errno(::fchmod(fd, mode)); }
  // umask(2) would change the mask for a moment, which other threads would see.
  std::uint32_t umask() override {
    constexpr std::uint32_t kPrivate = 0077;  // if the system does not report it
    const int fd = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return kPrivate;
    std::array<char, 512> text{};
    const ssize_t size = ::read(fd, text.data(), text.size() - 1);
    ::close(fd);
    const char* const line = size < 0 ? nullptr : std::strstr(text.data(), "\nUmask:");
    return line == nullptr ? kPrivate
                           : static_cast<std::uint32_t>(std::strtoul(line + 7, nullptr, 8)) & 0777U;
  }
  int chown(int fd, std::uint32_t user, std::uint32_t group) override {
    return or_errno(::fchown(fd, user, group));
  }
  int has_acl(int fd) override { return is_there(::fgetxattr(fd, kAcl, nullptr, 0)); }
  int has_acl(const char* path) override { return is_there(::getxattr(path, kAcl, nullptr, 0)); }
  int gives_acl(const char* directory) override {
    return is_there(::getxattr(directory, XATTR_NAME_POSIX_ACL_DEFAULT, nullptr, 0));
  }
  int take_acl(int fd, int from) override {
    if (from < 0) {
      const int result = or_errno(::fremovexattr(fd, kAcl));
      return result == -ENODATA || result == -EOPNOTSUPP ? 0 : result;
    }
    std::array<std::byte, 65536> list{};  // the longest attribute
    const ssize_t size = or_errno(::fgetxattr(from, kAcl, list.data(), list.size()));
    return size < 0
               ? static_cast<int>(size)
               : or_errno(::fsetxattr(fd, kAcl, list.data(), static_cast<std::size_t>(size), 0));
  }

  int map(int fd, std::size_t size, Map how, void*& out) override {
    const int protection = how == Map::shared_read ? PROT_READ : PROT_READ | PROT_WRITE;
    const int sharing = how == Map::private_write ? MAP_PRIVATE : MAP_SHARED;
    void* address = ::mmap(nullptr, size, protection, sharing, fd, 0);
    if (address == MAP_FAILED) return -errno;
    out = address;
    return 0;
  }
  int unmap(void* address, std::size_t size) override { return or_errno(::munmap(address, size)); }
  int flush(void* address, std::size_t size) override {
    return or_errno(::msync(address, size, MS_SYNC));
  }

  int rename(const char* from, const char* to) override { return or_errno(::rename(from, to)); }
  int rename_new(const char* from, const char* to) override {
    const int done =
        static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE));
    if (done == 0 || (errno != EINVAL && errno != ENOSYS)) return or_errno(done);
    // File systems without that flag have hard links, which never replace a file either.
    if (::link(from, to) != 0) return -errno;
    ::unlink(from);  // `to` exists; if the old name remains, that is no failure
    return 0;
  }
  int exchange(const char* one, const char* other) override {
    const int done = or_errno(static_cast<int>(
        ::syscall(SYS_renameat2, AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE)));
    return done == -EINVAL || done == -ENOSYS ? -EOPNOTSUPP : done;
  }
  int unlink(const char* path) override { return or_errno(::unlink(path)); }
  int sync_directory(const char* path) override {
    const int fd = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return -errno;
    const int result = or_errno(::fsync(fd));
    ::close(fd);
    return result;
  }
  int resolve(const char* path, std::string& out) override {
    const std::unique_ptr<char, void (*)(void*)> real(::realpath(path, nullptr), std::free);
    if (!real) return -errno;
    out = real.get();
    return 0;
  }
  int path_of(int fd, std::string& out) override {
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    std::array<char, PATH_MAX> path{};
    const ssize_t size = or_errno(::readlink(link.c_str(), path.data(), path.size()));
    if (size < 0) return static_cast<int>(size);
    out.assign(path.data(), static_cast<std::size_t>(size));
    return 0;
  }

  // Locks of the open file, not of the process: two handles in one process exclude each other too, and
  // a reader can ask for the lock without taking it.
  int try_lock(int fd) override { return set_lock(fd, F_WRLCK, 0, kGateAt); }
  int unlock(int fd) override { return set_lock(fd, F_UNLCK, 0, kGateAt); }
  int locked(int fd) override {
    struct flock lock = range(F_WRLCK, 0, kGateAt);
    const int result = or_errno(::fcntl(fd, F_OFD_GETLK, &lock));
    return result < 0 ? result : static_cast<int>(lock.l_type != F_UNLCK);
  }
  int try_share(int fd) override { return set_lock(fd, F_RDLCK, 0, kGateAt); }
  int hold_gate(int fd) override {
    struct flock lock = range(F_WRLCK, kGateAt, 1);
    return or_errno(::fcntl(fd, F_OFD_SETLKW, &lock));
  }
  int leave_gate(int fd) override { return set_lock(fd, F_UNLCK, kGateAt, 1); }

  int boot_id(Id& out) override {
    const int fd = ::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return -errno;
    std::array<char, 64> text{};
    const ssize_t size = or_errno(::read(fd, text.data(), text.size()));
    ::close(fd);
    if (size < 0) return static_cast<int>(size);
    std::size_t digits = 0;
    for (const char c : text) {
      const int value = nibble(c);
      if (value < 0) continue;
      if (digits == 2 * out.size()) break;
      const auto shifted = static_cast<std::byte>(digits % 2 == 0 ? value << 4 : value);
      out[digits / 2] = digits % 2 == 0 ? shifted : out[digits / 2] | shifted;
      ++digits;
    }
    return digits == 2 * out.size() ? 0 : -ENODATA;
  }
  int random(void* to, std::size_t size) override {
    return ::getentropy(to, size) == 0 ? 0 : -errno;
  }

 private:
  static int take(int result, const struct ::stat& found, Stat& out) noexcept {
    if (result != 0) return -errno;
    out = {found.st_dev,
           found.st_ino,
           static_cast<std::uint64_t>(found.st_size),
           found.st_mode & 07777U,
           found.st_uid,
           found.st_gid,
           S_ISREG(found.st_mode),
           static_cast<std::uint64_t>(found.st_blocks) * 512,
           static_cast<std::uint64_t>(found.st_mtim.tv_sec) * 1'000'000'000U +
               static_cast<std::uint64_t>(found.st_mtim.tv_nsec)};
    return 0;
  }
};

}  // namespace

Os& real_os() noexcept {
  // Never destroyed: a filter file that is closed at the exit of the process needs it.
  alignas(RealOs) static std::array<std::byte, sizeof(RealOs)> room;
  static RealOs& os = *new (room.data()) RealOs;
  return os;
}

int above_standard_streams(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) return fd;
  const int above = or_errno(::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  ::close(fd);
  return above;
}

}  // namespace bloomery
