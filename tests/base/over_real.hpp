// The real system, for tests that let one of its calls fail.
#pragma once

#include "base/os.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace bloomery::test {

class OverReal : public Os {
 public:
  int open(const char* p, Open how, std::uint32_t mode) override {
    return real_os().open(p, how, mode);
  }
  int close(int fd) override { return real_os().close(fd); }
  ssize_t pread(int fd, void* to, std::size_t n, std::uint64_t at) override {
    return real_os().pread(fd, to, n, at);
  }
  ssize_t pwrite(int fd, const void* from, std::size_t n, std::uint64_t at) override {
    return real_os().pwrite(fd, from, n, at);
  }
  int fdatasync(int fd) override { return real_os().fdatasync(fd); }
  int truncate(int fd, std::uint64_t n) override { return real_os().truncate(fd, n); }
  int allocate(int fd, std::uint64_t at, std::uint64_t n) override {
    return real_os().allocate(fd, at, n);
  }
  int next_data(int fd, std::uint64_t at, std::uint64_t& from, std::uint64_t& to) override {
    return real_os().next_data(fd, at, from, to);
  }
  int stat(int fd, Stat& out) override { return real_os().stat(fd, out); }
  int stat_path(const char* p, Stat& out) override { return real_os().stat_path(p, out); }
  int chmod(int fd, std::uint32_t mode) override { return real_os().chmod(fd, mode); }
  int chown(int fd, std::uint32_t user, std::uint32_t group) override {
    return real_os().chown(fd, user, group);
  }
  int has_acl(int fd) override { return real_os().has_acl(fd); }
  int has_acl(const char* p) override { return real_os().has_acl(p); }
  int gives_acl(const char* p) override { return real_os().gives_acl(p); }
  int take_acl(int fd, int from) override { return real_os().take_acl(fd, from); }
  int map(int fd, std::size_t n, Map how, void*& out) override {
    return real_os().map(fd, n, how, out);
  }
  int unmap(void* p, std::size_t n) override { return real_os().unmap(p, n); }
  int flush(void* p, std::size_t n) override { return real_os().flush(p, n); }
  int rename(const char* a, const char* b) override { return real_os().rename(a, b); }
  int rename_new(const char* a, const char* b) override { return real_os().rename_new(a, b); }
  int exchange(const char* a, const char* b) override { return real_os().exchange(a, b); }
  int path_of(int fd, std::string& out) override { return real_os().path_of(fd, out); }
  int unlink(const char* p) override { return real_os().unlink(p); }
  int sync_directory(const char* p) override { return real_os().sync_directory(p); }
  int resolve(const char* p, std::string& out) override { return real_os().resolve(p, out); }
  int try_lock(int fd) override { return real_os().try_lock(fd); }
  int unlock(int fd) override { return real_os().unlock(fd); }
  int locked(int fd) override { return real_os().locked(fd); }
  int boot_id(Id& out) override { return real_os().boot_id(out); }
  int random(void* to, std::size_t n) override { return real_os().random(to, n); }
  int stat_link(const char* p, Stat& out) override { return real_os().stat_link(p, out); }
  int try_share(int fd) override { return real_os().try_share(fd); }
  int sync_written(int fd, const void* from, std::size_t n, std::uint64_t at) override {
    return real_os().sync_written(fd, from, n, at);
  }
  std::uint32_t umask() override { return real_os().umask(); }
  int hold_gate(int fd) override { return real_os().hold_gate(fd); }
  int leave_gate(int fd) override { return real_os().leave_gate(fd); }
};

}  // namespace bloomery::test
