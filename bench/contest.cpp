// Runs the cases of a contest in turn and keeps every sample.
#include "contest.hpp"

#include <algorithm>

namespace bloomery::bench {

namespace {

volatile std::uint64_t kept;

double nanoseconds_an_operation(const Case& entry, Clock clock) {
  if (entry.prepare) entry.prepare();
  const clockid_t id = clock == Clock::wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID;
  const double start = seconds(id);
  kept = entry.run();
  return 1e9 * (seconds(id) - start) / static_cast<double>(entry.operations);
}

}  // namespace

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  return samples.size() % 2 == 1 ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
}

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
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
