// Every system call that the store makes, behind one interface, so that a test can make each of them
// fail, tear its data or lose it.
//
// A result below zero is -errno, as in the kernel. Nothing here retries or throws: base/file.hpp does
// both for all callers.
#pragma once

#include <sys/types.h>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>

namespace bloomery {

class Os {
 public:
  // create: a new file for writing. nameless: a file without a name, only for its user, on the device of the directory
  // at the path; it ends with the descriptor.
  enum class Open : std::uint8_t { read, write, create, nameless };
  enum class Map : std::uint8_t { shared_read, shared_write, private_write };
  struct Stat {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::uint64_t size = 0;
    std::uint32_t mode = 0;  // permission bits
    std::uint32_t user = 0, group = 0;
    bool regular = false;
    std::uint64_t allocated = 0;  // bytes that it takes on the device
    std::uint64_t modified = 0;   // when its bytes were written last: nanoseconds since 1970
    bool has_acl = false;         // or it is not known; only File::rights() and rights_of() ask
  };
  using Id = std::array<std::byte, 16>;

  virtual ~Os() = default;

  // Never waits for the other end of a pipe.
  // `mode`: the most that a new file permits. The system takes from it what the umask denies, or what the list denies
  // that the directory gives to new files.
  virtual int open(const char* path, Open how, std::uint32_t mode = 0666) = 0;
  virtual int close(int fd) = 0;
  virtual ssize_t pread(int fd, void* to, std::size_t size, std::uint64_t offset) = 0;
  virtual ssize_t pwrite(int fd, const void* from, std::size_t size, std::uint64_t offset) = 0;
  virtual int fdatasync(int fd) = 0;
  // Syncs these bytes, which were just written there, as fdatasync does; it need not sync other bytes
  // of the file. If there is no cheaper way, it syncs everything.
  virtual int sync_written(int fd, const void* from, std::size_t size, std::uint64_t offset) = 0;
  virtual int truncate(int fd, std::uint64_t size) = 0;
  // Reserves space on the device, and extends the file with zeros; never changes present bytes.
  virtual int allocate(int fd, std::uint64_t offset, std::uint64_t size) = 0;
  // The first range [from, to) at or after `offset` that is not in a hole. -ENXIO: there is none.
  virtual int next_data(int fd, std::uint64_t offset, std::uint64_t& from, std::uint64_t& to) = 0;
  virtual int stat(int fd, Stat& out) = 0;
  virtual int stat_path(const char* path, Stat& out) = 0;
  // As stat_path, but does not follow a symbolic link.
  virtual int stat_link(const char* path, Stat& out) { return stat_path(path, out); }
  virtual int chmod(int fd, std::uint32_t mode) = 0;
  // 1 if a file has an access control list, else 0. Then the group's bits of its mode are not the rights of its group,
  // but the most that the list gives to anybody.
  virtual int has_acl(int fd) = 0;
  virtual int has_acl(const char* path) = 0;
  // 1 if a directory gives new files an access control list, instead of what the umask leaves, else 0.
  virtual int gives_acl(const char* directory) = 0;
  // Gives a file the list of another one, or -ENODATA if that has none; with from -1, none.
  virtual int take_acl(int fd, int from) = 0;
  // The permissions that new files of this process do not get.
  virtual std::uint32_t umask() { return 0022; }
  static constexpr std::uint32_t kSame = UINT32_MAX;  // for chown: do not change it
  virtual int chown(int fd, std::uint32_t user, std::uint32_t group) = 0;

  // Maps the first `size` bytes of a file.
  virtual int map(int fd, std::size_t size, Map how, void*& out) = 0;
  virtual int unmap(void* address, std::size_t size) = 0;
  virtual int flush(void* address, std::size_t size) = 0;  // msync(MS_SYNC)

  virtual int rename(const char* from, const char* to) = 0;
  // -EEXIST if `to` exists; atomic.
  virtual int rename_new(const char* from, const char* to) = 0;
  // Exchanges the files of two names, atomically. -EOPNOTSUPP: the file system cannot do it.
  virtual int exchange(const char* one, const char* other) = 0;
  virtual int unlink(const char* path) = 0;
  virtual int sync_directory(const char* path) = 0;
  // The absolute path without symbolic links.
  virtual int resolve(const char* path, std::string& out) = 0;
  // A path that an open file may have now, after renames of it or of its directories.
  virtual int path_of(int fd, std::string& out) = 0;

  // Takes the lock of the single writer. It ends with the process; until then a mapping of the file
  // keeps it after close. -EAGAIN: the lock is taken.
  virtual int try_lock(int fd) = 0;
  virtual int unlock(int fd) = 0;
  // 1 if another open file has that lock, alone or shared, else 0.
  virtual int locked(int fd) = 0;
  // Takes the same lock, shared with others; works also for an open file that has it alone. -EAGAIN: another
  // has it alone.
  virtual int try_share(int fd) = 0;
  // Takes the second lock, the gate, for a short time; waits until it is free.
  virtual int hold_gate(int fd) = 0;
  virtual int leave_gate(int fd) = 0;

  // The identity of this boot of the machine.
  virtual int boot_id(Id& out) = 0;
  virtual int random(void* to, std::size_t size) = 0;
};

[[nodiscard]] inline bool is_same_file(const Os::Stat& one, const Os::Stat& other) noexcept {
  return one.device == other.device && one.inode == other.inode;
}

Os& real_os() noexcept;

// A descriptor that was just made, or its error. If the program has closed a standard stream, the new descriptor may be
// in its place, and what is still printed there would get into it: then it moves to a higher number.
[[nodiscard]] int above_standard_streams(int fd) noexcept;

}  // namespace bloomery
