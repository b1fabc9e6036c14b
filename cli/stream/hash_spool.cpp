// Writing and reading whole parts of a file without a name.
#include "stream/hash_spool.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace bloomery::cli {

namespace {

// A file on a disk; -1: there is no place for one.
int nameless_file() {
  const char* const given = std::getenv("TMPDIR");
  const char* const directory = given != nullptr && *given != '\0' ? given : "/var/tmp";
  struct statfs system;
  if (::statfs(directory, &system) != 0 || system.f_type == TMPFS_MAGIC ||
      system.f_type == RAMFS_MAGIC)
    return -1;
  return ::open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

}  // namespace

HashSpool::HashSpool() { held_.reserve(kHeld); }

bool HashSpool::write() {
  if (!file_) file_.emplace(nameless_file());
  if (file_->get() < 0) return false;
  const auto bytes = std::as_bytes(std::span(held_));
  const std::uint64_t begin = written_ * sizeof(Hash128);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::pwrite(file_->get(), bytes.data() + done, bytes.size() - done,
                               static_cast<off_t>(begin + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  written_ += held_.size();
  held_.clear();
  return true;
}

void HashSpool::for_each(const std::function<void(std::span<const Hash128>)>& take) const {
  std::vector<Hash128> part(std::min<std::uint64_t>(kHeld, written_));
  for (std::uint64_t at = 0; at < written_; at += part.size()) {
    part.resize(std::min<std::uint64_t>(kHeld, written_ - at));
    const auto bytes = std::as_writable_bytes(std::span(part));
    for (std::size_t done = 0; done < bytes.size();) {
      const ssize_t n = ::pread(file_->get(), bytes.data() + done, bytes.size() - done,
                                static_cast<off_t>(at * sizeof(Hash128) + done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) throw_system("cannot read the hashes of lines back", n == 0 ? EIO : errno);
      done += static_cast<std::size_t>(n);
    }
    take(part);
  }
  take(held_);
}

}  // namespace bloomery::cli
