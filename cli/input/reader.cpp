// Reading in large steps; the only copies are the few bytes of a line that a block cuts.
#include "input/reader.hpp"

#include "input/input_bytes.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <bloomery/error.hpp>

#include <algorithm>
#include <cstring>

#include "output/system.hpp"
#include "output/text.hpp"

namespace bloomery::cli {

namespace {

// A block with less room than this is full: small reads cost more than an early pass.
constexpr std::size_t kLeastRead = std::size_t{64} << 10;

// A line may take half of the machine's memory; beyond it, the input has no line ends.
std::size_t half_of_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::size_t{1} << 30;
  return static_cast<std::size_t>(pages) * static_cast<std::size_t>(page) / 2;
}

// A few kilobytes of a compressed input may expand to a line of many gigabytes.
constexpr std::size_t kLongestCompressed = std::size_t{1} << 30;

void refuse_longer(const Input& input, std::size_t size, bool compressed, char end) {
  if (size <= Block::kUsualBytes) return;
  const std::size_t half = half_of_memory();
  const bool bomb = compressed && kLongestCompressed < half;
  if (size <= (bomb ? kLongestCompressed : half)) return;
  throw Error(
      ErrorCode::too_large,
      fmt::format(
          "{}: a line is longer than {}, {}; lines end with {}: is that right for this input?",
          input.name(), bytes_text(size),
          bomb ? "the most in a compressed input" : "half of this machine's memory",
          end == '\0' ? "NUL" : "a newline (-0: NUL)"));
}

}  // namespace

Reader::Reader(const std::vector<Input>& inputs, ReadRule rule, const Interrupt& interrupt,
               BlockQueue& free, FoundLinesQueue& full)
    : inputs_(inputs),
      rule_(rule),
      interrupt_(interrupt),
      free_(free),
      full_(full),
      thread_(start_thread([this] { run(); })) {}

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
  // After an interrupt or an error the complete lines still count; a line that was cut does not.
  if (block_ != nullptr && whole_ > 0) {
    block_->size = whole_;
    full_.push(block_);
  }
  full_.close();
}

// False: stop.
bool Reader::read_all(const Input& input) {
  InputBytes bytes(input, rule_.raw, interrupt_);
  while (fill(bytes, input)) {
  }
  if (block_ == nullptr || interrupt_.requested()) return false;
  end_last_line();
  return true;
}

// Reads once; passes the block on if that is due. False: the end of the input, or a stop.
bool Reader::fill(InputBytes& bytes, const Input& input) {
  if (whole_ > 0 && block_->size + kLeastRead > Block::kUsualBytes && !pass_on()) return false;
  refuse_longer(input, block_->size, bytes.compressed(), rule_.end);
  try {
    block_->reserve(kLeastRead);
  } catch (const std::bad_alloc&) {
    throw Error(
        ErrorCode::no_memory,
        fmt::format("{}: no memory for a line of more than {}; lines end with {}", input.name(),
                    bytes_text(block_->size), rule_.end == '\0' ? "NUL" : "a newline (-0: NUL)"));
  }
  const std::size_t room = std::min(block_->capacity() - block_->size, Block::kUsualBytes);
  const std::uint64_t before = bytes.bytes_read();
  const auto got = bytes.read({block_->data() + block_->size, room}, whole_ == 0);
  block_->bytes_read += bytes.bytes_read() - before;
  if (!got) return !interrupt_.requested() && pass_on();
  if (*got == 0) return false;
  const char* const begin = block_->data() + block_->size;
  block_->size += *got;
  if (const void* const last = ::memrchr(begin, rule_.end, *got))
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
  full_.push(block_);
  block_ = next;
  whole_ = 0;
  return true;
}

void Reader::end_last_line() {
  if (block_->size == whole_) return;
  block_->reserve(1);
  block_->data()[block_->size++] = rule_.end;
  whole_ = block_->size;
}

}  // namespace bloomery::cli
