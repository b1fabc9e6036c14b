// A line on the terminal that says how far the run is, how fast, and how long it will still take.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace bloomery::cli {

class Progress {
 public:
  // Shown only if `wanted`, stderr is a terminal, and no terminal shows the results too.
  Progress(bool wanted, bool prints_lines, std::optional<std::uint64_t> total_bytes);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // Draws at most a few times a second. `safe`: lines that are acknowledged.
  void update(std::uint64_t bytes, std::uint64_t lines, std::optional<std::uint64_t> safe);
  // Wipes the line.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool shown_;
  bool drawn_ = false;
  std::optional<std::uint64_t> total_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace bloomery::cli
