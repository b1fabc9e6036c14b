// Lines on their way into a key filter, out of it, or past it.
#pragma once

#include "batch.hpp"
#include "key_filter.hpp"
#include "stream.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bloomery::cli {

// Every block of lines goes in, or out, at once.
class AddKeys : public LineSink {
 public:
  enum class Direction : std::uint8_t { in, out };
  explicit AddKeys(KeyFilter& filter, Direction direction = Direction::in)
      : filter_(filter), direction_(direction) {}
  // Error: names how many lines are done for certain.
  void decide_lines(const Lines& lines, std::span<bool> answers) override;
  // Lines that changed the filter: they were certainly new, or were removed.
  [[nodiscard]] std::uint64_t fresh() const noexcept { return fresh_; }

 private:
  KeyFilter& filter_;
  Direction direction_;
  std::vector<std::string_view> keys_;
  std::uint64_t lines_ = 0;
  std::uint64_t fresh_ = 0;
};

class LookUpKeys : public LineSink {
 public:
  explicit LookUpKeys(KeyFilter& filter) : filter_(filter) {}
  void decide_lines(const Lines& lines, std::span<bool> answers) override;

 private:
  KeyFilter& filter_;
  std::vector<std::string_view> keys_;
};

// A line is new if neither the filter nor the batch has it. The batch goes to the filter after its
// lines were written, so that a crash repeats lines and loses none. Two runs over one filter at the
// same time may both print a line.
class SeenKeys : public LineSink {
 public:
  explicit SeenKeys(KeyFilter& filter);
  void decide_lines(const Lines& lines, std::span<bool> answers) override;
  void settle(const std::function<void()>& drain) override;
  void finish(const std::function<void()>& drain) override;

 private:
  void remember(const std::function<void()>& drain);

  KeyFilter& filter_;
  bool sync_output_;
  Hasher hasher_;
  Batch batch_;
  std::string pending_;  // the keys of the batch, one behind the other
  std::vector<std::size_t> ends_;
  std::vector<std::string_view> keys_;
};

}  // namespace bloomery::cli
