// `bloomery plan`: what a filter of any kind takes, layout by layout, before anything is built.
#include "flags/flags.hpp"
#include "output/output.hpp"
#include "output/plots.hpp"
#include "output/statistics.hpp"
#include "output/text.hpp"
#include "verbs/verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace bloomery::cli {

namespace {

constexpr std::array kCounterBits{4U, 8U};
constexpr std::array kLoads{1, 2, 3, 4};
constexpr std::array kTimes{1U, 2U, 5U, 20U, 100U};  // how often each key is inserted
constexpr std::array kRates{1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 1e-9, 1e-12, 1e-15};

// A choice that the flags leave open, with its plan, or why it has none.
struct Row {
  Layout layout;
  std::string name;
  std::optional<FilterPlan> plan;
  std::string refusal;
};

// Nothing if a scalable filter cannot grow so far.
std::optional<double> fpr_at(const FilterPlan& plan, int load) {
  try {
    return predicted_fpr(plan, static_cast<double>(totals(plan).capacity) * load);
  } catch (const PlanError&) {
    return std::nullopt;
  }
}

// Every layout, or of a counting filter every width of counters, that was not ruled out. Error if
// none has a plan: the reason of the first one.
std::vector<Row> make_rows(const FilterSpec& wanted) {
  std::vector<Row> rows;
  const auto add = [&](Layout layout, std::string name, const FilterSpec& spec) {
    Row row{layout, std::move(name), std::nullopt, {}};
    try {
      row.plan = plan(spec);
      row.layout = totals(*row.plan).layout;
    } catch (const PlanError& error) {
      row.refusal = error.message(flag_of);
    }
    rows.push_back(std::move(row));
  };
  FilterSpec spec = wanted;
  if (wanted.kind == Kind::counting) {
    for (const std::uint32_t bits : kCounterBits) {
      spec.counter_bits = bits;
      if (wanted.counter_bits.value_or(bits) == bits)
        add(counting_layout(bits), fmt::format("{} bits", bits), spec);
    }
  } else if (wanted.kind == Kind::frozen) {
    if (!wanted.capacity)
      throw PlanError(ErrorCode::invalid_argument, PlanField::capacity,
                      "{capacity} is missing: how many different keys there are");
    add(Layout::standard, "fuse", spec);
  } else {
    for (const Layout layout : kOfferedLayouts) {
      spec.layout = layout;
      if (wanted.kind == Kind::window && layout == Layout::standard && !wanted.layout) continue;
      if (wanted.layout.value_or(layout) == layout)
        add(layout, std::string(to_string(layout)), spec);
    }
  }
  if (std::none_of(rows.begin(), rows.end(), [](const Row& row) { return row.plan; }))
    throw Error(ErrorCode::invalid_argument, rows.front().refusal);
  return rows;
}

std::optional<Layout> default_layout(const FilterSpec& spec) {
  try {
    return totals(plan(spec)).layout;
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The default's row, or the first that has a plan.
const Row& row_in_use(const std::vector<Row>& rows, std::optional<Layout> best) {
  const Row* used = nullptr;
  for (const Row& row : rows)
    if (row.plan && (used == nullptr || row.layout == best)) used = &row;
  return *used;
}

// ---- what only some kinds have --------------------------------------------------------------

// A scalable filter after it has come to some number of sub-filters, all of them full.
struct Grown {
  Plan newest;
  std::uint64_t capacity, bytes;
  double fpr;
};

// It grows as far as it can.
std::vector<Grown> growth_of(const ScalablePlan& plan) {
  std::vector<Grown> all;
  Grown now{{}, 0, 0, 0};
  for (const Plan& next : sub_filter_plans(plan, std::numeric_limits<double>::infinity())) {
    now.newest = next;
    now.capacity += next.capacity;
    now.bytes += next.bytes();
    now.fpr += (1 - now.fpr) * predicted_fpr(next, static_cast<double>(next.capacity));
    all.push_back(now);
  }
  return all;
}

double bits_per_key(const Grown& grown) {
  return 8 * static_cast<double>(grown.bytes) / static_cast<double>(grown.capacity);
}

std::string growth_text(const Row& row, const ScalablePlan& plan) {
  constexpr std::uint64_t kFarEnough = 1000;  // times the first capacity
  constexpr std::size_t kMostRows = 12;
  const std::string factor =
      plan.growth == 1 ? "as large as" : fmt::format("{} times as large as", plan.growth);
  std::string out = fmt::format(
      "\nAs it grows with layout {}, each sub-filter {} the one before, at most {} in all:\n"
      "{:<10} {:>17} {:>11} {:>6} {:>9} {:>15} {:>9}\n",
      row.name, factor, fpr_text(plan.fpr), "sub-filters", "bits", "bytes", "hashes", "bits/key",
      "keys", "fpr");
  const std::vector<Grown> all = growth_of(plan);
  for (std::size_t i = 0; i < std::min(all.size(), kMostRows); ++i) {
    const Grown& grown = all[i];
    out += fmt::format("{:<11} {:>16} {:>11} {:>6} {:>9.2f} {:>15} {:>9}\n", i + 1,
                       group_digits(grown.bytes * 8), bytes_text(grown.bytes), grown.newest.hashes,
                       bits_per_key(grown), group_digits(grown.capacity), fpr_text(grown.fpr));
    if (grown.capacity / kFarEnough >= plan.first.capacity) break;
  }
  return out + fmt::format("It can grow to {} sub-filters and {} keys.\n", all.size(),
                           group_digits(all.back().capacity));
}

std::string window_row_text(const WindowPlan& plan) {
  const std::string whole = length_text(plan.unit, plan.window),
                    slice = length_text(plan.unit, plan.slice_length());
  return fmt::format(
      "\nA window of {} in {} slice{} of {}.\n"
      "A key is found for {} after it was added, and forgotten at most {} later.\n"
      "Memory: {} slices of {}, one for the newest keys while the oldest are still needed.\n",
      whole, plan.slices, plan.slices == 1 ? "" : "s", slice, whole, slice, plan.ring_slices(),
      bytes_text(plan.slice.bytes()));
}

std::string saturation_text(const std::vector<Row>& rows) {
  std::string out = "\nSaturated counters at capacity, by how often each key is added:\n";
  out += fmt::format("{:<10}", "counter");
  for (const std::uint32_t times : kTimes)
    out += fmt::format(" {:>10}", times == 1 ? "once" : fmt::format("{} times", times));
  for (const Row& row : rows) {
    if (!row.plan) continue;
    const auto& plan = std::get<CountingPlan>(*row.plan);
    out += fmt::format("\n{:<10}", row.name);
    for (const std::uint32_t times : kTimes) {
      const double share =
          predicted_saturation(plan, static_cast<double>(plan.plan.capacity), times);
      const bool none = share * static_cast<double>(plan.counters()) < 0.001;
      out += fmt::format(" {:>10}", none ? "none" : fpr_text(share));
    }
  }
  return out + "\n";
}

// The memory of counters at a rate: "-" above the largest filter, in brackets if a plan for it is
// refused, marked if it is what a plan chooses.
std::string bits_per_key_text(std::uint64_t capacity, double rate, Layout layout) {
  const double bits = counting_bits_per_key(capacity, rate, layout);
  if (!std::isfinite(bits)) return "-";
  const std::string text = bits < 100
                               ? fmt::format("{:.1f}", bits)
                               : group_digits(static_cast<std::uint64_t>(std::llround(bits)));
  if (bits > static_cast<double>(kMostCountingBitsPerKey) &&
      bits * static_cast<double>(capacity) > static_cast<double>(kSmallCountingBits))
    return "(" + text + ")";
  return layout == counting_layout(counter_bits(layout), rate) ? "*" + text : text;
}

// The memory of counters at other rates, with one block per key and with two.
std::string rates_text(const std::vector<Row>& rows, std::uint64_t capacity) {
  std::string out = fmt::format("\nBits per key of {} keys, by the false-positive rate:\n{:<16}",
                                group_digits(capacity), "counter");
  for (const double rate : kRates) out += fmt::format(" {:>9}", fpr_text(rate));
  for (const Row& row : rows) {
    const std::uint32_t width = counter_bits(row.layout);
    for (const double rate : {kMaxFpr, kMinFpr}) {
      const Layout layout = counting_layout(width, rate);
      out += fmt::format("\n{:<16}", row.name + (rate == kMaxFpr ? ", 1 block" : ", 2 blocks"));
      for (const double at : kRates)
        out += fmt::format(" {:>9}", bits_per_key_text(capacity, at, layout));
    }
  }
  return out + fmt::format(
                   "\n*: used at this rate; (): refused, like all above {}: a set of the keys "
                   "themselves is smaller\n",
                   group_digits(kMostCountingBitsPerKey));
}

// How long a look-up waits for memory: its cells are fetched together, and so are the key's bits in the delta.
std::uint32_t lines_of_a_look_up(const FrozenPlan& plan) {
  if (!plan.delta) return plan.array.hashes;
  return plan.array.hashes + (plan.delta->layout == Layout::blocked    ? 1
                              : plan.delta->layout == Layout::blocked2 ? 2
                                                                       : plan.delta->hashes);
}

std::string building_text(const FrozenPlan& plan) {
  const std::uint64_t spooled = plan.spool_bytes();
  const std::string later =
      plan.delta ? fmt::format("{} may be added later, in {}: {} of the rate is theirs",
                               counted(plan.delta->capacity, "key"),
                               bytes_text(plan.delta->bytes()), fpr_text(plan.delta->fpr))
                 : "no key can be added later";
  return fmt::format(
      "\na look-up fetches {} cache lines at once, where blocked fetches 1 and blocked2 fetches 2\n"
      "building its file needs {} of memory on one core{}; {}\n",
      lines_of_a_look_up(plan), bytes_text(plan.building_bytes()),
      spooled == 0 ? "" : fmt::format(", and {} beside the file", bytes_text(spooled)), later);
}

std::string kind_text(const std::vector<Row>& rows, const Row& used) {
  if (const auto* scalable = std::get_if<ScalablePlan>(&*used.plan))
    return growth_text(used, *scalable);
  if (const auto* window = std::get_if<WindowPlan>(&*used.plan)) return window_row_text(*window);
  if (std::holds_alternative<CountingPlan>(*used.plan))
    return saturation_text(rows) + rates_text(rows, totals(*used.plan).capacity);
  if (const auto* frozen = std::get_if<FrozenPlan>(&*used.plan)) return building_text(*frozen);
  return {};
}

Json growth_json(const ScalablePlan& plan) {
  Json json = Json::array();
  for (const Grown& grown : growth_of(plan)) {
    Json one = plan_json(grown.newest);
    one["total"] = {{"capacity", grown.capacity},
                    {"bytes", grown.bytes},
                    {"bits_per_key", bits_per_key(grown)},
                    {"fpr", grown.fpr}};
    json.push_back(one);
  }
  return json;
}

void add_kind(Json& json, const FilterPlan& plan) {
  if (const auto* counting = std::get_if<CountingPlan>(&plan)) {
    json["counters"] = counting->counters();
    json["counter_bits"] = counter_bits(counting->plan.layout);
    json["saturated_at"] = Json::object();
    for (const std::uint32_t times : kTimes)
      json["saturated_at"][fmt::format("{}x", times)] =
          predicted_saturation(*counting, static_cast<double>(counting->plan.capacity), times);
  } else if (const auto* scalable = std::get_if<ScalablePlan>(&plan)) {
    json["growth"] = scalable->growth;
    json["tightening"] = scalable->tightening;
    json["sub_filters"] = growth_json(*scalable);
  } else if (const auto* window = std::get_if<WindowPlan>(&plan)) {
    json["unit"] = to_string(window->unit);
    json["window"] = window->window;
    json["slices"] = window->slices;
    json["slice_length"] = window->slice_length();
    json["slice"] = plan_json(window->slice);
  } else if (const auto* frozen = std::get_if<FrozenPlan>(&plan)) {
    json["fingerprint_bits"] = frozen->fingerprint_bits;
    json["partitions"] = frozen->partitions;
    json["narrow_partitions"] = frozen->narrow_partitions;
    json["building_bytes"] = frozen->building_bytes();
    json["building_file_bytes"] = frozen->spool_bytes();
    if (frozen->delta) json["delta"] = plan_json(*frozen->delta);
  }
}

// ---- all rows -------------------------------------------------------------------------------

std::string row_text(const Row& row, bool is_default) {
  const std::string name = fmt::format("{}{}", row.name, is_default ? " *" : "");
  if (!row.plan) return fmt::format("{:<10} {}\n", name, row.refusal);
  const PlanTotals all = totals(*row.plan);
  std::string text = fmt::format("{:<10} {:>17} {:>11} {:>6} {:>9.2f} {:>15}", name,
                                 group_digits(all.bytes * 8), bytes_text(all.bytes), all.hashes,
                                 all.bits_per_key(), group_digits(all.capacity));
  for (const int load : kLoads) {
    const auto fpr = fpr_at(*row.plan, load);
    text += fmt::format(" {:>9}", fpr ? fpr_text(*fpr) : "-");
  }
  return text + "\n";
}

std::string rows_text(const std::vector<Row>& rows, std::optional<Layout> best) {
  const Row& used = row_in_use(rows, best);
  const PlanTotals all = totals(*used.plan);
  const bool counts = all.kind == Kind::counting;
  std::string out = fmt::format("{:<10} {:>17} {:>11} {:>6} {:>9} {:>15} {:>9} {:>9} {:>9} {:>9}\n",
                                counts ? "counter" : "layout", "bits", "bytes", "hashes",
                                "bits/key", "keys", "fpr", "at 2x", "at 3x", "at 4x");
  for (const Row& row : rows) out += row_text(row, best == row.layout);
  if (rows.size() > 1 && best)
    out += counts ? "* the counters used unless --counter-bits says otherwise\n"
                  : "* the layout used unless --layout says otherwise\n";
  return out +
         fmt::format("No filter of any kind takes fewer than {:.2f} bits per key at {}.\n",
                     lower_bound_bits(all.fpr), fpr_text(all.fpr)) +
         kind_text(rows, used);
}

Json row_json(const Row& row) {
  if (!row.plan) return {{"layout", to_string(row.layout)}, {"error", row.refusal}};
  const PlanTotals all = totals(*row.plan);
  Json json = {{"layout", all.kind == Kind::frozen ? "fuse" : to_string(all.layout)},
               {"bits", all.bytes * 8},
               {"bytes", all.bytes},
               {"hashes", all.hashes},
               {"capacity", all.capacity},
               {"fpr", all.fpr},
               {"bits_per_key", all.bits_per_key()},
               {"lower_bound_bits_per_key", lower_bound_bits(all.fpr)},
               {"fpr_at", Json::object()}};
  for (const int load : kLoads)
    if (const auto fpr = fpr_at(*row.plan, load)) json["fpr_at"][fmt::format("{}x", load)] = *fpr;
  add_kind(json, *row.plan);
  return json;
}

Json rows_json(const std::vector<Row>& rows, Kind kind, std::optional<Layout> best) {
  Json layouts = Json::array();
  for (const Row& row : rows) {
    layouts.push_back(row_json(row));
    layouts.back()["default"] = best == row.layout;
  }
  return {{"kind", to_string(kind)}, {"layouts", layouts}};
}

}  // namespace

int run_plan(const Options& options) {
  if (options.web) {
    write_page(options.files.empty() ? "planner.html" : options.files.front(), options.force);
  } else if (options.table && options.json) {
    print_json(table_json(options.spec.layout));
  } else if (options.table) {
    print_result(table_text(options.spec.layout));
  } else {
    const FilterSpec spec = options.spec;
    const std::vector<Row> rows = make_rows(spec);
    const std::optional<Layout> best = default_layout(spec);
    if (options.json) {
      print_json(rows_json(rows, spec.kind.value_or(Kind::plain), best));
    } else {
      std::string text = rows_text(rows, best);
      if (options.plot) text.append("\n").append(fpr_plot(*row_in_use(rows, best).plan));
      print_result(text);
    }
  }
  return kExitFound;
}

}  // namespace bloomery::cli
