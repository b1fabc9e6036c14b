// SIGHUP, SIGINT and SIGTERM as a request to stop reading; the second one kills the tool, as by default.
#pragma once

namespace bloomery::cli {

// Catches the signals while it lives (those that were not ignored). One that is made while another lives
// joins it: a verb that writes has one from its first system call to its last, so that no signal ends it
// between them, and its stream has another.
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
  // Whether that is longer ago than a person waits for lines that were read before it.
  [[nodiscard]] bool is_overdue() const noexcept;
  // Asks for a stop from inside the tool: enough was read.
  void request() noexcept;
};

}  // namespace bloomery::cli
