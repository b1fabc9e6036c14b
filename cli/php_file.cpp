// Loading a bitmap whole, and writing back its changed pages.
#include "php_file.hpp"

#include "scheme.hpp"
#include "system.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace bloomery::cli {

namespace {

constexpr std::uint64_t kPage = 4096;

FileDescriptor opened(const std::string& path, Mode mode) {
  const int flags = mode == Mode::read     ? O_RDONLY
                    : mode == Mode::create ? O_RDWR | O_CREAT | O_EXCL
                                           : O_RDWR;
  FileDescriptor fd(::open(path.c_str(), flags | O_CLOEXEC, 0666));
  if (fd.get() < 0 && errno == EEXIST)
    throw Error(ErrorCode::exists,
                fmt::format("{} exists; a bitmap cannot be told from other files and is never "
                            "replaced: name another",
                            path));
  if (fd.get() < 0 && errno == ENOENT)
    throw Error(ErrorCode::missing,
                fmt::format("{} does not exist; bloomery create makes an empty one", path));
  if (fd.get() < 0) throw_system(fmt::format("cannot open {}", path), errno);
  if (mode != Mode::read && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0)
    throw Error(ErrorCode::locked,
                fmt::format("{} is being written by another process; wait for its end", path));
  return fd;
}

PhpFilter loaded(const FileDescriptor& fd, const std::string& path, const PhpScheme& scheme) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) throw_system(fmt::format("cannot read {}", path), errno);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (!S_ISREG(status.st_mode) || size > (scheme.bits() + 7) / 8)
    throw Error(ErrorCode::mismatch,
                fmt::format("{} has {} bytes, more than the {} of its scheme, or is no file; check "
                            "the path and the scheme",
                            path, size, (scheme.bits() + 7) / 8));
  if (size == 0) return PhpFilter(scheme);
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  if (at == MAP_FAILED) throw_system(fmt::format("cannot read {}", path), errno);
  const std::span<const std::byte> bytes(static_cast<const std::byte*>(at), size);
  try {
    constexpr std::string_view kMagic(
        "\x89"
        "BL");
    if (size >= kMagic.size() && std::memcmp(at, kMagic.data(), kMagic.size()) == 0)
      throw Error(
          ErrorCode::mismatch,
          fmt::format("{} is a filter file of Bloomery's, and no bitmap; leave --scheme out",
                      path));
    PhpFilter filter = PhpFilter::load(scheme, bytes);
    ::munmap(at, size);
    return filter;
  } catch (const Error&) {
    ::munmap(at, size);
    throw;
  }
}

class PhpFile : public KeyFilter {
 public:
  PhpFile(const PhpScheme& scheme, const std::string& path, Mode mode)
      : path_(path),
        fd_(opened(path, mode)),
        filter_(loaded(fd_, path, scheme)),
        changed_(filter_.bytes().size() / kPage + 1) {}

  [[nodiscard]] std::string name() const override { return path_; }
  std::size_t insert(Keys keys, std::span<bool> fresh) override {
    acknowledged_ = 0;
    const std::size_t count = filter_.insert_many(keys, fresh);
    offsets_.resize(keys.size() * filter_.scheme().hash_count());
    filter_.scheme().positions(keys, offsets_);
    for (const std::uint64_t offset : offsets_) changed_[offset / 8 / kPage] = true;
    write_changed();
    acknowledged_ = keys.size();
    return count;
  }
  std::size_t may_contain(Keys keys, std::span<bool> found) override {
    return filter_.may_contain_many(keys, found);
  }
  [[nodiscard]] std::size_t acknowledged() const noexcept override { return acknowledged_; }
  [[nodiscard]] std::string made() const override { return filter_.scheme().description(); }
  [[nodiscard]] Standing standing(const std::string&) override {
    return php_standing(filter_.scheme(), {filter_.fill()});
  }
  [[nodiscard]] std::string verified() override { return kPhpVerified; }
  [[nodiscard]] Rows rows() override { return php_rows(path_, filter_.scheme(), {filter_.fill()}); }

 private:
  void write_changed() {
    const std::span<const std::byte> all = filter_.bytes();
    for (std::uint64_t page = 0; page < changed_.size(); ++page) {
      if (!changed_[page]) continue;
      std::uint64_t at = page * kPage;
      const std::uint64_t end = std::min<std::uint64_t>(at + kPage, all.size());
      while (at < end) {
        const ssize_t written =
            ::pwrite(fd_.get(), all.data() + at, end - at, static_cast<off_t>(at));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) throw_system(fmt::format("cannot write {}", path_), errno);
        at += static_cast<std::uint64_t>(written);
      }
    }
    if (::fdatasync(fd_.get()) != 0) throw_system(fmt::format("cannot write {}", path_), errno);
    changed_.assign(changed_.size(), false);
  }

  std::string path_;
  FileDescriptor fd_;
  PhpFilter filter_;
  std::vector<bool> changed_;  // pages of 4 KiB that are not yet in the file
  std::vector<std::uint64_t> offsets_;
  std::size_t acknowledged_ = 0;
};

}  // namespace

PhpFilter load_php_file(const std::string& path, const PhpScheme& scheme) {
  return loaded(opened(path, Mode::read), path, scheme);
}

std::unique_ptr<KeyFilter> php_file_filter(const Options& options, const std::string& path,
                                           Mode mode) {
  return std::make_unique<PhpFile>(php_scheme(options), path, mode);
}

}  // namespace bloomery::cli
