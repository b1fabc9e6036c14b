// Reading, looking at the first bytes, and decompressing.
#include "input/input_bytes.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace bloomery::cli {

namespace {

constexpr std::size_t kCompressedBytes = std::size_t{256} << 10;

bool is_regular(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

InputBytes::InputBytes(const Input& input, bool raw, const Interrupt& interrupt)
    : input_(input),
      interrupt_(interrupt),
      fd_(open_input(input)),
      regular_(is_regular(fd_.get())),
      sniffed_(raw) {}

std::optional<std::size_t> InputBytes::read(std::span<char> room, bool wait) {
  if (!sniffed_) return read_start(room, wait);
  return decompressor_ ? read_compressed(room, wait) : read_plain(room, wait);
}

std::optional<std::size_t> InputBytes::read_plain(std::span<char> room, bool wait) {
  for (;;) {
    if (interrupt_.requested()) return std::nullopt;
    if (!regular_) {
      pollfd waits[] = {{fd_.get(), POLLIN, 0}, {interrupt_.fd(), POLLIN, 0}};
      const int ready = ::poll(waits, 2, wait ? -1 : 0);
      if (ready == 0 || interrupt_.requested()) return std::nullopt;
    }
    const ssize_t got = ::read(fd_.get(), room.data(), room.size());
    if (got >= 0) {
      bytes_read_ += static_cast<std::size_t>(got);
      return static_cast<std::size_t>(got);
    }
    if (errno != EINTR && errno != EAGAIN)
      throw_system(fmt::format("cannot read {}", input_.name()), errno);
  }
}

// A pipe may give the first bytes one by one.
std::optional<std::size_t> InputBytes::read_start(std::span<char> room, bool wait) {
  for (;;) {
    std::copy(start_.begin(), start_.end(), room.begin());
    const auto got = read_plain(room.subspan(start_.size()), wait);
    if (!got) return got;
    const std::string_view read(room.data(), start_.size() + *got);
    const Sniffed sniffed = sniff(read);
    sniffed_ = sniffed.decided || *got == 0;
    if (!sniffed_) {
      start_ = read;
      continue;
    }
    if (sniffed.filter) refuse_filter(input_);
    if (!sniffed.format) return read.size();
    decompressor_.emplace(*sniffed.format, input_.name());
    compressed_.resize(std::max(kCompressedBytes, read.size()));
    std::copy(read.begin(), read.end(), compressed_.begin());
    left_ = {compressed_.data(), read.size()};
    return read_compressed(room, wait);
  }
}

std::optional<std::size_t> InputBytes::read_compressed(std::span<char> room, bool wait) {
  for (;;) {
    // A piece of a few kilobytes may take minutes to decompress.
    if (interrupt_.requested()) return std::nullopt;
    if (!left_.empty() || !decompressor_->drained() || at_end_) {
      const std::size_t made = decompressor_->decode(left_, room, at_end_);
      if (made > 0 || (at_end_ && left_.empty())) return made;
      continue;
    }
    const auto got = read_plain(compressed_, wait);
    if (!got) return got;
    at_end_ = *got == 0;
    left_ = {compressed_.data(), *got};
  }
}

}  // namespace bloomery::cli
