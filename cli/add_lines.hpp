// Lines on their way into a filter file, or out of it.
//
// Gathers the hashes of many blocks, so that one wait for the disk serves them all.
#pragma once

#include "stream.hpp"

#include <bloomery/filter_file.hpp>

#include <chrono>
#include <vector>

namespace bloomery::cli {

class AddLines : public HashSink {
 public:
  enum class Direction : std::uint8_t { in, out };
  explicit AddLines(FilterFile& file, Direction direction = Direction::in)
      : file_(file), direction_(direction) {}
  [[nodiscard]] const Hasher& hasher() const noexcept override { return file_.hasher(); }
  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override;
  void settle(const std::function<void()>& drain) override;
  void finish(const std::function<void()>& drain) override;

  // Lines that changed the filter: they were certainly new, or were removed.
  [[nodiscard]] std::uint64_t fresh() const noexcept { return fresh_; }

 private:
  using Clock = std::chrono::steady_clock;
  void apply();

  FilterFile& file_;
  Direction direction_;
  std::vector<Hash128> pending_;
  Clock::time_point last_ = Clock::now();
  std::uint64_t fresh_ = 0;
};

}  // namespace bloomery::cli
