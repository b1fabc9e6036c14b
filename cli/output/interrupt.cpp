// A signal handler that records the signal and wakes the reader; a second signal has its default effect.
#include "output/interrupt.hpp"

#include "output/system.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>

namespace bloomery::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{2};

std::atomic<int> caught{0};
std::atomic<Clock::rep> when{0};  // it came
std::atomic<bool> asked{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free &&
              std::atomic<Clock::rep>::is_always_lock_free);
std::array<int, 2> wake{-1, -1};
int living = 0;  // only the main thread makes and ends them
constexpr std::array<int, 3> kSignals = {SIGHUP, SIGINT, SIGTERM};

void note() noexcept {
  asked.store(true);
  const char byte = 0;
  // A full pipe wakes as well, so the result does not matter.
  [[maybe_unused]] const ssize_t written = ::write(wake[1], &byte, 1);
}

extern "C" void on_signal(int number) {
  const int saved = errno;
  if (caught.load() == 0) when.store(Clock::now().time_since_epoch().count());
  if (caught.exchange(number) != 0) {
    // It takes effect when this handler returns.
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  note();
  errno = saved;
}

}  // namespace

Interrupt::Interrupt() {
  if (living > 0) {
    ++living;
    return;
  }
  if (::pipe2(wake.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw_system("cannot make a pipe", errno);
  caught.store(0);
  asked.store(false);
  for (const int number : kSignals) {
    struct sigaction old {};
    if (::sigaction(number, nullptr, &old) != 0 || old.sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(number, &action, nullptr);
  }
  living = 1;
}

Interrupt::~Interrupt() {
  if (--living > 0) return;
  for (const int number : kSignals) {
    struct sigaction old {};
    if (::sigaction(number, nullptr, &old) == 0 && old.sa_handler == on_signal)
      std::signal(number, SIG_DFL);
  }
  for (int& end : wake) {
    ::close(end);
    end = -1;
  }
}

int Interrupt::fd() const noexcept { return wake[0]; }
bool Interrupt::requested() const noexcept { return asked.load(); }
int Interrupt::signal() const noexcept { return caught.load(); }
bool Interrupt::is_overdue() const noexcept {
  return signal() != 0 &&
         Clock::now() - Clock::time_point(Clock::duration(when.load())) > kPatience;
}
void Interrupt::request() noexcept { note(); }

}  // namespace bloomery::cli
