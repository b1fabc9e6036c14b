// The line that a person sees on a terminal while lines are read.
#include "tool.hpp"

#include <fcntl.h>

#include <sys/ioctl.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace bloomery::test {
namespace {

class Progress : public ToolTest {};

// A terminal of the test's own, whose other side can be read.
class Terminal {
 public:
  explicit Terminal(unsigned short columns = 80) : fd_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    if (fd_ < 0 || ::grantpt(fd_) != 0 || ::unlockpt(fd_) != 0) throw std::runtime_error("no pty");
    // Held open, so that the screen is not lost with the tool's end.
    held_ = ::open(name().c_str(), O_RDWR | O_NOCTTY);
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(held_, TIOCSWINSZ, &size);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    ::close(held_);
    ::close(fd_);
  }
  [[nodiscard]] std::string name() const { return ::ptsname(fd_); }
  // All that was written since the last call. The kernel hands it over in order, but some time after the
  // write returns, so what this writes last says that everything has come.
  [[nodiscard]] std::string screen() const {
    constexpr std::string_view kEnd = "\1end\1";
    if (::write(held_, kEnd.data(), kEnd.size()) != static_cast<ssize_t>(kEnd.size()))
      throw std::runtime_error("cannot write to the pty");
    std::string text;
    for (;;) {
      std::array<char, 4096> part;
      const ssize_t got = ::read(fd_, part.data(), part.size());
      if (got <= 0) throw std::runtime_error("cannot read from the pty");
      text.append(part.data(), static_cast<std::size_t>(got));
      if (const std::size_t end = text.find(kEnd); end != std::string::npos)
        return text.erase(end, kEnd.size());
    }
  }

 private:
  int fd_;
  int held_;
};

// A line at a time, until the tool has drawn some of them or there are enough.
struct Fed {
  std::string screen;
  int lines = 0;
  int code = 0;
};
Fed feed(const Arguments& arguments, int most_lines) {
  // Which of the lines it saw when it drew is the scheduler's choice.
  static const std::regex drawn(R"( lines/s  \d+ lines  \d+ B)");
  const Terminal terminal;
  Running tool(arguments, {.err = terminal.name()});
  Fed fed;
  while (fed.lines < most_lines && !std::regex_search(fed.screen, drawn)) {
    tool.write(std::to_string(fed.lines++) + "\n");
    (void)tool.read(fed.lines <= 10 ? 2 : fed.lines <= 100 ? 3 : 4);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    fed.screen += terminal.screen();
  }
  fed.code = tool.finish().code;
  fed.screen += terminal.screen();
  return fed;
}

TEST_F(Progress, ATerminalShowsProgress) {
  const std::string wipe = "\r\033[K";
  const Fed shown = feed({"dedup"}, 600);
  EXPECT_LT(shown.lines, 600) << shown.screen;
  EXPECT_EQ(shown.code, 0);
  // The statistics stand on a wiped line.
  EXPECT_TRUE(says(shown.screen, wipe + "bloomery: " + std::to_string(shown.lines) + " lines"));
  EXPECT_FALSE(says(feed({"dedup", "--no-progress"}, 7).screen, "\033"));
  EXPECT_EQ(feed({"dedup", "-q"}, 7).screen, "");
}

TEST_F(Progress, EightyColumnsShowTheTimeLeft) {
  // More than the tool holds in flight, so that it cannot be done before its output is read.
  std::string text;
  for (int i = 0; i < 64'000; ++i) text += std::string(990, 'x') + std::to_string(i) + "\n";
  const Terminal terminal;
  Running tool({"dedup", "-n", "1M", file("in", text)}, {.err = terminal.name()});
  (void)tool.read(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  EXPECT_EQ(tool.finish().code, 0);
  const std::string screen = terminal.screen();
  EXPECT_TRUE(says(screen, " s left  "));
  EXPECT_TRUE(says(screen, " lines/s  "));
  // No line is longer than the terminal is wide, and none wraps.
  std::istringstream drawn(screen);
  for (std::string line; std::getline(drawn, line, '\r');) {
    if (line.starts_with("\033[K[")) {
      EXPECT_EQ(line.size(), 3U + 79U) << line;
    }
  }
}

// The numbers of one line agree: the bar, the share, what is left and the speeds are those of what is done.
TEST_F(Progress, AWideTerminalShowsNumbersThatAgree) {
  std::string text;
  for (int i = 0; i < 64'000; ++i) text += std::string(990, 'x') + std::to_string(i) + "\n";
  const double total = static_cast<double>(text.size());
  const Terminal terminal(200);
  Running tool({"dedup", "-n", "1M", file("in", text)}, {.err = terminal.name()});
  (void)tool.read(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  EXPECT_EQ(tool.finish().code, 0);
  const std::string screen = terminal.screen();
  const std::regex form(
      R"(\[(#*)\.*\] +(\d+) %  ([\d.]+) s left  ([\d.,]+) (M )?lines/s  ([\d,]+) lines  ([\d.]+) MiB  ([\d.]+) MiB/s)");
  std::smatch found;
  // The first line: the tool cannot be done, for nobody has read.
  ASSERT_TRUE(std::regex_search(screen, found, form)) << screen;
  const auto number = [&](std::size_t group) {
    std::string digits = found[group];
    digits.erase(std::remove(digits.begin(), digits.end(), ','), digits.end());
    return std::stod(digits);
  };
  const double lines = number(6), done = lines * total / 64'000;
  const double mib = done / 1024 / 1024, left = total / 1024 / 1024 - mib;
  const double speed = number(8);
  EXPECT_LT(done, total);
  EXPECT_GT(done, 0);
  // As they are rounded: to 0.1 MiB, a percent, 0.01 s, and 1/24 of the bar; lines differ in length by 4 of 995.
  EXPECT_NEAR(number(7), mib, 0.05 + 0.005 * mib);
  EXPECT_NEAR(number(2), 100 * done / total, 1);
  EXPECT_NEAR(static_cast<double>(found[1].length()), std::floor(24 * done / total), 1);
  EXPECT_NEAR(number(3), left / speed, 0.01 + 0.02 * left / speed + (left / speed < 10 ? 0 : 0.5));
  const double per_second = lines / (mib / speed);
  EXPECT_NEAR(number(4) * (found[5].matched ? 1e6 : 1), per_second, 0.03 * per_second);
}

}  // namespace
}  // namespace bloomery::test
