// An open file over the system calls of an Os: complete reads and writes, or an Error that names
// the file, the operation, the reason and what to do.
#pragma once

#include <bloomery/error.hpp>

#include "base/origin.hpp"
#include "base/os.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace bloomery::detail {

// `error` is an errno value; `operation` completes "cannot ...".
[[nodiscard]] Error os_error(int error, const std::string& path, const std::string& operation);

// The edge of the library: every exception that leaves it is an Error, even if memory runs out. `name`
// names the filter in the message.
[[noreturn]] void refuse_for_memory(const std::string& name);
template <class Work>
auto at_edge(const std::string& name, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    refuse_for_memory(name);
  }
}

// Repeats a system call until no signal interrupts it.
template <class Call>
auto uninterrupted(Call call) -> decltype(call()) {
  auto result = call();
  while (result == -EINTR) result = call();
  return result;
}

// The same for a call that must succeed; otherwise os_error.
template <class Call>
int checked_call(const std::string& path, const char* operation, Call call) {
  const int result = uninterrupted(call);
  if (result < 0) throw os_error(-result, path, operation);
  return result;
}

// The first bytes of a file, mapped as long as the object lives.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Os& os, void* address, std::size_t size) noexcept
      : os_(&os), address_(address), size_(size) {}
  Mapping(Mapping&& other) noexcept
      : os_(other.os_), address_(std::exchange(other.address_, nullptr)), size_(other.size_) {}
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();
  [[nodiscard]] std::span<std::byte> bytes() const noexcept {
    return {static_cast<std::byte*>(address_), size_};
  }

 private:
  Os* os_ = nullptr;
  void* address_ = nullptr;
  std::size_t size_ = 0;
};

class File {
 public:
  File() = default;
  File(Os& os, std::string path, Os::Open how);
  File(Os& os, std::string path, int fd) noexcept : os_(&os), path_(std::move(path)), fd_(fd) {}
  File(File&& other) noexcept
      : os_(other.os_),
        path_(std::move(other.path_)),
        fd_(std::exchange(other.fd_, -1)),
        lock_held_(std::exchange(other.lock_held_, false)),
        origin_(other.origin_) {}
  File& operator=(File&& other) noexcept;
  ~File() { close(); }
  void close() noexcept;

  [[nodiscard]] Os& os() const noexcept { return *os_; }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  void set_path(std::string path) noexcept { path_ = std::move(path); }
  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  // Whether the file, with its lock, is that of the process from which this one was forked.
  [[nodiscard]] bool is_inherited() const noexcept { return origin_.is_inherited(); }

  // Fills `to`. Error{corrupt}: the file ends before it is full.
  void read(std::span<std::byte> to, std::uint64_t offset) const;
  // As read, but returns -errno instead of throwing (-ENODATA: the file ends before `to` is full).
  [[nodiscard]] int try_read(std::span<std::byte> to, std::uint64_t offset) const noexcept;
  void write(std::span<const std::byte> from, std::uint64_t offset);
  // As write, but leaves out long zeros: they become holes, where the file has nothing yet. It may end before them.
  void write_sparsely(std::span<const std::byte> from, std::uint64_t offset);
  void sync() const;  // data, and the metadata that is needed to find it
  // As sync, but may sync only these bytes, which were just written there.
  void sync_written(std::span<const std::byte> from, std::uint64_t offset);
  void truncate(std::uint64_t size);
  // Reserves space on the device for [offset, offset + size), so that a later store into a mapping
  // cannot run out of space. Bytes beyond the end of the file become zeros. After an Error the file is
  // no longer than before.
  void reserve(std::uint64_t offset, std::uint64_t size);
  [[nodiscard]] Os::Stat stat() const;
  // The first range [from, to) at or after `offset` that is not in a hole, or everything from `offset` on
  // if the file system cannot tell. nullopt: only a hole follows.
  struct Range {
    std::uint64_t from, to;
  };
  [[nodiscard]] std::optional<Range> next_data(std::uint64_t offset) const;
  // Whether this file itself is at a path, and not a symbolic link to it.
  [[nodiscard]] bool is_at(const std::string& path) const;
  // A path that the file may have now; empty if the system does not tell.
  [[nodiscard]] std::string present_path() const;
  void set_mode(std::uint32_t mode);
  // As stat(), and whether the file has an access control list. If the system does not tell, it counts as one.
  [[nodiscard]] Os::Stat rights() const;
  // Takes over the access control list of another file, which has one; with null it has none afterwards.
  void take_acl(const File* from);
  // False: this process may not give the file to this user or group. Without a user the owner stays.
  [[nodiscard]] bool try_own(std::optional<std::uint32_t> user, std::uint32_t group);
  [[nodiscard]] bool try_lock();   // false: another handle has it, alone or shared
  [[nodiscard]] bool try_share();  // the same lock, shared; false: another handle has it alone
  // Releases the lock, before the file is closed; a child that inherited the file leaves it to the parent.
  void unlock() noexcept;
  [[nodiscard]] bool locked() const;
  [[nodiscard]] Mapping map(std::uint64_t size, Os::Map how) const;
  void flush(const Mapping& mapping);

 private:
  friend class Gate;
  Os* os_ = nullptr;
  std::string path_;
  int fd_ = -1;
  bool lock_held_ = false;
  Origin origin_;
};

// Holds the second lock of a file, the gate; the file must stay open. The constructor waits until the lock is free.
class Gate {
 public:
  explicit Gate(const File& file);
  ~Gate() { file_.os().leave_gate(file_.fd_); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

 private:
  const File& file_;
};

// The directory that a path is in.
[[nodiscard]] std::string directory_of(const std::string& path);

}  // namespace bloomery::detail
