// Counts the ones of a filter on its servers: in all bits, or in a sample.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "filter/statistics.hpp"
#include "redis/wire/connection.hpp"

namespace bloomery::detail {

// Above 4 MiB it takes a stratified sample: 1,024 strata of equal length, the same number in each string, with one
// range of 4 KiB each. The position of the range in its stratum is random, so no pattern of the bits coincides with a
// pattern of the sample. The spread of the ranges gives the standard error for any bits; the bits of the PHP hashes
// are far from even.
class OnesSample {
 public:
  // For `bytes` bytes in each of so many strings.
  explicit OnesSample(std::uint64_t bytes, std::uint64_t strings = 1);

  // The number of ranges that are counted in each string.
  [[nodiscard]] std::uint64_t ranges() const noexcept { return ranges_; }
  // Appends the command that counts the ones in a range of a string whose bits begin at byte `from`.
  void ask(std::uint64_t range, std::string_view key, std::uint64_t from, Commands& to);
  // Takes one reply; the order of the replies does not matter.
  void take(const redisReply& reply, const std::string& name);
  [[nodiscard]] Share share() const noexcept;

 private:
  bool sampled_;
  std::uint64_t ranges_, stratum_, range_;  // the last two in bytes
  std::minstd_rand random_;
  double sum_ = 0, squares_ = 0, taken_ = 0;
};

}  // namespace bloomery::detail
