// How full a filter on a server is: its ones, counted there, all of them or a sample.
#pragma once

#include <bloomery/plan.hpp>
#include <bloomery/redis_filter.hpp>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>

#include "redis/connection.hpp"

namespace bloomery::detail {

// Of all bits, or of a sample, and then with a standard error.
struct Share {
  double ones = 0;
  double error = 0;
  bool sampled = false;
};

// Above 4 MiB: of 1,024 strata of equal length, so many in each string, one range of 4 KiB each, at a
// random place, so that no pattern of the bits meets a pattern of the sample. Their spread says how
// good the mean is, whatever the bits: those of the PHP hashes are far from even.
class OnesSample {
 public:
  // Of `bytes` bytes in each of so many strings.
  explicit OnesSample(std::uint64_t bytes, std::uint64_t strings = 1);

  // Of each string.
  [[nodiscard]] std::uint64_t ranges() const noexcept { return ranges_; }
  // The command that counts in one range of a string whose bits begin at byte `from`.
  void ask(std::uint64_t range, std::string_view key, std::uint64_t from, Commands& to);
  // Its answer, in any order. Error: as require_type.
  void take(const Reply& reply, const std::string& name);
  [[nodiscard]] Share share() const noexcept;

 private:
  bool sampled_;
  std::uint64_t ranges_, stratum_, range_;  // the last two in bytes
  std::minstd_rand random_;
  double sum_ = 0, squares_ = 0, taken_ = 0;
};

[[nodiscard]] RedisFill fill_of(const Plan& plan, const Share& share) noexcept;

}  // namespace bloomery::detail
