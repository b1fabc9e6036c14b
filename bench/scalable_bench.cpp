// What growth costs: bits per key for each tightening ratio, look-ups against the number of sub-filters,
// and filling.
//
// Every filter of the second part holds the same keys: one was planned for all of them, the others
// began with a tenth, a hundredth, a thousandth of that capacity and grew. All are completely full,
// which makes a look-up take longest. Ratios are relative to the plain filter of the same capacity
// and rate, in the same run. The time is processor time.
//
// The third part fills filters as a load by the tool does: from hashes, in batches, with answers.
#include <bloomery/filter.hpp>
#include <bloomery/scalable_filter.hpp>
#include <bloomery/window_filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "contest.hpp"
#include "keys.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

constexpr std::array kFactors = {1U, 10U, 100U, 1000U};

// ---- bits per key ------------------------------------------------------------------------------

struct Grown {
  double bits_a_key = 0;
  unsigned sub_filters = 0;
};

// All sub-filters of a filter that has grown to `factor` times its first capacity.
Grown grow_to(const ScalablePlan& plan, double factor) {
  double capacity = 0, bits = 0;
  const double wanted = factor * static_cast<double>(plan.first.capacity);
  Grown grown;
  for (; capacity < wanted; ++grown.sub_filters) {
    const Plan sub_filter = sub_filter_plan(plan, grown.sub_filters);
    capacity += static_cast<double>(sub_filter.capacity);
    bits += static_cast<double>(sub_filter.bits);
  }
  grown.bits_a_key = bits / capacity;
  return grown;
}

void bench_sizes(Report& report, double fpr, std::uint32_t growth) {
  constexpr std::array kRatios = {0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95};
  constexpr std::uint64_t kFirst = 100'000;
  const std::string section =
      fmt::format("bits per key, all sub-filters full, {}, growth {}", percent(fpr), growth);
  report.heading(section);
  std::vector<std::string> headings = {"tightening"};
  for (const unsigned factor : kFactors)
    headings.push_back(fmt::format(
        "{}x, {} sub-filters", factor,
        grow_to(scalable_plan(kFirst, fpr, growth, kDefaultTightening), factor).sub_filters));
  Table table(headings);
  for (const double ratio : kRatios) {
    const ScalablePlan plan = scalable_plan(kFirst, fpr, growth, ratio);
    std::vector<std::string> counters = {fmt::format("{:g}", ratio)};
    for (const unsigned factor : kFactors) {
      const double bits = grow_to(plan, factor).bits_a_key;
      counters.push_back(fmt::format("{:.2f}", bits));
      report.number(section, fmt::format("{:g} at {}x", ratio, factor), bits);
    }
    table.row(counters);
  }
  std::vector<std::string> counters = {"plain, of that size"};
  for (const unsigned factor : kFactors)
    counters.push_back(fmt::format("{:.2f}", plan(kFirst * factor, fpr).bits_per_key()));
  table.row(counters);
  table.print();
}

// The worst moments: a filter has just grown, and its newest sub-filter is empty.
void bench_just_grown(Report& report, double fpr, const std::vector<std::uint32_t>& growths) {
  constexpr std::array kTimes = {1U, 2U, 3U, 4U};
  const std::string section =
      fmt::format("just grown, times a plain filter of the keys that are in it, {}", percent(fpr));
  report.heading(section);
  std::vector<std::string> headings = {"growth"};
  for (const unsigned times : kTimes) headings.push_back(fmt::format("grown {} times", times));
  Table table(headings);
  for (const std::uint32_t growth : growths) {
    const ScalablePlan plan = scalable_plan(100'000, fpr, growth);
    std::vector<std::string> row = {fmt::format("{}", growth)};
    std::uint64_t keys = 0, bytes = plan.first.bytes();
    for (const unsigned times : kTimes) {
      keys += sub_filter_plan(plan, times - 1).capacity;
      bytes += sub_filter_plan(plan, times).bytes();
      const double ratio =
          static_cast<double>(bytes) / static_cast<double>(bloomery::plan(keys + 1, fpr).bytes());
      row.push_back(fmt::format("{:.1f}", ratio));
      report.number(section, fmt::format("growth {}, {} times", growth, times), ratio);
    }
    table.row(row);
  }
  table.print();
}

// ---- look-ups --------------------------------------------------------------------------------

template <class Filters>
std::function<std::uint64_t()> looking_up(const Filters& filter, Keys keys, bool bulk) {
  if (bulk) return [&filter, keys]() -> std::uint64_t { return filter.may_contain_many(keys); };
  return [&filter, keys] {
    return each(keys, [&](std::uint64_t key) { return filter.may_contain(key); });
  };
}

// The smallest first capacity with which the sub-filters that `factor` needs hold `keys`.
ScalablePlan plan_for(std::uint64_t keys, double fpr, std::uint32_t growth, unsigned factor) {
  std::uint64_t first_capacities = 1, sub_filter = 1;
  while (first_capacities < factor) first_capacities += sub_filter *= growth;
  return scalable_plan((keys + first_capacities - 1) / first_capacities, fpr, growth);
}

void bench_lookups(Report& report, std::uint64_t count, double fpr, std::uint32_t growth,
                   std::uint64_t asked, unsigned repetitions) {
  const std::string section =
      fmt::format("look-ups, {} keys at {}, growth {}", count, percent(fpr), growth);
  Filter plain(plan(count, fpr));
  std::vector<ScalableFilter> grown;
  for (const unsigned factor : kFactors) grown.emplace_back(plan_for(count, fpr, growth, factor));
  constexpr std::uint64_t kPart = 1 << 16;
  for (std::uint64_t done = 0; done < count; done += kPart) {
    const auto keys = random_keys(done, std::min(kPart, count - done));
    plain.insert_many(keys);
    for (ScalableFilter& filter : grown) filter.insert_many(keys);
  }
  // Present keys are drawn from all inserted keys, so from each sub-filter in proportion.
  const auto absent = random_keys(count, asked);
  std::vector<std::uint64_t> present(asked), half(asked);
  for (std::uint64_t i = 0; i < asked; ++i) {
    present[i] = random_key(random_key(count + asked + i) % count);
    half[i] = i % 2 == random_key(i) % 2 ? present[i] : absent[i];
  }

  struct Column {
    const char* name;
    Keys keys;
    bool bulk;
  };
  const std::array columns = {
      Column{"bulk absent", absent, true},   Column{"bulk half", half, true},
      Column{"bulk present", present, true}, Column{"absent", absent, false},
      Column{"half", half, false},           Column{"present", present, false}};
  Contest contest(Clock::processor);
  std::vector<std::string> rows = {"plain"};
  for (std::size_t i = 0; i < grown.size(); ++i)
    rows.push_back(fmt::format("{}x, {} sub-filters", kFactors[i], grown[i].sub_filters().size()));
  for (const Column& column : columns)
    contest.add({"", asked, looking_up(plain, column.keys, column.bulk)});
  for (const ScalableFilter& filter : grown)
    for (const Column& column : columns)
      contest.add({"", asked, looking_up(filter, column.keys, column.bulk)});
  const auto timings = contest.run(repetitions);

  report.heading(section + ", nanoseconds per key (times the plain filter)");
  std::vector<std::string> headings = {"growth", "MiB"};
  for (const Column& column : columns) headings.emplace_back(column.name);
  Table table(headings);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const double bits = static_cast<double>(row == 0 ? plain.plan().bits : grown[row - 1].bits());
    std::vector<std::string> counters = {rows[row], fmt::format("{:.1f}", bits / (8 << 20))};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const double time = timings[row * columns.size() + i].median();
      const double ratio = time / timings[i].median();
      counters.push_back(row == 0 ? fmt::format("{:.2f}", time)
                                  : fmt::format("{:.2f} ({:.1f})", time, ratio));
      report.number(section, rows[row] + ": " + columns[i].name, time);
    }
    table.row(counters);
  }
  table.print();
}

// ---- loads -----------------------------------------------------------------------------------

// A new filter for each run, filled with all hashes.
template <class F, class Make>
Case filling(std::string name, std::span<const Hash128> hashes, Make make) {
  auto filter = std::make_shared<std::optional<F>>();
  const auto fill = [filter, hashes] {
    constexpr std::size_t kBatch = 8192;
    std::array<bool, kBatch> fresh;
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < hashes.size(); i += kBatch) {
      const auto batch = hashes.subspan(i, std::min(kBatch, hashes.size() - i));
      count += (*filter)->insert_hashes(batch, std::span(fresh).first(batch.size()));
    }
    return count;
  };
  return {std::move(name), hashes.size(), fill, [filter, make] { filter->emplace(make()); }};
}

void bench_loads(Report& report, std::uint64_t count, double fpr, unsigned repetitions) {
  const Hasher hasher;
  std::vector<Hash128> hashes;
  for (std::uint64_t i = 0; i < count; ++i) hashes.push_back(hasher(random_key(i)));
  Contest contest(Clock::processor);
  contest.add(filling<Filter>("plain", hashes, [=] { return Filter(plan(count, fpr)); }));
  contest.add(filling<WindowFilter>("window", hashes, [=] {
    return WindowFilter(window_plan(WindowUnit::insertions, count, count, fpr));
  }));
  contest.add(filling<ScalableFilter>("scalable from 1,000", hashes,
                                      [=] { return ScalableFilter(scalable_plan(1000, fpr)); }));
  const std::string section =
      fmt::format("filling from hashes, with answers, {} keys at {}", count, percent(fpr));
  report.heading(section);
  Table table({"", "ns per key"});
  for (const Timing& timing : contest.run(repetitions)) {
    table.row({timing.name, fmt::format("{:.2f}", timing.median())});
    report.number(section, timing.name, timing.median());
  }
  table.print();
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery;
  std::vector<std::uint64_t> counts = {100'000'000, 1'000'000};
  std::vector<std::uint32_t> growths = {2, 4, 8};
  std::uint64_t asked = 5'000'000;
  unsigned repetitions = 5;
  double fpr = 0.001;
  std::vector<std::string> sections = {"sizes", "lookups", "loads"};
  std::string json;
  CLI::App app{"What growth costs"};
  app.add_option("--keys", counts, "final capacities")->capture_default_str();
  app.add_option("--growth", growths)->capture_default_str();
  app.add_option("--asked", asked, "keys of one timing")->capture_default_str();
  app.add_option("--fpr", fpr)->capture_default_str();
  app.add_option("--repetitions", repetitions)->capture_default_str();
  app.add_option("--sections", sections)->check(CLI::IsMember(sections))->capture_default_str();
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  bench::Report report("scalable_bench");
  for (const std::string& section : sections) {
    if (section == "sizes")
      for (const double each : {0.01, 0.001, 1e-6}) {
        for (const std::uint32_t growth : {2U, 4U, 8U}) bench::bench_sizes(report, each, growth);
        bench::bench_just_grown(report, each, growths);
      }
    if (section == "lookups")
      for (const std::uint64_t count : counts)
        for (const std::uint32_t growth : growths)
          bench::bench_lookups(report, count, fpr, growth, asked, repetitions);
    if (section == "loads") bench::bench_loads(report, 10'000'000, 0.01, repetitions);
  }
  report.finish(json);
}
