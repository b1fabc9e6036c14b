// The thread that writes blocks to the standard output, compressed or as they are, beside the reading and the
// hashing.
#pragma once

#include "compressed/codec.hpp"
#include "input/block.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace bloomery::cli {

class Writer {
 public:
  // Written blocks go to `free`.
  Writer(BlockQueue& free, std::optional<Format> compress);
  ~Writer();

  void push(Block* block);
  // Waits until everything that was pushed is written; a reader can decompress all of it. Throws the error
  // that prevented that.
  void drain();
  // Writes text that is in no block, after everything that was pushed. Throws as drain.
  void write_now(std::string_view text);
  // Like drain, at the end: even an output without lines gets its compressed form.
  void finish();
  [[nodiscard]] bool failed() const noexcept { return failed_.load(); }

 private:
  void run();
  void wait();
  void write(std::string_view text);
  void end_part();

  BlockQueue& free_;
  // Used by the thread, and by drain and write_now while the thread has nothing to do.
  std::unique_ptr<Encoder> encoder_;
  std::string compressed_;
  bool within_part_ = false, any_part_ = false;

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
