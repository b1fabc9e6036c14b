// The mean of a sample and its standard error.
#include "redis/strings/ones_sample.hpp"

#include <algorithm>
#include <cmath>

namespace bloomery::detail {
namespace {

constexpr std::uint64_t kRanges = 1024;
constexpr std::uint64_t kRange = 4096;

}  // namespace

OnesSample::OnesSample(std::uint64_t bytes, std::uint64_t strings)
    : sampled_(bytes * strings > kRanges * kRange),
      ranges_(sampled_ ? (kRanges + strings - 1) / strings : 1),
      stratum_(bytes / ranges_),
      range_(sampled_ ? std::min(kRange, stratum_) : bytes),
      random_(std::random_device{}()) {}

void OnesSample::ask(std::uint64_t range, std::string_view key, std::uint64_t from, Commands& to) {
  const std::uint64_t start = from + stratum_ * range + random_() % (stratum_ - range_ + 1);
  to.begin(4).word("BITCOUNT").word(key).number(start).number(start + range_ - 1);
}

void OnesSample::take(const redisReply& reply, const std::string& name) {
  require_type(reply, REDIS_REPLY_INTEGER, name);
  const double share = static_cast<double>(reply.integer) / static_cast<double>(range_ * 8);
  sum_ += share;
  squares_ += share * share;
  ++taken_;
}

Share OnesSample::share() const noexcept {
  Share share{sum_ / taken_, 0, sampled_};
  if (sampled_)
    share.error =
        std::sqrt(std::max(0.0, squares_ / taken_ - share.ones * share.ones) / (taken_ - 1) *
                  (1 - static_cast<double>(range_) / static_cast<double>(stratum_)));
  return share;
}

}  // namespace bloomery::detail
