// SIGINT and SIGTERM as a request to stop reading; the second one kills, as without us.
#pragma once

namespace bloomery::cli {

// Catches the two signals while it lives (those that were not ignored), and a broken pipe
// becomes an error of write. One at a time in a process.
class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();

  // Readable once a stop is asked for.
  [[nodiscard]] int fd() const noexcept;
  [[nodiscard]] bool requested() const noexcept;
  // The signal that asked for it, or 0.
  [[nodiscard]] int signal() const noexcept;
  // Asks from inside: enough was read.
  void request() noexcept;
};

}  // namespace bloomery::cli
