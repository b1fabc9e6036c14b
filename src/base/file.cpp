// Retries interrupted and short system calls, and turns failed ones into Errors.
#include "base/file.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <vector>

#include "base/zeros.hpp"

namespace bloomery::detail {

namespace {

const char* remedy_for(int error, bool creates) noexcept {
  switch (error) {
    case ENOENT:
      return "check the path, or create the filter first";
    case EACCES:
    case EPERM:
      return creates ? "check the permissions of its directory" : "check the permissions";
    case EROFS:
      return "the file system is read-only; use another place";
    case ENOSPC:
    case EDQUOT:
      return "free some space and try again";
    case EFBIG:
      return "raise the limit of file sizes (ulimit -f), or use another file system";
    case ENOMEM:
      return "free some memory or use a smaller filter";
    case EISDIR:
    case ENOTDIR:
      return "give the path of a file";
    case ENAMETOOLONG:
      return "give a shorter name (a new file is .NAME.new at first)";
    case EMFILE:
      return "raise the limit of open files (ulimit -n)";
    case ENFILE:
      return "raise the system's limit of open files (fs.file-max)";
    default:
      return "check the device and its file system";
  }
}

ErrorCode code_of(int error) noexcept {
  if (error == ENOSPC || error == EDQUOT) return ErrorCode::no_space;
  if (error == ENOMEM) return ErrorCode::no_memory;
  if (error == ENOENT) return ErrorCode::missing;
  return ErrorCode::io;
}

}  // namespace

Error os_error(int error, const std::string& path, const std::string& operation) {
  return {code_of(error), path + ": cannot " + operation + ": " +
                              std::generic_category().message(error) + "; " +
                              remedy_for(error, operation == "create")};
}

void refuse_for_memory(const std::string& name) {
  throw Error(ErrorCode::no_memory, name + ": out of memory; free some, or use a smaller filter");
}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(os_, other.os_);
  std::swap(address_, other.address_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (address_ != nullptr) os_->unmap(address_, size_);
}

File::File(Os& os, std::string path, Os::Open how) : os_(&os), path_(std::move(path)) {
  const bool creates = how != Os::Open::read && how != Os::Open::write;
  const int fd = uninterrupted([&] { return os.open(path_.c_str(), how); });
  if (fd < 0) throw os_error(-fd, path_, creates ? "create" : "open");
  fd_ = fd;
}

File& File::operator=(File&& other) noexcept {
  std::swap(os_, other.os_);
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(lock_held_, other.lock_held_);
  std::swap(origin_, other.origin_);
  return *this;
}

// An error of close says nothing new, because data is synced before it counts as written; and after
// EINTR the descriptor is closed too.
void File::close() noexcept {
  unlock();
  if (fd_ >= 0) os_->close(std::exchange(fd_, -1));
}

int File::try_read(std::span<std::byte> to, std::uint64_t offset) const noexcept {
  while (!to.empty()) {
    const ssize_t got =
        uninterrupted([&] { return os_->pread(fd_, to.data(), to.size(), offset); });
    if (got < 0) return static_cast<int>(got);
    if (got == 0) return -ENODATA;
    to = to.subspan(static_cast<std::size_t>(got));
    offset += static_cast<std::uint64_t>(got);
  }
  return 0;
}

void File::read(std::span<std::byte> to, std::uint64_t offset) const {
  const int result = try_read(to, offset);
  if (result == -ENODATA)
    throw Error(ErrorCode::corrupt, path_ +
                                        ": the file ends before it should, so it was cut; "
                                        "restore it from a backup");
  if (result < 0) throw os_error(-result, path_, "read");
}

void File::write(std::span<const std::byte> from, std::uint64_t offset) {
  while (!from.empty()) {
    const ssize_t done =
        uninterrupted([&] { return os_->pwrite(fd_, from.data(), from.size(), offset); });
    if (done <= 0) throw os_error(done == 0 ? EIO : static_cast<int>(-done), path_, "write");
    from = from.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::uint64_t>(done);
  }
}

void File::write_sparsely(std::span<const std::byte> from, std::uint64_t offset) {
  constexpr std::size_t kStep = std::size_t{64} << 10;
  while (!from.empty()) {
    const auto step = from.first(std::min(kStep, from.size()));
    if (!is_zeros(step)) write(step, offset);
    from = from.subspan(step.size());
    offset += step.size();
  }
}

void File::sync() const {
  checked_call(path_, "write to the device", [&] { return os_->fdatasync(fd_); });
}

void File::sync_written(std::span<const std::byte> from, std::uint64_t offset) {
  checked_call(path_, "write to the device",
               [&] { return os_->sync_written(fd_, from.data(), from.size(), offset); });
}

void File::truncate(std::uint64_t size) {
  checked_call(path_, "set the length", [&] { return os_->truncate(fd_, size); });
}

void File::reserve(std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t before = stat().size;
  const int result = uninterrupted([&] { return os_->allocate(fd_, offset, size); });
  if (result == 0) return;
  try {
    if (result != -EOPNOTSUPP) throw os_error(-result, path_, "reserve room on the device");
    // The file system cannot reserve space: write zeros beyond the present end.
    const std::uint64_t end = offset + size;
    const std::vector<std::byte> zeros(std::size_t{1} << 16);
    for (std::uint64_t at = std::max(offset, before); at < end;) {
      const std::uint64_t step = std::min<std::uint64_t>(zeros.size(), end - at);
      write(std::span(zeros).first(step), at);
      at += step;
    }
  } catch (...) {
    // Releases the space that the system may already have reserved, also beyond the end of the file.
    uninterrupted([&] { return os_->truncate(fd_, before); });
    throw;
  }
}

std::optional<File::Range> File::next_data(std::uint64_t offset) const {
  Range range{};
  const int result =
      uninterrupted([&] { return os_->next_data(fd_, offset, range.from, range.to); });
  if (result == -ENXIO) return std::nullopt;
  if (result == -EINVAL || result == -EOPNOTSUPP) return Range{offset, UINT64_MAX};
  if (result < 0) throw os_error(-result, path_, "look for its holes");
  return range;
}

Os::Stat File::stat() const {
  Os::Stat found;
  checked_call(path_, "look at it", [&] { return os_->stat(fd_, found); });
  return found;
}

bool File::is_at(const std::string& path) const {
  const Os::Stat mine = stat();
  Os::Stat there;
  const int result = uninterrupted([&] { return os_->stat_link(path.c_str(), there); });
  if (result == -ENOENT) return false;
  if (result < 0) throw os_error(-result, path, "look at it");
  return is_same_file(mine, there);
}

std::string File::present_path() const {
  std::string path;
  return uninterrupted([&] { return os_->path_of(fd_, path); }) == 0 ? path : std::string();
}

void File::set_mode(std::uint32_t mode) {
  checked_call(path_, "set the permissions", [&] { return os_->chmod(fd_, mode); });
}

Os::Stat File::rights() const {
  Os::Stat found = stat();
  found.has_acl = uninterrupted([&] { return os_->has_acl(fd_); }) != 0;
  return found;
}

void File::take_acl(const File* from) {
  checked_call(path_, "set the permissions",
               [&] { return os_->take_acl(fd_, from == nullptr ? -1 : from->fd_); });
}

bool File::try_own(std::optional<std::uint32_t> user, std::uint32_t group) {
  const int result =
      uninterrupted([&] { return os_->chown(fd_, user.value_or(Os::kSame), group); });
  // EINVAL: the user or group does not exist in this user namespace.
  if (result == -EPERM || result == -EINVAL || result == -ENOTSUP) return false;
  if (result < 0) throw os_error(-result, path_, "set the owner");
  return true;
}

bool File::try_lock() {
  const int result = uninterrupted([&] { return os_->try_lock(fd_); });
  if (result == -EAGAIN) return false;
  if (result < 0) throw os_error(-result, path_, "lock");
  lock_held_ = true;
  return true;
}

void File::unlock() noexcept {
  if (std::exchange(lock_held_, false) && !is_inherited()) os_->unlock(fd_);
}

bool File::try_share() {
  const int result = uninterrupted([&] { return os_->try_share(fd_); });
  if (result == -EAGAIN) return false;
  if (result < 0) throw os_error(-result, path_, "share the lock");
  lock_held_ = true;
  return true;
}

Gate::Gate(const File& file) : file_(file) {
  checked_call(file.path(), "lock", [&] { return file.os().hold_gate(file.fd_); });
}

bool File::locked() const {
  return checked_call(path_, "ask for the lock", [&] { return os_->locked(fd_); }) == 1;
}

Mapping File::map(std::uint64_t size, Os::Map how) const {
  if (size > std::numeric_limits<std::size_t>::max() / 2)
    throw Error(ErrorCode::no_memory, path_ + ": is larger than this machine can address");
  void* address = nullptr;
  checked_call(path_, "map it into memory",
               [&] { return os_->map(fd_, static_cast<std::size_t>(size), how, address); });
  return {*os_, address, static_cast<std::size_t>(size)};
}

void File::flush(const Mapping& mapping) {
  checked_call(path_, "write to the device",
               [&] { return os_->flush(mapping.bytes().data(), mapping.bytes().size()); });
}

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace bloomery::detail
