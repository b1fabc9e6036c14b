// What dedup has seen: in memory, in a filter of the size that was asked for, or one that grows.
#pragma once

#include "options.hpp"
#include "stream.hpp"

#include <bloomery/filter.hpp>
#include <bloomery/scalable_filter.hpp>

#include <cstdint>

namespace bloomery::cli {

constexpr double kDedupRate = 1e-6;

// The plan that dedup's -n (or a number in its place), -p and --layout ask for.
[[nodiscard]] Plan dedup_plan(const Options& options, std::uint64_t items);

// Answers true for lines that are certainly new, in a filter of a known plan.
class SeenInMemory : public LineSink {
 public:
  SeenInMemory(const Plan& plan, const Hasher& hasher) : filter_(plan, hasher) {}
  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override {
    filter_.insert_hashes(hashes, answers);
  }
  [[nodiscard]] const Filter& filter() const noexcept { return filter_; }

 private:
  Filter filter_;
};

// For input whose number of lines is a guess: a filter that grows eightfold. Half of the rate is
// for its first layer, so that a good guess costs little, and half of what is left for each next.
class SeenGrowing : public LineSink {
 public:
  static constexpr std::uint64_t kUnknownLines = 1'000'000;

  SeenGrowing(const Options& options, const Hasher& hasher, std::uint64_t lines)
      : filter_(scalable_plan(lines, options.rate.value_or(kDedupRate), 8, 0.5, options.layout),
                hasher) {}
  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override {
    filter_.insert_hashes(hashes, answers);
  }
  [[nodiscard]] const ScalableFilter& filter() const noexcept { return filter_; }

 private:
  ScalableFilter filter_;
};

}  // namespace bloomery::cli
