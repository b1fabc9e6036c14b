// The C++ library asks the C library for the time, and the program's own function comes before the C library's.
#include "redis/moved_clock.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

namespace bloomery::test {
namespace {
std::atomic<time_t> moved{0};
}  // namespace

MovedClock::~MovedClock() { move(-by_); }

void MovedClock::move(std::chrono::seconds by) noexcept {
  by_ += by;
  moved += static_cast<time_t>(by.count());
}

}  // namespace bloomery::test

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const int result = static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
  if (clock == CLOCK_MONOTONIC) now->tv_sec += bloomery::test::moved;
  return result;
}
