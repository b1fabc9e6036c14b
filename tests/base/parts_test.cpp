// Keys that several threads take in parts: each key is taken once.
#include <bloomery/detail/parts.hpp>

#include <gtest/gtest.h>
#include <sys/syscall.h>

#include "support/refused_calls.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace bloomery {
namespace {

using detail::kKeysOfAPart;

// How often each key was taken, and the largest part.
struct Taken {
  explicit Taken(std::size_t keys) : times(keys) {}
  std::vector<std::atomic<int>> times;
  std::atomic<std::size_t> largest = 0;
  std::mutex mutex;
  std::set<std::thread::id> threads;
};

std::size_t take(const void* context, std::size_t first, std::size_t count) {
  auto& taken = *static_cast<Taken*>(const_cast<void*>(context));
  for (std::size_t i = first; i < first + count; ++i) ++taken.times.at(i);
  std::size_t largest = taken.largest;
  {
    const std::lock_guard lock(taken.mutex);
    taken.threads.insert(std::this_thread::get_id());
  }
  while (count > largest && !taken.largest.compare_exchange_weak(largest, count)) {
  }
  return count;
}

TEST(SumOfParts, TakesEachKeyOnce) {
  for (const std::size_t keys : {std::size_t{0}, std::size_t{1}, kKeysOfAPart - 1, kKeysOfAPart,
                                 kKeysOfAPart + 1, 5 * kKeysOfAPart + 7})
    for (const unsigned threads : {0U, 1U, 2U, 3U, 16U}) {
      Taken taken(keys);
      EXPECT_EQ(detail::sum_of_parts(keys, threads, {&taken, take}), keys) << threads;
      EXPECT_TRUE(std::ranges::all_of(taken.times, [](const auto& times) { return times == 1; }))
          << keys << " keys, " << threads << " threads";
      EXPECT_EQ(taken.largest, std::min(keys, kKeysOfAPart));
    }
}

// A part that waits lets every other thread that there is take one too.
TEST(SumOfParts, UsesNoMoreThreadsThanItMay) {
  for (const std::size_t parts : {std::size_t{1}, std::size_t{2}, std::size_t{6}})
    for (const unsigned threads : {1U, 2U, 4U, 16U}) {
      Taken taken(parts * kKeysOfAPart);
      (void)detail::sum_of_parts(
          taken.times.size(), threads,
          {&taken, [](const void* context, std::size_t first, std::size_t count) {
             std::this_thread::sleep_for(std::chrono::milliseconds(2));
             return take(context, first, count);
           }});
      EXPECT_LE(taken.threads.size(), threads);
      if (threads == 1) {
        EXPECT_EQ(taken.threads, std::set{std::this_thread::get_id()});
      }
    }
}

// As many as the machine has cores; each waits in its part until all have one.
TEST(SumOfParts, UsesAllCoresIfNobodySaysHowMany) {
  const std::size_t cores = std::max(1U, std::thread::hardware_concurrency());
  struct Meeting {
    std::size_t wanted = 0;
    std::mutex mutex;
    std::condition_variable all;
    std::set<std::thread::id> threads;
  } meeting;
  meeting.wanted = cores;
  const auto meet = [](const void* context, std::size_t, std::size_t count) {
    auto& here = *static_cast<Meeting*>(const_cast<void*>(context));
    std::unique_lock lock(here.mutex);
    here.threads.insert(std::this_thread::get_id());
    here.all.notify_all();
    // A thread that never comes is missing below.
    here.all.wait_for(lock, std::chrono::seconds(20),
                      [&] { return here.threads.size() >= here.wanted; });
    return count;
  };
  (void)detail::sum_of_parts(cores * kKeysOfAPart, 0, {&meeting, meet});
  EXPECT_EQ(meeting.threads.size(), cores);
}

// A system that starts no thread leaves the whole work to the one that there is.
TEST(SumOfParts, NeedsNoOtherThread) {
  constexpr std::size_t kKeys = 3 * kKeysOfAPart + 5;
  const int failed = test::failed_in_child([] {
    for (const unsigned call : {SYS_clone, SYS_clone3})
      if (!test::refuse_from_now_on(call, EAGAIN)) return test::kNoFilter;
    Taken taken(kKeys);
    if (detail::sum_of_parts(kKeys, 4, {&taken, take}) != kKeys) return 1;
    if (taken.threads != std::set{std::this_thread::get_id()}) return 2;
    return std::ranges::all_of(taken.times, [](const auto& times) { return times == 1; }) ? 0 : 3;
  });
  if (failed == test::kNoFilter) GTEST_SKIP() << "no filter of system calls";
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace bloomery
