// Writing and opening, with interrupted and short calls carried on.
#include "output/system.hpp"

#include <fmt/format.h>
#include <linux/xattr.h>
#include <poll.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <bloomery/error.hpp>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace bloomery::cli {

namespace {

// For a path that does not exist.
std::string what_to_check(const std::filesystem::path& path) {
  std::error_code ignored;
  const std::filesystem::path directory = path.parent_path();
  return directory.empty() || std::filesystem::exists(directory, ignored)
             ? "; check the path"
             : fmt::format("; the directory {} does not exist", directory.string());
}

}  // namespace

void throw_system(const std::string& what, int error_number, const std::string& path) {
  const ErrorCode code = error_number == ENOSPC || error_number == EDQUOT ? ErrorCode::no_space
                         : error_number == ENOMEM                         ? ErrorCode::no_memory
                                                                          : ErrorCode::io;
  const std::string remedy = code == ErrorCode::no_space ? "; make room and run it again"
                             : error_number == ENOENT    ? what_to_check(path)
                             : error_number == EACCES    ? "; check the permissions"
                             : error_number == EFBIG     ? "; raise the limit of file sizes"
                             : error_number == EMFILE
                                 ? "; raise the limit of open files (ulimit -n)"
                                 : "";
  throw Error(code,
              fmt::format("{}: {}{}", what, std::generic_category().message(error_number), remedy));
}

void throw_no_thread(const std::error_code& error) {
  const bool scarce = error == std::errc::resource_unavailable_try_again;
  throw Error(
      scarce ? ErrorCode::no_memory : ErrorCode::io,
      fmt::format("cannot start a thread: {}; {}", error.message(),
                  scarce ? "allow more memory or more threads (ulimit -v, ulimit -u)"
                         : "allow clone3 in the system call filter of the container or service"));
}

void write_all(int fd, std::span<const char> bytes, const std::string& what) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) {
        // Another process that shares the pipe made it non-blocking.
        pollfd wait{fd, POLLOUT, 0};
        ::poll(&wait, 1, -1);
        continue;
      }
      if (errno == EPIPE) throw BrokenPipe{};
      throw_system(what, errno);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

FileDescriptor::~FileDescriptor() {
  if (fd_ > STDERR_FILENO) ::close(fd_);
}

bool has_access_list(const std::string& path) noexcept {
  return ::getxattr(path.c_str(), XATTR_NAME_POSIX_ACL_ACCESS, nullptr, 0) >= 0 ||
         (errno != ENODATA && errno != EOPNOTSUPP);
}

}  // namespace bloomery::cli
