// Memory of blocks by malloc and realloc (which moves large ones without a copy), and queues.
#include "input/block.hpp"

#include <cstdlib>
#include <limits>
#include <new>

namespace bloomery::cli {

Block::Block(std::size_t bytes) : data_(static_cast<char*>(std::malloc(bytes))), capacity_(bytes) {
  if (data_ == nullptr) throw std::bad_alloc();
}

Block::~Block() { std::free(data_); }

void Block::reset() {
  size = 0;
  bytes_read = 0;
  if (capacity_ <= 4 * kUsualBytes) return;
  if (void* const smaller = std::realloc(data_, kUsualBytes); smaller != nullptr) {
    data_ = static_cast<char*>(smaller);
    capacity_ = kUsualBytes;
  }
}

void Block::reserve(std::size_t more) {
  if (more <= capacity_ - size) return;
  if (more > std::numeric_limits<std::size_t>::max() / 4 - size) throw std::bad_alloc();
  std::size_t wanted = capacity_ + capacity_ / 2;
  if (wanted < size + more) wanted = size + more;
  void* const larger = std::realloc(data_, wanted);
  if (larger == nullptr) throw std::bad_alloc();
  data_ = static_cast<char*>(larger);
  capacity_ = wanted;
}

void BlockQueue::push(Block* block) {
  {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(block);
  }
  changed_.notify_one();
}

void BlockQueue::push_first(Block* block) {
  {
    const std::lock_guard lock(mutex_);
    blocks_.push_front(block);
  }
  changed_.notify_one();
}

Block* BlockQueue::pop() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return closed_ || !blocks_.empty(); });
  if (blocks_.empty()) return nullptr;
  Block* const block = blocks_.front();
  blocks_.pop_front();
  return block;
}

void BlockQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

}  // namespace bloomery::cli
