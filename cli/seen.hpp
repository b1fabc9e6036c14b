// What dedup has seen, in memory: in a filter of the size that was asked for, in one that grows,
// or in one that forgets. In a file: seen_file.hpp.
#pragma once

#include "options.hpp"
#include "statistics.hpp"
#include "stream.hpp"

#include <bloomery/filter.hpp>
#include <bloomery/scalable_filter.hpp>
#include <bloomery/window_filter.hpp>

#include <cstdint>
#include <vector>

namespace bloomery::cli {

constexpr double kDedupFpr = 1e-6;

// Answers true for lines that are certainly new.
class Seen : public HashSink {
 public:
  [[nodiscard]] virtual FilterState state() const = 0;
  virtual void close() {}
};

// In a filter of a known plan.
class SeenInMemory : public Seen {
 public:
  SeenInMemory(const Plan& plan, const Hasher& hasher) : filter_(plan, hasher) {}
  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override {
    filter_.insert_hashes(hashes, answers);
  }
  [[nodiscard]] const Hasher& hasher() const noexcept override { return filter_.hasher(); }
  [[nodiscard]] FilterState state() const override { return FilterState(filter_); }

 private:
  Filter filter_;
};

// For input whose number of lines is a guess: a filter that becomes eight times as large when it
// was too low. It may be wrong half as often at first as was asked for, which costs a bit and a
// half a line; the default of scalable filters costs four, for growth that seldom comes here.
class SeenGrowing : public Seen {
 public:
  static constexpr std::uint64_t kUnknownLines = 1'000'000;

  SeenGrowing(const Options& options, const Hasher& hasher, std::uint64_t lines)
      : filter_(scalable_plan(lines, options.fpr.value_or(kDedupFpr), kGrowth, kTightening,
                              options.layout),
                hasher) {}
  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override {
    filter_.insert_hashes(hashes, answers);
  }
  [[nodiscard]] const Hasher& hasher() const noexcept override { return filter_.hasher(); }
  [[nodiscard]] FilterState state() const override { return FilterState(filter_); }

 private:
  static constexpr std::uint32_t kGrowth = 8;
  static constexpr double kTightening = 0.5;
  ScalableFilter filter_;
};

// A line is new again when the window has passed since it was last taken for new: repeats do not
// make it young, so that a line that never stops coming is printed once a window.
class SeenInWindow : public Seen {
 public:
  SeenInWindow(const WindowPlan& plan, const Hasher& hasher) : filter_(plan, hasher) {}
  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override;
  [[nodiscard]] const Hasher& hasher() const noexcept override { return filter_.hasher(); }
  [[nodiscard]] FilterState state() const override { return FilterState(filter_); }

 private:
  WindowFilter filter_;
};

}  // namespace bloomery::cli
