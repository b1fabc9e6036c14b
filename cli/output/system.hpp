// The few system calls of the tool, as errors that name the thing and the reason.
#pragma once

#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace bloomery::cli {

// The reader of our output has closed it: this ends the work, but is not reported as an error.
struct BrokenPipe {};

// "what: why the system refused (errno)" as Error{io}, or {no_space} if that is the reason. If the directory of the
// path does not exist, it names that.
[[noreturn]] void throw_system(const std::string& what, int error_number,
                               const std::string& path = {});

[[noreturn]] void throw_no_thread(const std::error_code& error);

// Starts a thread, or throws an Error.
template <class Work>
std::thread start_thread(Work work) {
  try {
    return std::thread(work);
  } catch (const std::system_error& error) {
    throw_no_thread(error.code());
  }
}

// Writes all of it. BrokenPipe, or Error naming `what`.
void write_all(int fd, std::span<const char> bytes, const std::string& what);

// An open file that closes itself; standard input is borrowed.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) noexcept : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor();
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_ = -1;
};

// ---- a file that is cut while it is mapped (lost_file.cpp) ----------------------------------------

// From now on an access to a part of a mapped file that no longer exists, or whose disk fails, ends the tool
// with a line on stderr and this exit code. Any other SIGBUS kills the tool as by default.
void explain_lost_files(int exit_code);

// Whether the file has an access control list, or may have one: then the bits of its mode tell too little.
[[nodiscard]] bool has_access_list(const std::string& path) noexcept;

}  // namespace bloomery::cli
