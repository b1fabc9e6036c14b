// Passes blocks to the thread that decides; any thread finds their lines and keys.
//
// The reader pushes blocks; they come out in the same order, with their lines found. The thread that wants
// the next block finds lines, and so do workers ahead of it. Workers are started one by one while blocks
// wait: a small input needs none. The output is the same with any number of workers.
#pragma once

#include "input/block.hpp"
#include "keys/key_finder.hpp"

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

// What is known about a block.
struct FoundLines {
  Block* block = nullptr;
  std::vector<std::size_t> ends;  // the places right after each line's end
  Keys keys;
  std::exception_ptr error;  // what ended the finding
  bool ready = false;
};

class FoundLinesQueue {
 public:
  // `threads`: how many threads find lines, at least one: the thread that calls next_for.
  FoundLinesQueue(unsigned threads, char end, const KeyRule& rule, KeysWanted wanted);
  ~FoundLinesQueue();

  void push(Block* block);
  void close();

  // The next block, in order; throws what finding threw. Null: closed and empty; or, with
  // `timed_out`, no block came in time. The result is valid until the next call.
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

  // Used by the calling thread.
  std::vector<std::unique_ptr<FoundLines>> all_;  // one more than threads: the caller holds one
  FoundLines* given_ = nullptr;
  std::vector<std::unique_ptr<KeyFinder>> finders_;  // of the caller, and of each worker
  std::vector<std::thread> workers_;
};

// How many threads can run at once: the processors that this process may use.
[[nodiscard]] unsigned usable_threads() noexcept;

}  // namespace bloomery::cli
