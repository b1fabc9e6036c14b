// Requests at a fixed pace, whether earlier ones are answered or not, and how long they took.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <thread>
#include <vector>

class Latencies {
 public:
  void add(std::chrono::duration<double> took) { seconds_.push_back(took.count()); }
  void add(const Latencies& others) {
    seconds_.insert(seconds_.end(), others.seconds_.begin(), others.seconds_.end());
  }
  // In milliseconds; `share` 0.99: 99 of 100 took no longer.
  [[nodiscard]] double percentile(double share) {
    if (seconds_.empty()) return 0;
    std::ranges::sort(seconds_);
    const auto last = static_cast<double>(seconds_.size() - 1);
    return seconds_[static_cast<std::size_t>(share * last)] * 1e3;
  }
  [[nodiscard]] std::size_t count() const { return seconds_.size(); }

 private:
  std::vector<double> seconds_;
};

// Calls `request` at this rate until `end`, first after `phase` of a step. The waiting time of a request
// counts from the time at which it was due.
template <class Request>
Latencies at_a_pace(double a_second, double phase, std::chrono::steady_clock::time_point end,
                    Request request) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](double count) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
  };
  const auto step = seconds(1 / a_second);
  Latencies latencies;
  for (auto due = Clock::now() + seconds(phase / a_second); due < end && Clock::now() < end;
       due += step) {
    std::this_thread::sleep_until(due);
    request();
    latencies.add(Clock::now() - due);
  }
  return latencies;
}
