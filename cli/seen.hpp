// What dedup has seen: in memory, in a filter of the size that was asked for, or one that grows.
#pragma once

#include "options.hpp"
#include "statistics.hpp"
#include "stream.hpp"

#include <bloomery/filter.hpp>

#include <cstdint>
#include <memory>
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

 private:
  Filter filter_;
};

// For input whose number of lines is a guess: when the newest filter has taken as many lines as
// it was planned for, another begins, eight times as large. Each may be wrong half as often as
// the one before it, the first half as often as asked for, so that all of them together keep to
// the rate, however many lines come.
class SeenGrowing : public LineSink {
 public:
  static constexpr std::uint64_t kUnknownLines = 1'000'000;

  SeenGrowing(const Options& options, const Hasher& hasher, std::uint64_t lines);
  void decide(std::span<const Hash128> hashes, std::span<bool> answers) override;
  // All filters as one.
  [[nodiscard]] FilterState state() const;
  [[nodiscard]] const Hasher& hasher() const noexcept { return filters_.front().hasher(); }

 private:
  [[nodiscard]] Plan plan_of(std::uint64_t lines) const;
  void grow();
  std::size_t decide_step(std::span<const Hash128> hashes, std::span<bool> answers);

  const Options& options_;
  const double rate_;
  std::vector<Filter> filters_;
  std::uint64_t room_ = 0;           // in the newest
  std::vector<Hash128> unseen_;      // by the older ones
  std::unique_ptr<bool[]> answers_;  // of one filter
  std::size_t answers_room_ = 0;
};

}  // namespace bloomery::cli
