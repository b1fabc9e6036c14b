// The handlers of SIGHUP, SIGINT and SIGTERM: in their places while an Interrupt lives, and gone afterwards.
#include "output/interrupt.hpp"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <csignal>
#include <cstddef>

namespace bloomery::cli {
namespace {

constexpr std::array<int, 3> kSignals = {SIGHUP, SIGINT, SIGTERM};
using Handler = void (*)(int);

Handler handler_of(int number) {
  struct sigaction action {};
  ::sigaction(number, nullptr, &action);
  return action.sa_handler;
}

extern "C" void of_somebody_else(int) {}

bool is_readable(int fd) {
  pollfd waits{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&waits, 1, 0) == 1;
}

class Interrupts : public testing::Test {
 protected:
  void SetUp() override {
    for (std::size_t i = 0; i < kSignals.size(); ++i)
      before_[i] = std::signal(kSignals[i], SIG_DFL);
  }
  void TearDown() override {
    for (std::size_t i = 0; i < kSignals.size(); ++i) std::signal(kSignals[i], before_[i]);
  }

 private:
  std::array<Handler, kSignals.size()> before_{};
};

TEST_F(Interrupts, CatchTheSignalsWhileOneLives) {
  for (const int number : kSignals) {
    {
      const Interrupt first;
      {
        const Interrupt second;
        EXPECT_EQ(second.fd(), first.fd());
      }
      for (const int each : kSignals) EXPECT_NE(handler_of(each), SIG_DFL);
      EXPECT_FALSE(first.requested());
      EXPECT_EQ(first.signal(), 0);
      EXPECT_FALSE(is_readable(first.fd()));
      std::raise(number);
      EXPECT_TRUE(first.requested());
      EXPECT_EQ(first.signal(), number);
      EXPECT_TRUE(is_readable(first.fd()));
    }
    for (const int each : kSignals) EXPECT_EQ(handler_of(each), SIG_DFL);
  }
}

TEST_F(Interrupts, MayBeAskedForWithoutASignal) {
  Interrupt interrupt;
  interrupt.request();
  EXPECT_TRUE(interrupt.requested());
  EXPECT_EQ(interrupt.signal(), 0);
  EXPECT_TRUE(is_readable(interrupt.fd()));
}

// nohup ignores SIGHUP. A handler that somebody else puts there meanwhile is not ours to take away.
TEST_F(Interrupts, LeaveTheHandlersOfOthers) {
  std::signal(SIGHUP, SIG_IGN);
  {
    const Interrupt interrupt;
    EXPECT_EQ(handler_of(SIGHUP), SIG_IGN);
    EXPECT_NE(handler_of(SIGINT), SIG_DFL);
    std::signal(SIGTERM, of_somebody_else);
  }
  EXPECT_EQ(handler_of(SIGHUP), SIG_IGN);
  EXPECT_EQ(handler_of(SIGINT), SIG_DFL);
  EXPECT_EQ(handler_of(SIGTERM), of_somebody_else);
}

}  // namespace
}  // namespace bloomery::cli
