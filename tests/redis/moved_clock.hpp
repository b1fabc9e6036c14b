// A clock that runs ahead, for what is done every minute.
#pragma once

#include <chrono>

namespace bloomery::test {

// Moves std::chrono::steady_clock of this process on, and back at its end.
class MovedClock {
 public:
  MovedClock() = default;
  MovedClock(const MovedClock&) = delete;
  MovedClock& operator=(const MovedClock&) = delete;
  ~MovedClock();
  void move(std::chrono::seconds by) noexcept;

 private:
  std::chrono::seconds by_{0};
};

}  // namespace bloomery::test
