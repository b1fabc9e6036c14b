// The server counts the set bits; everything else follows from them and the plan.
#include "redis_stats.hpp"

#include "text.hpp"

#include <fmt/format.h>

namespace bloomery::cli {

std::string fill_text(const Stats& stats) {
  if (!stats.sampled) return share_text(stats.fill);
  return fmt::format("{} +- {:.2g} %, estimated from a sample", share_text(stats.fill),
                     200 * stats.fill_error);
}

std::string shards_text(std::size_t shards, std::size_t nodes) {
  return fmt::format("{} on {} {}", group_digits(shards), group_digits(nodes),
                     nodes == 1 ? "server" : "nodes");
}

void add_fill(Json& json, const Stats& stats) {
  json["fill"] = stats.fill;
  json["fill_is_sampled"] = stats.sampled;
  json["fill_standard_error"] = stats.fill_error;
  json["over_capacity"] = stats.over_capacity;
}

FilterState state_of(const Plan& plan, const Hasher& hasher, const Stats& stats) {
  const bool over_capacity =
      stats.over_capacity && stats.estimated_items > static_cast<double>(plan.capacity);
  return {plan,         hasher.family(), stats.fill, stats.estimated_items, stats.current_fpr,
          over_capacity};
}

Standing standing_of(const Plan& plan, const Hasher& hasher, const Stats& stats,
                     const std::string& advice) {
  const FilterState state = state_of(plan, hasher, stats);
  Standing standing = standing_of(state, advice);
  add_fill(standing.json, stats);
  if (stats.sampled) standing.line += " (estimated from a sample)";
  if (stats.over_capacity && !state.over_capacity)
    standing.warning = fmt::format(
        "warning: {} of the bits are ones, more than half: the false-positive rate is now {}; {}",
        share_text(stats.fill), fpr_text(stats.current_fpr), advice);
  return standing;
}

KeyFilter::Rows plain_rows(KeyFilter::Rows rows, const Plan& plan, const Hasher& hasher,
                           const Stats& stats) {
  const FilterState state = state_of(plan, hasher, stats);
  const auto say = [&](const char* name, std::string text) {
    rows.emplace_back(name, std::move(text));
  };
  say("layout", fmt::format("{}, {} hashes", to_string(plan.layout), plan.hashes));
  say("bits", fmt::format("{} ({})", group_digits(plan.bits),
                          bytes_text(static_cast<double>(plan.bytes()))));
  say("made for", fmt::format("{} keys at {}", group_digits(plan.capacity), fpr_text(plan.fpr)));
  say("hash", hash_text(hasher));
  say("estimated items", group_digits(state.estimated_items));
  say("fill", fill_text(stats));
  say("current fpr", fpr_text(state.current_fpr));
  say("room left", group_digits(state.room_left()));
  return rows;
}

}  // namespace bloomery::cli
