// The bits of a PHP class in memory, or in a file that is loaded completely and gets its changed pages back.
#include "base/file.hpp"
#include "format/header_bytes.hpp"
#include "handle/places.hpp"
#include "store/disk/opened.hpp"
#include "store/disk/rights.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

namespace bloomery::detail {

namespace {

constexpr std::uint64_t kPage = 4096;

File opened(const std::string& path, Os::Open how, std::uint32_t mode = 0666) {
  Os& os = real_os();
  const int fd = uninterrupted([&] { return os.open(path.c_str(), how, mode); });
  if (fd == -EEXIST)
    throw Error(ErrorCode::exists,
                path +
                    " exists; the bits of a PHP class look like any other file, so they are never "
                    "replaced: name another");
  if (fd == -ENOENT) (void)resolved(os, path);  // names a directory that does not exist
  if (fd == -ENOENT && how != Os::Open::create)
    throw Error(ErrorCode::missing, path + " does not exist; bloomery create makes an empty one");
  if (fd < 0) throw os_error(-fd, path, how == Os::Open::create ? "create" : "open");
  File file(os, path, fd);
  if (how != Os::Open::read && !file.try_lock())
    throw Error(ErrorCode::locked,
                path + " is being written by another process; wait until it has finished");
  return file;
}

// Leaves out its holes: the bytes are zeros.
void read_around_holes(const File& file, std::span<std::byte> string) {
  // Bytes that a program stored may be only in memory, and some file systems report them as a hole. Others, which
  // cannot be written, refuse to sync.
  try {
    if (file.stat().allocated < string.size()) file.sync();
  } catch (const Error&) {
    return file.read(string, 0);
  }
  std::uint64_t at = 0;
  while (const auto data = file.next_data(at)) {
    if (data->from >= string.size()) break;
    at = std::min<std::uint64_t>(data->to, string.size());
    file.read(string.subspan(data->from, at - data->from), data->from);
  }
}

PhpFilter loaded(const File& file, const PhpScheme& scheme) {
  const Os::Stat status = file.stat();
  const std::uint64_t most = (scheme.bits() + 7) / 8;
  if (!status.regular || status.size > most)
    throw Error(
        ErrorCode::mismatch,
        fill_in("{} has {} bytes, more than the {} of its scheme, or is not a file; check the "
                "path and the scheme",
                file.path(), status.size, most));
  if (status.size == 0) return PhpFilter(scheme);
  std::vector<std::byte> start(std::min<std::uint64_t>(status.size, kBitsAt));
  file.read(start, 0);
  if (is_filter_file(start) || is_dump(start))
    throw Error(ErrorCode::mismatch, file.path() +
                                         " is a filter file of Bloomery, not the bits of a PHP "
                                         "class; leave the scheme out");
  return PhpFilter::load(scheme, status.size,
                         [&](std::span<std::byte> string) { read_around_holes(file, string); });
}

class PhpBits : public AnyFilter::Impl {
 public:
  PhpBits(std::string name, PhpFilter filter) : Impl(std::move(name)), filter_(std::move(filter)) {}

  [[nodiscard]] const Hasher* hasher() const noexcept final { return nullptr; }
  std::size_t apply(AnyFilter::Operation operation, AnyFilter::Keys keys,
                    std::span<bool> answers) override {
    switch (operation) {
      case AnyFilter::Operation::insert:
        return insert(keys, answers);
      case AnyFilter::Operation::contain:
        return filter_.may_contain_many(keys, answers);
      case AnyFilter::Operation::remove:
        require_removal();
        break;
      case AnyFilter::Operation::insert_absent:
        break;
    }
    refuse_insert_absent();
  }
  [[nodiscard]] FilterSpec spec() const override { return {}; }
  [[nodiscard]] FilterStats stats(Precision) override {
    Stats counted;
    counted.fill = filter_.fill();
    return stats_of(filter_.scheme(), counted);
  }
  [[nodiscard]] std::vector<AnyFilter::Array> arrays() const final {
    return {{.bytes = filter_.bytes()}};
  }
  [[nodiscard]] VerifyReport verify() override { return said(kPhpVerified); }
  [[nodiscard]] std::vector<std::byte> encode() final {
    refuse(ErrorCode::wrong_kind,
           in_memory() ? "they have no header, so they are not encoded, copied or saved; create "
                         "them in a file, with the same scheme, and insert the keys there"
                       : "bits of a PHP class have no header, so they are not encoded, copied or "
                         "saved; copy the file, or convert it with its scheme");
  }

 protected:
  virtual std::size_t insert(AnyFilter::Keys keys, std::span<bool> fresh) {
    return filter_.insert_many(keys, fresh);
  }

  PhpFilter filter_;
};

class PhpMemory final : public PhpBits {
 public:
  using PhpBits::PhpBits;
  [[nodiscard]] bool in_memory() const noexcept override { return true; }
  void clear() override { filter_ = PhpFilter(filter_.scheme()); }
};

class PhpFile final : public PhpBits {
 public:
  PhpFile(const std::string& path, File file, PhpFilter filter)
      : PhpBits(path, std::move(filter)),
        file_(std::move(file)),
        changed_(filter_.bytes().size() / kPage + 1) {}
  void close() override { file_.close(); }

 private:
  std::size_t insert(AnyFilter::Keys keys, std::span<bool> fresh) override {
    if (!file_.is_open()) refuse(ErrorCode::read_only, "is closed; open it again");
    const std::size_t count = PhpBits::insert(keys, fresh);
    offsets_.resize(keys.size() * filter_.scheme().hash_count());
    filter_.scheme().positions(keys, offsets_);
    for (const std::uint64_t offset : offsets_) changed_[offset / 8 / kPage] = true;
    const std::span<const std::byte> all = filter_.bytes();
    for (std::uint64_t page = 0; page < changed_.size(); ++page) {
      const std::uint64_t at = page * kPage;
      if (!changed_[page]) continue;
      file_.write(all.subspan(at, std::min<std::uint64_t>(kPage, all.size() - at)), at);
    }
    file_.sync();
    changed_.assign(changed_.size(), false);
    return count;
  }

  File file_;
  std::vector<bool> changed_;  // pages of 4 KiB whose changes are not yet in the file
  std::vector<std::uint64_t> offsets_;
};

}  // namespace

FilterStats stats_of(const PhpScheme& scheme, const Stats& counted) {
  const double fill = counted.fill, bits = static_cast<double>(scheme.bits());
  FilterStats stats;
  static_cast<Stats&>(stats) = counted;
  // This estimate assumes good hashes.
  stats.estimated_items = bits / scheme.hash_count() * (0 - std::log1p(-fill));
  stats.current_fpr = std::pow(fill, scheme.hash_count());
  stats.over_capacity = fill > 0.5;
  stats.bytes = (scheme.bits() + 7) / 8;
  stats.scheme = scheme;
  return stats;
}

PhpFilter load_php_file(const std::string& path, const PhpScheme& scheme) {
  return loaded(opened(path, Os::Open::read), scheme);
}

AnyImpl php_file_filter(const std::string& path, const PhpScheme& scheme, Opening how,
                        std::span<const std::string> sources) {
  const auto filter_in = [&](File file) {
    PhpFilter filter = loaded(file, scheme);
    return std::make_unique<PhpFile>(path, std::move(file), std::move(filter));
  };
  return at_edge(path, [&]() -> AnyImpl {
    if (how == Opening::create) {
      Os& os = real_os();
      const std::string directory = directory_of(path);
      const std::vector<Os::Stat> keys = rights_of_keys(os, sources);
      File file = opened(path, Os::Open::create, mode_to_create(os, directory, keys));
      try {
        take_rights_of_keys(file, directory, keys);
        return filter_in(std::move(file));
      } catch (...) {
        (void)os.unlink(path.c_str());
        throw;
      }
    }
    auto made = filter_in(opened(path, how == Opening::read ? Os::Open::read : Os::Open::write));
    if (how == Opening::read) made->only_reads();
    return made;
  });
}

AnyImpl memory_filter(const PhpScheme& scheme) {
  return at_edge("the bits of a PHP class", [&]() -> AnyImpl {
    return std::make_unique<PhpMemory>("the bits of a PHP class in memory", PhpFilter(scheme));
  });
}

}  // namespace bloomery::detail
