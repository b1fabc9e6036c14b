// Writing block after block; after a failure blocks still go round, unwritten.
#include "stream/writer.hpp"

#include "output/system.hpp"

#include <unistd.h>

namespace bloomery::cli {

Writer::Writer(BlockQueue& free) : free_(free), thread_([this] { run(); }) {}

Writer::~Writer() {
  queue_.close();
  thread_.join();
}

void Writer::push(Block* block) {
  ++pushed_;
  queue_.push(block);
}

void Writer::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return written_ == pushed_; });
  if (error_) std::rethrow_exception(error_);
}

void Writer::run() {
  while (Block* const block = queue_.pop()) {
    std::exception_ptr error;
    if (!failed_.load()) {
      try {
        write_all(STDOUT_FILENO, {block->data(), block->size}, "cannot write to standard output");
      } catch (...) {
        error = std::current_exception();
        failed_.store(true);
      }
    }
    free_.push(block);
    {
      const std::lock_guard lock(mutex_);
      ++written_;
      if (error) error_ = error;
    }
    changed_.notify_one();
  }
}

}  // namespace bloomery::cli
