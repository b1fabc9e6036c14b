// Runs the cases of a contest in turn and keeps every sample.
#include "contest.hpp"

#include <time.h>

#include <algorithm>

namespace bloomery::bench {

namespace {

volatile std::uint64_t kept;

double nanoseconds(Clock clock) {
  timespec now{};
  clock_gettime(clock == Clock::wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

double nanoseconds_an_operation(const Case& entry, Clock clock) {
  if (entry.prepare) entry.prepare();
  const double start = nanoseconds(clock);
  kept = entry.run();
  return (nanoseconds(clock) - start) / static_cast<double>(entry.operations);
}

}  // namespace

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

double Timing::fastest() const { return *std::min_element(samples.begin(), samples.end()); }

std::vector<Timing> Contest::run(unsigned repetitions) const {
  std::vector<Timing> timings;
  for (const Case& entry : cases_) {
    timings.push_back({entry.name, {}});
    nanoseconds_an_operation(entry, clock_);
  }
  for (unsigned repetition = 0; repetition < repetitions; ++repetition)
    for (std::size_t i = 0; i < cases_.size(); ++i)
      timings[i].samples.push_back(nanoseconds_an_operation(cases_[i], clock_));
  return timings;
}

}  // namespace bloomery::bench
