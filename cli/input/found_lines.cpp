// Threads claim blocks in order, so that the first block always has the memory that its lines need.
#include "input/found_lines.hpp"

#include "input/block.hpp"

#include <sched.h>

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

namespace bloomery::cli {

FoundLinesQueue::FoundLinesQueue(unsigned threads, char end, const KeyRule& rule, KeysWanted wanted)
    : threads_(threads), end_(end), rule_(rule), wanted_(wanted) {
  for (unsigned i = 0; i < threads + 1; ++i) {
    all_.push_back(std::make_unique<FoundLines>());
    spare_.push_back(all_.back().get());
  }
  finders_.push_back(std::make_unique<KeyFinder>(rule));
}

FoundLinesQueue::~FoundLinesQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  for_workers_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void FoundLinesQueue::push(Block* block) {
  {
    const std::lock_guard lock(mutex_);
    unclaimed_.push_back(block);
  }
  for_workers_.notify_one();
  for_caller_.notify_one();
}

void FoundLinesQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  for_workers_.notify_all();
  for_caller_.notify_one();
}

// The caller holds the mutex; there is an unclaimed block, and a spare FoundLines for it.
FoundLines* FoundLinesQueue::claim() {
  FoundLines* const found = spare_.back();
  spare_.pop_back();
  found->block = unclaimed_.front();
  unclaimed_.pop_front();
  found->ready = false;
  claimed_.push_back(found);
  return found;
}

void FoundLinesQueue::find(FoundLines& found, KeyFinder& finder) const noexcept {
  try {
    const std::string_view text(found.block->data(), found.block->size);
    find_ends(text, end_, found.ends);
    finder.find(text, found.ends, wanted_, found.keys);
  } catch (...) {
    found.error = std::current_exception();
  }
}

void FoundLinesQueue::work(KeyFinder& finder) {
  std::unique_lock lock(mutex_);
  for (;;) {
    for_workers_.wait(
        lock, [this] { return stopped_ || (unclaimed_.empty() ? closed_ : !spare_.empty()); });
    if (stopped_ || unclaimed_.empty()) return;
    FoundLines* const found = claim();
    lock.unlock();
    find(*found, finder);
    lock.lock();
    found->ready = true;
    if (found == claimed_.front()) for_caller_.notify_one();
  }
}

// If the system refuses a thread, the present threads do the work.
void FoundLinesQueue::start_worker() {
  try {
    finders_.push_back(std::make_unique<KeyFinder>(rule_));
    workers_.emplace_back([this, finder = finders_.back().get()] { work(*finder); });
  } catch (const std::system_error&) {
    threads_ = 0;
  }
}

FoundLines* FoundLinesQueue::next_for(std::chrono::milliseconds patience, bool& timed_out) {
  std::unique_lock lock(mutex_);
  if (given_ != nullptr) {
    spare_.push_back(std::exchange(given_, nullptr));
    for_workers_.notify_one();
  }
  const auto has_block = [this] { return !claimed_.empty() || !unclaimed_.empty(); };
  timed_out = !for_caller_.wait_for(lock, patience, [&] { return closed_ || has_block(); });
  if (!has_block()) return nullptr;
  if (claimed_.empty()) {
    // No worker has begun with it. A worker with blocks waiting after its own needs help.
    FoundLines* const found = claim();
    const bool lags = !unclaimed_.empty() && workers_.size() + 1 < threads_;
    lock.unlock();
    if (lags) start_worker();
    find(*found, *finders_.front());
    lock.lock();
    found->ready = true;
  }
  for_caller_.wait(lock, [this] { return claimed_.front()->ready; });
  given_ = claimed_.front();
  claimed_.pop_front();
  if (given_->error) std::rethrow_exception(given_->error);
  return given_;
}

unsigned usable_threads() noexcept {
  // The set may be too large for cpu_set_t; then the number of all processors is close enough.
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0)
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
  return std::max(1U, std::thread::hardware_concurrency());
}

}  // namespace bloomery::cli
