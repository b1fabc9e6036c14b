// Counts the ones of a filter on its servers: all of them, or a sample.
#pragma once

#include <bloomery/plan.hpp>
#include <bloomery/stats.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "redis/wire/connection.hpp"

namespace bloomery::detail {

struct Share {
  double ones = 0;
  double error = 0;      // the standard error of a sample
  bool sampled = false;  // not all bits were counted
};

// Above 4 MiB: a stratified sample of 1,024 strata of equal length, so many in each string, with
// one range of 4 KiB each. Its place in the stratum is random, so that no pattern of the bits
// coincides with a pattern of the sample. The spread of the ranges gives the standard error,
// whatever the bits are: those of the PHP hashes are far from even.
class OnesSample {
 public:
  // Of `bytes` bytes in each of so many strings.
  explicit OnesSample(std::uint64_t bytes, std::uint64_t strings = 1);

  // How many ranges of each string are counted.
  [[nodiscard]] std::uint64_t ranges() const noexcept { return ranges_; }
  // The command that counts in a range of a string whose bits begin at byte `from`.
  void ask(std::uint64_t range, std::string_view key, std::uint64_t from, Commands& to);
  // Takes the answers, in any order.
  void take(const redisReply& reply, const std::string& name);
  [[nodiscard]] Share share() const noexcept;

 private:
  bool sampled_;
  std::uint64_t ranges_, stratum_, range_;  // the last two in bytes
  std::minstd_rand random_;
  double sum_ = 0, squares_ = 0, taken_ = 0;
};

[[nodiscard]] Stats stats_of(const Plan& plan, const Share& share) noexcept;

}  // namespace bloomery::detail
