// What dedup has seen: in memory, sized for the input, or from a small start.
#pragma once

#include "options.hpp"
#include "stream.hpp"

#include <bloomery/filter.hpp>

#include <cstdint>
#include <optional>
#include <vector>

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

 protected:
  Filter filter_;
};

// For input of unknown size: begins with room for a million lines and their hashes beside
// it. When more come, the hashes move into a filter for 100 million.
class SeenInPipe : public SeenInMemory {
 public:
  static constexpr std::uint64_t kFirstLines = 1'000'000;
  static constexpr std::uint64_t kAssumedLines = 100'000'000;

  SeenInPipe(const Options& options, const Hasher& hasher)
      : SeenInMemory(dedup_plan(options, kFirstLines), hasher), options_(options) {}
  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override;
  [[nodiscard]] bool assumed() const noexcept { return assumed_; }

 private:
  void grow();

  const Options& options_;
  std::vector<Hash128> first_;
  bool assumed_ = false;
};

}  // namespace bloomery::cli
