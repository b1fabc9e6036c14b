// Writing block after block; after a failure blocks still go round, unwritten.
#include "stream/writer.hpp"

#include "output/output.hpp"
#include "output/system.hpp"

namespace bloomery::cli {

Writer::Writer(BlockQueue& free, std::optional<Format> compress)
    : free_(free),
      encoder_(compress ? make_encoder(*compress) : nullptr),
      thread_(start_thread([this] { run(); })) {}

Writer::~Writer() {
  queue_.close();
  thread_.join();
}

void Writer::push(Block* block) {
  ++pushed_;
  queue_.push(block);
}

void Writer::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return written_ == pushed_; });
  if (error_) std::rethrow_exception(error_);
}

void Writer::drain() {
  wait();
  if (within_part_) end_part();
}

void Writer::write_now(std::string_view text) {
  wait();
  if (!text.empty()) write(text);
}

void Writer::finish() {
  drain();
  if (encoder_ && !any_part_) end_part();
}

void Writer::end_part() {
  compressed_.clear();
  encoder_->end(compressed_);
  print_result(compressed_);
  within_part_ = false;
  any_part_ = true;
}

void Writer::write(std::string_view text) {
  if (!encoder_) {
    print_result(text);
    return;
  }
  compressed_.clear();
  encoder_->add(text, compressed_);
  within_part_ = true;
  print_result(compressed_);
}

void Writer::run() {
  while (Block* const block = queue_.pop()) {
    std::exception_ptr error;
    if (!failed_.load()) {
      try {
        write({block->data(), block->size});
      } catch (...) {
        error = std::current_exception();
        failed_.store(true);
      }
    }
    free_.push_first(block);
    {
      const std::lock_guard lock(mutex_);
      ++written_;
      if (error) error_ = error;
    }
    changed_.notify_one();
  }
}

}  // namespace bloomery::cli
