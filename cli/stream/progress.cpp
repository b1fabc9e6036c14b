// Draws the progress line; prints nothing if stderr is not a terminal.
#include "stream/progress.hpp"

#include "output/output.hpp"
#include "output/text.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <string>

namespace bloomery::cli {

namespace {

constexpr std::chrono::milliseconds kPause{200};

std::size_t terminal_width() noexcept {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string bar(double share) {
  constexpr std::size_t kWidth = 24;
  const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * kWidth);
  return fmt::format("[{}{}]", std::string(full, '#'), std::string(kWidth - full, '.'));
}

}  // namespace

Progress::Progress(bool wanted, bool prints_lines, std::optional<std::uint64_t> total_bytes)
    : shown_(wanted && ::isatty(STDERR_FILENO) != 0 &&
             !(prints_lines && ::isatty(STDOUT_FILENO) != 0)),
      total_(total_bytes) {}

Progress::~Progress() { clear(); }

void Progress::update(std::uint64_t bytes, std::uint64_t lines, std::optional<std::uint64_t> safe) {
  if (!shown_) return;
  const auto now = Clock::now();
  if (now - last_ < kPause) return;
  last_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double done = static_cast<double>(bytes);
  const double speed = done / seconds;
  // What matters most comes first: a narrow terminal cuts the end.
  std::string text;
  if (total_ && *total_ > 0) {
    const double total = static_cast<double>(*total_);
    text =
        fmt::format("{} {:3.0f} %  {} left  ", bar(done / total), std::min(1.0, done / total) * 100,
                    duration_text(std::max(0.0, total - done) / speed));
  }
  if (safe) text += fmt::format("{} lines safe  ", group_digits(*safe));
  text += fmt::format("{}  {} lines  {}  {}/s", speed_text(static_cast<double>(lines) / seconds),
                      group_digits(lines), bytes_text(done), bytes_text(speed));
  text.resize(std::min(text.size(), terminal_width() - 1));
  say("\r\033[K" + text);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  say("\r\033[K");
  drawn_ = false;
}

}  // namespace bloomery::cli
