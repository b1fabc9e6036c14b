// A contest: several ways to do the same thing, timed in turn in one process, so that ratios are fair.
//
// Each repetition runs every case once, one after the other, so a noisy neighbour or a change of clock
// affects all of them. A first round warms up and is not counted. The result is the median over the
// repetitions.
#pragma once

#include <time.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bloomery::bench {

struct Case {
  std::string name;
  std::uint64_t operations = 1;             // the time is divided by this
  std::function<std::uint64_t()> run;       // timed; its result is hidden from the optimizer
  std::function<void()> prepare = nullptr;  // before each run, not timed
};

double median(std::vector<double> samples);
double seconds(clockid_t clock);  // that it shows now

struct Timing {
  std::string name;
  std::vector<double> samples;  // nanoseconds per operation
  [[nodiscard]] double median() const { return bench::median(samples); }
  [[nodiscard]] double fastest() const;
};

// Wall time, or the processor time of this thread. For one thread that waits only for memory both are
// the same, and a busy machine disturbs the processor time less.
enum class Clock : std::uint8_t { wall, processor };

class Contest {
 public:
  explicit Contest(Clock clock = Clock::wall) : clock_(clock) {}
  void add(Case entry) { cases_.push_back(std::move(entry)); }
  // Timings in the order of the cases.
  [[nodiscard]] std::vector<Timing> run(unsigned repetitions) const;

 private:
  Clock clock_;
  std::vector<Case> cases_;
};

}  // namespace bloomery::bench
