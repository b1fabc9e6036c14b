// A server counts the ones; everything else about a filter follows from them and its plan.
#include "redis_fill.hpp"

#include "text.hpp"

#include <fmt/format.h>

namespace bloomery::cli {

std::string fill_text(const RedisFill& fill) {
  if (!fill.sampled) return share_text(fill.ones);
  return fmt::format("{} +- {:.2g} %, estimated from a sample", share_text(fill.ones),
                     200 * fill.error);
}

void add_fill(Json& json, const RedisFill& fill) {
  json["fill"] = fill.ones;
  json["fill_is_sampled"] = fill.sampled;
  json["fill_standard_error"] = fill.error;
  json["over_capacity"] = fill.over_capacity;
}

FilterState state_of(const Plan& plan, const Hasher& hasher, const RedisFill& fill) {
  const bool over_capacity =
      fill.over_capacity && fill.estimated_items > static_cast<double>(plan.capacity);
  return {plan, hasher.family(), fill.ones, fill.estimated_items, fill.current_fpr, over_capacity};
}

Standing standing_of(const Plan& plan, const Hasher& hasher, const RedisFill& fill,
                     const std::string& mend) {
  const FilterState state = state_of(plan, hasher, fill);
  Standing standing = standing_of(state, mend);
  add_fill(standing.json, fill);
  if (fill.sampled) standing.line += " (estimated from a sample)";
  if (fill.over_capacity && !state.over_capacity)
    standing.warning = fmt::format(
        "warning: {} of the bits are ones, more than half: the false-positive rate is now {}; {}",
        share_text(fill.ones), fpr_text(fill.current_fpr), mend);
  return standing;
}

KeyFilter::Rows plain_rows(KeyFilter::Rows rows, const Plan& plan, const Hasher& hasher,
                           const RedisFill& fill) {
  const FilterState state = state_of(plan, hasher, fill);
  const auto say = [&](const char* name, std::string text) {
    rows.emplace_back(name, std::move(text));
  };
  say("layout", fmt::format("{}, {} hashes", to_string(plan.layout), plan.hashes));
  say("bits", fmt::format("{} ({})", group_digits(plan.bits),
                          bytes_text(static_cast<double>(plan.bytes()))));
  say("made for", fmt::format("{} keys at {}", group_digits(plan.capacity), fpr_text(plan.fpr)));
  say("hash", hash_text(hasher));
  say("estimated items", group_digits(state.estimated_items));
  say("fill", fill_text(fill));
  say("current fpr", fpr_text(state.current_fpr));
  say("room left", group_digits(state.room_left()));
  return rows;
}

}  // namespace bloomery::cli
