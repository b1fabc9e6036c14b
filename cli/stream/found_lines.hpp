// Blocks on their way to the one that decides, with their lines and keys found by any thread.
//
// The reader pushes blocks; they come out in the same order, found. Finding is done by the thread that wants
// the next block, and by others that go ahead of it. These are started one by one, as blocks are waiting: a
// small input needs none. What comes out is the same with any number of them.
#pragma once

#include "keys/key_finder.hpp"
#include "stream/block.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace bloomery::cli {

// What is known of a block.
struct FoundLines {
  Block* block = nullptr;
  std::vector<std::size_t> ends;  // just behind each line's end
  Keys keys;
  std::exception_ptr error;  // finding ended with it
  bool ready = false;
};

class FoundLinesQueue {
 public:
  // `threads` find, at least one: the thread that calls next_for.
  FoundLinesQueue(unsigned threads, char end, const KeyRule& rule, KeysWanted wanted);
  ~FoundLinesQueue();

  void push(Block* block);
  void close();

  // The next block, in order; what finding threw is thrown here. Null: closed and empty; or, with
  // `timed_out`, none came for so long. The result is good until the next call.
  FoundLines* next_for(std::chrono::milliseconds patience, bool& timed_out);

 private:
  FoundLines* claim();
  void find(FoundLines& found, KeyFinder& finder) const noexcept;
  void work(KeyFinder& finder);
  void start_worker();

  unsigned threads_;
  const char end_;
  const KeyRule rule_;
  const KeysWanted wanted_;

  std::mutex mutex_;
  std::condition_variable for_workers_;  // a block, a place for its lines, or the end
  std::condition_variable for_caller_;   // a block, the lines of the next one, or the end
  std::deque<Block*> unclaimed_;
  std::deque<FoundLines*> claimed_;  // in the order of their blocks, which are before those above
  std::vector<FoundLines*> spare_;
  bool closed_ = false;
  bool stopped_ = false;

  // Of the thread that calls.
  std::vector<std::unique_ptr<FoundLines>> all_;  // one more than threads: the one that is given
  FoundLines* given_ = nullptr;
  std::vector<std::unique_ptr<KeyFinder>> finders_;  // of the caller, and of each worker
  std::vector<std::thread> workers_;
};

// How many threads can run at once: the processors that this process may use.
[[nodiscard]] unsigned usable_threads() noexcept;

}  // namespace bloomery::cli
