// Reading in large steps; the only copies are the few bytes of a line that a block cuts.
#include "stream/reader.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <bloomery/error.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "output/text.hpp"

namespace bloomery::cli {

namespace {

// A block with less room than this is full: small reads cost more than an early pass.
constexpr std::size_t kLeastRead = std::size_t{64} << 10;

// A line may take half of the machine's memory; beyond it, the input has no line ends.
std::size_t longest_line() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::size_t{1} << 30;
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) / 2;
}

bool is_regular(int fd) {
  struct stat status {};
  return ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace

Reader::Reader(const std::vector<Input>& inputs, char end, const Interrupt& interrupt,
               BlockQueue& free, BlockQueue& full)
    : inputs_(inputs), end_(end), interrupt_(interrupt), free_(free), full_(full), thread_([this] {
        run();
      }) {}

Reader::~Reader() { thread_.join(); }

void Reader::rethrow() {
  if (error_) std::rethrow_exception(error_);
}

void Reader::run() {
  try {
    block_ = free_.pop();
    bool more = block_ != nullptr;
    for (auto input = inputs_.begin(); more && input != inputs_.end(); ++input)
      more = read_all(*input);
  } catch (...) {
    error_ = std::current_exception();
  }
  // After an interrupt or a fault the lines that came whole still count; a cut one does not.
  if (block_ != nullptr && whole_ > 0) {
    block_->size = whole_;
    block_->bytes_read = whole_;
    full_.push(block_);
  }
  full_.close();
}

// False: stop.
bool Reader::read_all(const Input& input) {
  const FileDescriptor fd = open_input(input);
  const bool regular = is_regular(fd.get());
  while (fill(fd.get(), input, regular)) {
  }
  if (block_ == nullptr || interrupt_.requested()) return false;
  end_last_line();
  return true;
}

// Reads once; passes the block on if that is due. False: the end of the input, or a stop.
bool Reader::fill(int fd, const Input& input, bool regular) {
  if (whole_ > 0 && block_->size + kLeastRead > Block::kUsualBytes && !pass_on()) return false;
  if (block_->size > longest_line())
    throw Error(ErrorCode::too_large,
                fmt::format("{}: a line is longer than {}, half of this machine's memory; lines "
                            "end with {}, is that so here?",
                            input.name(), bytes_text(static_cast<double>(block_->size)),
                            end_ == '\0' ? "NUL" : "a newline (-0: NUL)"));
  try {
    block_->reserve(kLeastRead);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::no_memory,
                fmt::format("{}: no memory for a line of more than {}; lines end with {}",
                            input.name(), bytes_text(static_cast<double>(block_->size)),
                            end_ == '\0' ? "NUL" : "a newline (-0: NUL)"));
  }
  if (interrupt_.requested()) return false;
  if (!regular) {
    pollfd waits[] = {{fd, POLLIN, 0}, {interrupt_.fd(), POLLIN, 0}};
    const int ready = ::poll(waits, 2, whole_ > 0 ? 0 : -1);
    if (ready == 0) return pass_on();
    if (interrupt_.requested()) return false;
  }
  const std::size_t room = std::min(block_->capacity() - block_->size, Block::kUsualBytes);
  const ssize_t got = ::read(fd, block_->data() + block_->size, room);
  if (got < 0) {
    if (errno == EINTR || errno == EAGAIN) return true;
    throw_system(fmt::format("cannot read {}", input.name()), errno);
  }
  if (got == 0) return false;
  const char* const begin = block_->data() + block_->size;
  block_->size += static_cast<std::size_t>(got);
  if (const void* const last = ::memrchr(begin, end_, static_cast<std::size_t>(got)))
    whole_ = static_cast<std::size_t>(static_cast<const char*>(last) - block_->data()) + 1;
  return true;
}

// Gives the whole lines away and goes on with the rest in another block. False: a stop.
bool Reader::pass_on() {
  Block* const next = free_.pop();
  if (next == nullptr) {
    block_ = nullptr;
    return false;
  }
  next->reset();
  const std::size_t rest = block_->size - whole_;
  next->reserve(rest);
  std::memcpy(next->data(), block_->data() + whole_, rest);
  next->size = rest;
  block_->size = whole_;
  block_->bytes_read = whole_;
  full_.push(block_);
  block_ = next;
  whole_ = 0;
  return true;
}

void Reader::end_last_line() {
  if (block_->size == whole_) return;
  block_->reserve(1);
  block_->data()[block_->size++] = end_;
  whole_ = block_->size;
}

}  // namespace bloomery::cli
