// The thread that writes blocks to the standard output, beside the reading and the hashing.
#pragma once

#include "stream/block.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>

namespace bloomery::cli {

class Writer {
 public:
  // Written blocks go to `free`.
  explicit Writer(BlockQueue& free);
  ~Writer();

  void push(Block* block);
  // Waits until all that was pushed is written. Throws what kept it from that.
  void drain();
  [[nodiscard]] bool failed() const noexcept { return failed_.load(); }

 private:
  void run();

  BlockQueue& free_;
  BlockQueue queue_;
  std::uint64_t pushed_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t written_ = 0;  // guarded by mutex_, as is error_
  std::exception_ptr error_;
  std::atomic<bool> failed_{false};
  std::thread thread_;
};

}  // namespace bloomery::cli
