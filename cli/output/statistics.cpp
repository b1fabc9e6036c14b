// Statistics of filters, printed one way everywhere.
#include "output/statistics.hpp"

#include "output/output.hpp"
#include "output/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace bloomery::cli {

namespace {

bool is_counting(const FilterStats& stats) noexcept { return stats.counters.has_value(); }

// A module does not say how many of the bits are ones.
bool has_fill(const FilterStats& stats) noexcept { return !stats.module_arrays; }

std::string shards_text(const FilterStats::Shards& shards) {
  return fmt::format("{} on {} {}", group_digits(std::uint64_t{shards.count}),
                     group_digits(std::uint64_t{shards.nodes}),
                     shards.nodes == 1 ? "server" : "nodes");
}

std::string kind_text(const FilterStats& stats) {
  std::string text = stats.kind ? std::string(to_string(*stats.kind)) : std::string();
  if (stats.module_arrays) text += text.empty() ? "of a Redis module" : ", of a Redis module";
  if (stats.generations) text += ", in two generations";
  if (stats.shards) text += ", in shards";
  return text;
}

// "7", or "6 and 7".
std::string bits_text(const FrozenPlan& plan) {
  if (plan.narrow_partitions == 0) return fmt::format("{}", plan.fingerprint_bits);
  return fmt::format("{} and {}", plan.fingerprint_bits - 1, plan.fingerprint_bits);
}

// "7 d", "10,000,000 lines".
std::string window_text(const WindowPlan& plan) { return length_text(plan.unit, plan.window); }

std::string layout_text(const FilterStats& stats) {
  if (stats.frozen)
    return fmt::format("frozen{}, fingerprints of {} bits", stats.delta ? " with a delta" : "",
                       bits_text(*stats.frozen));
  const std::string_view layout = to_string(stats.plan->layout);
  if (is_counting(stats)) return fmt::format("counting, counters of {} bits", stats.counters->bits);
  if (!stats.sub_filters.empty())
    return fmt::format("scalable, {}, {}", layout, counted(stats.sub_filters.size(), "sub-filter"));
  if (stats.window) return fmt::format("window of {}, {}", window_text(*stats.window), layout);
  return std::string(layout);
}

// "12.3 %", or "12.3 % (+- 0.02 %, from a sample)" with two standard errors.
std::string fill_text(const Stats& stats) {
  if (!stats.sampled) return share_text(stats.fill);
  return fmt::format("{} (+- {:.2g} %, from a sample)", share_text(stats.fill),
                     200 * stats.fill_error);
}

std::string current_fpr_text(const FilterStats& stats) {
  return (stats.scheme ? "at least " : "") + fpr_text(stats.current_fpr);
}

void add_fill(Json& json, const Stats& stats) {
  json["fill"] = stats.fill;
  json["fill_is_sampled"] = stats.sampled;
  json["fill_standard_error"] = stats.fill_error;
}

std::string estimated_text(double items) {
  return std::isfinite(items) ? fmt::format("about {} keys", group_digits(items))
                              : "more keys than can be estimated";
}

}  // namespace

double room_left(const FilterStats& stats) noexcept {
  return std::max(0.0, static_cast<double>(stats.capacity) - stats.estimated_items);
}

Json plan_json(const Plan& plan) {
  return {{"layout", to_string(plan.layout)},
          {"bits", plan.bits},
          {"bytes", plan.bytes()},
          {"hashes", plan.hashes},
          {"capacity", plan.capacity},
          {"fpr", plan.fpr},
          {"bits_per_key", plan.bits_per_key()}};
}

Json filter_json(const FilterStats& stats, const Hasher* hasher) {
  Json json = Json::object();
  if (stats.kind) json["kind"] = to_string(*stats.kind);
  if (stats.scheme) {
    json["scheme"] = stats.scheme->description();
    json["bits"] = stats.scheme->bits();
    json["hashes"] = stats.scheme->hash_count();
  }
  if (stats.plan) {
    json.update(plan_json(*stats.plan));
    json["bits"] = stats.bytes * 8;
    json["bits_per_key"] =
        static_cast<double>(stats.bytes) * 8 / static_cast<double>(stats.capacity);
  }
  if (stats.bytes != 0) json["bytes"] = stats.bytes;
  if (stats.capacity != 0) json["capacity"] = stats.capacity;
  if (stats.fpr != 0) json["fpr"] = stats.fpr;
  if (hasher != nullptr)
    json["hash"] = hasher->family() == HashFamily::siphash ? "siphash" : "xxh3";
  if (stats.inserted) json["inserted"] = *stats.inserted;
  if (has_fill(stats)) {
    add_fill(json, stats);
    json[stats.scheme ? "min_current_fpr" : "current_fpr"] = stats.current_fpr;
    json["estimated_items"] = stats.estimated_items;
    if (stats.capacity != 0) json["room_left"] = room_left(stats);
  }
  json["over_capacity"] = stats.over_capacity;
  if (stats.counters) {
    json["counters"] = stats.plan->bits;
    json["counter_bits"] = stats.counters->bits;
    json["saturated_counters"] = stats.counters->saturated;
  }
  if (stats.module_arrays) json["sub_filter_count"] = *stats.module_arrays;
  if (stats.growth) json["growth"] = *stats.growth;
  for (const FilterStats::SubFilter& sub_filter : stats.sub_filters) {
    Json one = plan_json(sub_filter.plan);
    one["inserted"] = sub_filter.inserted;
    one["current_fpr"] = sub_filter.current_fpr;
    json["sub_filters"].push_back(one);
  }
  if (stats.frozen) {
    json["layout"] = "fuse";
    json["fingerprint_bits"] = stats.frozen->fingerprint_bits;
    json["partitions"] = stats.frozen->partitions;
    json["narrow_partitions"] = stats.frozen->narrow_partitions;
  }
  if (stats.delta) {
    json["delta"] = plan_json(stats.delta->plan);
    json["delta"]["inserted"] = stats.delta->inserted;
    json["delta"]["estimated_items"] = stats.delta->estimated_items;
    json["delta"]["current_fpr"] = stats.delta->current_fpr;
  }
  if (stats.window) {
    json["unit"] = to_string(stats.window->unit);
    json["window"] = stats.window->window;
    json["slices"] = stats.window->slices;
    json["slice_length"] = stats.window->slice_length();
    json["live_slices"] = stats.live_slices;
  }
  if (stats.shards) {
    json["shards"] = stats.shards->count;
    json["nodes"] = stats.shards->nodes;
  }
  if (stats.generations) {
    json["generation"] = stats.generations->newer;
    json["older"] = Json{{"estimated_items", stats.generations->older.estimated_items},
                         {"current_fpr", stats.generations->older.current_fpr}};
    add_fill(json["older"], stats.generations->older);
  }
  return json;
}

std::string seed_text(const Hasher& hasher) {
  if (hasher.family() == HashFamily::siphash) return "secret";
  return fmt::format("{:#x}", hasher.seed().low);
}

std::string made_text(const FilterStats& stats) {
  if (stats.scheme) return stats.scheme->description();
  const std::string size =
      stats.shards && stats.module_arrays
          ? "in " + counted(stats.shards->count, "shard")
          : bytes_text(stats.bytes) +
                (stats.shards ? " in " + counted(stats.shards->count, "shard") : "");
  const std::string what = stats.module_arrays ? "of a module"
                           : stats.generations ? "two generations of " + layout_text(stats)
                                               : layout_text(stats);
  std::string text = fmt::format("{}, {}, for {}", what, size, counted(stats.capacity, "key"));
  if (stats.fpr != 0) text += " at " + fpr_text(stats.fpr);
  return text;
}

std::string filter_text(const FilterStats& stats) {
  const std::string made = "filter: " + made_text(stats);
  if (!has_fill(stats))
    return fmt::format("{}; {} inserted", made, group_digits(stats.inserted.value_or(0)));
  if (stats.frozen) return fmt::format("{}, current fpr {}", made, current_fpr_text(stats));
  return fmt::format("{}; {} of the {}{} are {}, current fpr {}", made, fill_text(stats),
                     is_counting(stats) ? "counters" : "bits",
                     stats.generations ? " of the newer" : "",
                     is_counting(stats) ? "in use" : "ones", current_fpr_text(stats));
}

Rows made_rows(const FilterStats& stats, const Hasher* hasher) {
  Rows rows;
  const auto say = [&](std::string_view name, std::string text) {
    rows.emplace_back(name, std::move(text));
  };
  if (const std::string kind = kind_text(stats); !kind.empty()) say("kind", kind);
  if (stats.shards) say("shards", shards_text(*stats.shards));
  if (stats.scheme) {
    say("scheme", stats.scheme->description());
    say("bits",
        fmt::format("{} ({})", group_digits(stats.scheme->bits()), bytes_text(stats.bytes)));
    say("hashes", group_digits(std::uint64_t{stats.scheme->hash_count()}));
  }
  if (stats.plan) {
    say("layout",
        stats.frozen ? fmt::format("binary fuse, fingerprints of {} bits", bits_text(*stats.frozen))
                     : fmt::format("{}, {} {}", to_string(stats.plan->layout), stats.plan->hashes,
                                   stats.plan->hashes == 1 ? "hash" : "hashes"));
    say("bits",
        fmt::format("{}{} ({})", stats.generations ? "2 x " : "", group_digits(stats.bytes * 8),
                    bytes_text(stats.bytes * (stats.generations ? 2 : 1))));
  } else if (stats.bytes != 0 && !stats.scheme) {
    say("bytes", bytes_text(stats.bytes));
  }
  if (stats.capacity != 0)
    say("made for", counted(stats.capacity, "key") + (stats.generations ? " per generation" : "") +
                        (stats.fpr != 0 ? " at " + fpr_text(stats.fpr) : ""));
  if (hasher != nullptr)
    say("hash",
        fmt::format("{}, seed {}", hasher->family() == HashFamily::siphash ? "siphash" : "xxh3",
                    seed_text(*hasher)));
  if (!stats.identity.empty()) say("identity", stats.identity);
  return rows;
}

Rows fill_rows(const FilterStats& stats) {
  Rows rows;
  const auto say = [&](std::string_view name, std::string text) {
    rows.emplace_back(name, std::move(text));
  };
  if (stats.inserted) say(stats.frozen ? "keys" : "inserted", group_digits(*stats.inserted));
  if (stats.generations) {
    const auto generation = [](const Stats& of) {
      return fmt::format("about {} keys, fill {}", group_digits(of.estimated_items), fill_text(of));
    };
    say("generation", group_digits(stats.generations->newer));
    say("newer", generation(stats));
    say("older", generation(stats.generations->older));
    say("current fpr", fpr_text(stats.current_fpr));
  } else if (stats.frozen) {
    say("current fpr", current_fpr_text(stats));
  } else if (has_fill(stats)) {
    say("estimated items",
        group_digits(stats.estimated_items) + (stats.scheme ? ", if the hashes were good" : ""));
    say("fill", fill_text(stats));
    say("current fpr", current_fpr_text(stats));
    if (stats.capacity != 0) say("room left", group_digits(room_left(stats)));
  }
  if (stats.delta)
    say("delta",
        fmt::format("{} of {}, {}, current fpr {}", group_digits(stats.delta->inserted),
                    counted(stats.delta->plan.capacity, "key"),
                    bytes_text(stats.delta->plan.bytes()), fpr_text(stats.delta->current_fpr)));
  if (stats.counters)
    say("counters", fmt::format("{} of {} bits, {} saturated", group_digits(stats.plan->bits),
                                stats.counters->bits, group_digits(stats.counters->saturated)));
  if (stats.module_arrays) {
    say("sub-filters", group_digits(*stats.module_arrays));
    if (!stats.growth) say("growth", "none");
  }
  if (stats.growth) say("growth", counted(*stats.growth, "time") + " per sub-filter");
  std::size_t number = 0;
  for (const FilterStats::SubFilter& sub_filter : stats.sub_filters)
    say(fmt::format("sub-filter {}", ++number),
        fmt::format("{}, {} of {}, current fpr {}", bytes_text(sub_filter.plan.bytes()),
                    group_digits(sub_filter.inserted), counted(sub_filter.plan.capacity, "key"),
                    fpr_text(sub_filter.current_fpr)));
  if (stats.window) {
    say("window", fmt::format("{} in {}", window_text(*stats.window),
                              counted(stats.window->slices, "slice")));
    say("live slices", group_digits(std::uint64_t{stats.live_slices}));
  }
  return rows;
}

void warn_if_over_capacity(const FilterStats& stats, const std::string& advice) {
  if (!stats.over_capacity) return;
  // The list may be better than its share of the stated rate.
  if (stats.delta && stats.current_fpr <= stats.fpr) return;
  const std::string fpr = current_fpr_text(stats);
  std::string text;
  if (!has_fill(stats)) {
    text = fmt::format("{} were inserted into a filter for {}; {}{}",
                       counted(stats.inserted.value_or(0), "key"), group_digits(stats.capacity),
                       stats.shards ? "" : "if they are all still in it, ", advice);
  } else if (stats.delta) {
    text = fmt::format(
        "the delta holds {} and was planned for {}: the false-positive rate is now {}, not {}; "
        "rebuild it from all lines",
        estimated_text(
            std::max(stats.delta->estimated_items, static_cast<double>(stats.delta->inserted))),
        group_digits(stats.delta->plan.capacity), fpr, fpr_text(stats.fpr));
  } else if (stats.window) {
    text = fmt::format(
        "a slice of the window holds more keys than its share of the {} that it was planned for: "
        "its false-positive rate is now {}, not {}; {}",
        group_digits(stats.capacity), fpr, fpr_text(stats.fpr), advice);
  } else if (stats.scheme) {
    text = fmt::format(
        "{} of the bits are ones, more than half: the false-positive rate is now {}; rotate or "
        "empty the filter, or move to a better one",
        share_text(stats.fill), fpr);
  } else {
    const std::string keys = estimated_text(stats.estimated_items);
    // A small filter has room to spare, because it consists of whole blocks.
    const bool is_met = stats.current_fpr <= stats.fpr;
    text = fmt::format(
        "the filter holds {} and was planned for {}: its false-positive rate is {} {}, {} {}; {}",
        keys, group_digits(stats.capacity), is_met ? "still" : "now", fpr,
        is_met ? "not above" : "not", fpr_text(stats.fpr),
        stats.generations ? "rotate it, or create a larger one" : advice);
  }
  remark("warning: " + text);
}

}  // namespace bloomery::cli
