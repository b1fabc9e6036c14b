// Computes the mean over the binomial distribution, and searches for the size.
#include "redis/shards/shard_plan.hpp"

#include <bloomery/error.hpp>
#include <bloomery/redis_url.hpp>

#include <algorithm>
#include <cmath>
#include <string>

#include "plan/fpr.hpp"

namespace bloomery::detail {
namespace {

constexpr std::uint64_t kUsualShardBits = std::uint64_t{1} << 31;

}  // namespace

double fpr_in_shards(const Plan& whole, std::uint32_t shards, double items) {
  if (shards == 1 || one_block_per_key(whole.layout) || items <= 0)
    return predicted_fpr(whole, items);
  const Plan shard = plan_of_shard(whole, shards);
  const double share = 1.0 / shards;
  const double mean = items * share;
  const double deviation = std::sqrt(mean * (1 - share));
  // A load that differs by more than 12 standard deviations (and 40 keys, which matters if the binomial is a Poisson
  // of few keys) has less than 1e-15 of the probability of the likeliest load. The rate is smooth: 8 points per
  // standard deviation are enough.
  const double reach = 12 * deviation + 40;
  const double step = std::max(1.0, std::floor(deviation / 8));
  const double first = std::max(0.0, std::floor(mean - reach));
  const double last = std::min(items, mean + reach);
  const auto log_probability = [&](double load) {
    return log_gamma(items + 1) - log_gamma(load + 1) - log_gamma(items - load + 1) +
           load * std::log(share) + (items - load) * std::log1p(-share);
  };
  const double likeliest = log_probability(std::floor(mean));
  double sum = 0;
  double weights = 0;
  const auto steps = static_cast<std::uint64_t>((last - first) / step);
  for (std::uint64_t i = 0; i <= steps; ++i) {
    const double load = first + static_cast<double>(i) * step;
    const double weight = std::exp(log_probability(load) - likeliest);
    sum += weight * predicted_fpr(shard, load);
    weights += weight;
  }
  return sum / weights;
}

Plan plan_of_shard(const Plan& whole, std::uint32_t shards) {
  Plan shard = whole;
  shard.bits = whole.bits / shards;
  shard.capacity = (whole.capacity + shards - 1) / shards;
  return shard;
}

Plan plan_for_shards(const Plan& whole, std::uint32_t shards) {
  validate(whole);
  const std::uint64_t unit = kBlockBits * shards;
  const auto with = [&](std::uint64_t units) {
    Plan plan = whole;
    plan.bits = units * unit;
    return plan;
  };
  const auto items = static_cast<double>(whole.capacity);
  const double allowed = std::max(whole.fpr, predicted_fpr(whole, items));
  const auto holds = [&](std::uint64_t units) {
    return fpr_in_shards(with(units), shards, items) <= allowed;
  };
  std::uint64_t units = (whole.bits + unit - 1) / unit;
  if (!one_block_per_key(whole.layout) && !holds(units)) {
    // Finds the fewest units with which the rate holds: first the step doubles upwards, then it halves downwards.
    std::uint64_t fails = units;
    std::uint64_t step = std::max<std::uint64_t>(1, units / 4096);
    while (!holds(units = fails + step)) {
      if (units * shards > max_bits(whole.layout) / kBlockBits) break;
      fails = units;
      step *= 2;
    }
    while (units - fails > std::max<std::uint64_t>(1, units / 8192)) {
      const std::uint64_t middle = fails + (units - fails) / 2;
      (holds(middle) ? units : fails) = middle;
    }
  }
  Plan plan = with(units);
  if (plan.bits / shards > kMaxRedisBits)
    throw Error(ErrorCode::too_large,
                std::to_string(plan.bits) + " bits in " + std::to_string(shards) +
                    (shards == 1 ? " shard" : " shards") +
                    " are more than Redis strings can hold, " + std::to_string(kMaxRedisBits) +
                    " bits each; give more shards, up to " + std::to_string(kMaxRedisShards));
  validate(plan);
  return plan;
}

std::uint32_t shards_for(const Plan& whole, std::size_t nodes) {
  const std::uint64_t for_size = (whole.bits + kUsualShardBits - 1) / kUsualShardBits;
  const std::uint64_t for_nodes = nodes > 1 ? nodes * 4 : 1;
  const std::uint64_t shards =
      (std::max(for_size, for_nodes) + nodes - 1) / std::max<std::uint64_t>(1, nodes) * nodes;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(
      shards, 1, std::min<std::uint64_t>(kMaxRedisShards, whole.blocks())));
}

}  // namespace bloomery::detail
