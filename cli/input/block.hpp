// A piece of the input that holds whole lines, and the queues that carry it between threads.
//
// A block goes round: free -> (reader fills) -> full -> (lines are found, then decided; those that
// stay move together in place) -> done -> (writer writes) -> free. No line is copied elsewhere,
// and there is no allocation in the round unless a line is longer than a block.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string_view>
#include <vector>

namespace bloomery::cli {

class Block {
 public:
  static constexpr std::size_t kUsualBytes = std::size_t{512} << 10;

  explicit Block(std::size_t bytes = kUsualBytes);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();

  // Empty again, and of the usual size if a long line made it much larger.
  void reset();
  // Makes room for `more` bytes after the present ones. std::bad_alloc.
  void reserve(std::size_t more);

  [[nodiscard]] char* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  // Invariant of a full block: size bytes, ending with a line's end, unless size is 0.
  std::size_t size = 0;
  std::uint64_t bytes_read = 0;  // of the inputs since the block before, for the progress

 private:
  char* data_;
  std::size_t capacity_;
};

// ---- its lines (lines.cpp) ------------------------------------------------------------------------

// Replaces `ends` by the places right after every `end` in `text`.
void find_ends(std::string_view text, char end, std::vector<std::size_t>& ends);

// Moves the lines whose answer is `wanted` together at the front, in order, and returns
// their bytes. Lines that stand side by side move as one. The first of the lines begins at `begin`.
[[nodiscard]] std::size_t keep_lines(char* text, std::size_t begin,
                                     std::span<const std::size_t> ends,
                                     std::span<const bool> answers, bool wanted) noexcept;

// Passes blocks in order from one thread to another; close() ends the queue after the blocks in it.
class BlockQueue {
 public:
  void push(Block* block);
  // Adds a block in front of the others: the block used last is still in the processor's cache.
  void push_first(Block* block);
  // Null: closed and empty.
  Block* pop();
  void close();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block*> blocks_;
  bool closed_ = false;
};

}  // namespace bloomery::cli
