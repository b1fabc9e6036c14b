// The cost of a window of 8 slices: the ring with its slices interleaved and apart, and two forms of
// the age-partitioned filter, the alternative; bits per key, measured rate, and times.
//
// All hold the same window at its fullest, just before the oldest slice is forgotten. The
// age-partitioned ones get as many bits as they need for the requested rate; their calls are inlined,
// those of the ring go through the table of kernels.
#include <bloomery/filter.hpp>
#include <bloomery/window_filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <memory>

#include "age_partitioned.hpp"
#include "bare_loop.hpp"
#include "contest.hpp"
#include "filter/sub_filters.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

constexpr std::uint32_t kSlices = 8;
// How many slices of keys fill each filter: the ring twice, and all K + L slices.
constexpr std::uint64_t kFilling = 18;
using Hashes = std::span<const Hash128>;

std::vector<Hash128> hashes(std::uint64_t first, std::uint64_t count) {
  std::vector<Hash128> out(count);
  for (std::uint64_t i = 0; i < count; ++i) out[i] = Hasher()(random_key(first + i));
  return out;
}

// One implementation of a window; it runs its own loops.
struct Way {
  std::string name;
  double bits_a_key = 0;
  std::function<void(Hashes)> insert;
  std::function<std::uint64_t(Hashes)> contains_each, contains_bulk;
  double fpr = 0;
};

template <class Filter>
std::uint64_t ask_each(const Filter& filter, Hashes keys) {
  return each(keys, [&](Hash128 hash) { return filter.contains(hash); });
}

// ---- the ring, interleaved and apart ---------------------------------------------------------------

WindowPlan ring_plan(std::uint64_t window, double fpr, Layout layout) {
  return window_plan(WindowUnit::insertions, window, window, fpr, kSlices, layout);
}

Way ring(const WindowPlan& plan) {
  const auto filter = std::make_shared<WindowFilter>(plan);
  return {fmt::format("ring of {}, k = {}", to_string(plan.slice.layout), plan.slice.hashes),
          static_cast<double>(plan.bytes()) * 8 / static_cast<double>(plan.window),
          [filter](Hashes keys) { filter->insert_hashes(keys); },
          [filter](Hashes keys) {
            return each(keys, [&](Hash128 hash) { return filter->may_contain_hash(hash); });
          },
          [filter](Hashes keys) -> std::uint64_t { return filter->may_contain_hashes(keys); }};
}

// The same slices as separate filters. Inserts are not measured: it holds the last nine slices of the
// keys that fill a window twice.
Way ring_apart(const WindowPlan& plan) {
  struct RingSlices {
    std::vector<std::unique_ptr<Filter>> filters;
    std::vector<const detail::BitArray*> arrays;
    [[nodiscard]] detail::SubFilters sub_filters() const {
      return {&detail::kernel_for(filters[0]->plan().layout), arrays};
    }
  };
  const auto ring_slices = std::make_shared<RingSlices>();
  for (std::uint32_t i = 0; i < plan.ring_slices(); ++i) {
    ring_slices->filters.push_back(std::make_unique<Filter>(plan.slice));
    ring_slices->filters.back()->insert_hashes(
        hashes((plan.ring_slices() + i) * plan.slice_length(), plan.slice_length()));
    ring_slices->arrays.push_back(&ring_slices->filters.back()->bit_array());
  }
  return {"the same, slices apart",
          static_cast<double>(plan.bytes()) * 8 / static_cast<double>(plan.window), nullptr,
          [ring_slices](Hashes keys) {
            std::uint64_t found = 0;
            const detail::SubFilters sub_filters = ring_slices->sub_filters();
            for (const Hash128 hash : keys)
              found += detail::may_contain_in_any_one(sub_filters, hash) ? 1 : 0;
            return found;
          },
          [ring_slices](Hashes keys) -> std::uint64_t {
            return detail::may_contain_in_any(ring_slices->sub_filters(), keys, nullptr);
          }};
}

// ---- the age-partitioned ones ---------------------------------------------------------------------

template <class Filter>
void insert_ahead(Filter& filter, Hashes keys) {
  constexpr std::size_t kAhead = 64;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + kAhead < keys.size()) {
      if constexpr (requires { filter.prefetch_insert(keys[i]); })
        filter.prefetch_insert(keys[i + kAhead]);
      else
        filter.prefetch(keys[i + kAhead]);
    }
    filter.insert(keys[i]);
  }
}

template <class Filter>
std::uint64_t ask_ahead(const Filter& filter, Hashes keys) {
  constexpr std::size_t kAhead = 128;
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (i + kAhead < keys.size()) filter.prefetch(keys[i + kAhead]);
    found += filter.contains(keys[i]) ? 1 : 0;
  }
  return found;
}

// Its rate at these bits per key, from the bits set in a small filter.
template <class Filter>
double fpr_at(double bits_a_key, Hashes keys) {
  const std::uint64_t window = keys.size() * kSlices / kFilling;
  Filter filter(static_cast<std::uint64_t>(bits_a_key * static_cast<double>(window)), window);
  insert_ahead(filter, keys);
  return filter.implied_fpr();
}

template <class Filter>
double bits_for(double fpr) {
  const auto keys = hashes(0, 50'000 * kFilling);
  double low = 5, high = 200;
  for (int i = 0; i < 12; ++i) {
    const double middle = (low + high) / 2;
    (fpr_at<Filter>(middle, keys) > fpr ? low : high) = middle;
  }
  return high;
}

template <class Filter>
Way age_partitioned(const std::string& name, std::uint64_t window, double fpr) {
  const auto bits = bits_for<Filter>(fpr) * static_cast<double>(window);
  const auto filter = std::make_shared<Filter>(static_cast<std::uint64_t>(bits), window);
  return {name, static_cast<double>(filter->bits()) / static_cast<double>(window),
          [filter](Hashes keys) { insert_ahead(*filter, keys); },
          [filter](Hashes keys) { return ask_each(*filter, keys); },
          [filter](Hashes keys) { return ask_ahead(*filter, keys); }};
}

// The form with the fewest bits among those with at most sixteen slices.
std::vector<Way> all_ways(std::uint64_t window, double fpr) {
  const WindowPlan block = ring_plan(window, fpr, Layout::blocked);
  std::vector<Way> ways = {ring(block), ring_apart(block),
                           ring(ring_plan(window, fpr, Layout::blocked2))};
  ways.push_back(age_partitioned<AgeBlocked<8, kSlices>>("age-partitioned, one cache line, k = 8",
                                                         window, fpr));
  if (fpr >= 0.005)
    ways.push_back(
        age_partitioned<AgeStandard<7, kSlices>>("age-partitioned, standard, k = 7", window, fpr));
  else
    ways.push_back(
        age_partitioned<AgeStandard<9, kSlices>>("age-partitioned, standard, k = 9", window, fpr));
  return ways;
}

// ---- what is measured -----------------------------------------------------------------------------

// Adds the bare loop over as much memory as the first filter has, at three depths of prefetch.
void add_bare(Contest& contest, const detail::BitMemory& memory,
              std::span<const std::uint64_t> keys) {
  const auto add = [&]<std::size_t InFlight>() {
    contest.add({"bare", keys.size(),
                 [&memory, keys] { return bare_loop<InFlight, 1>(memory.bytes(), keys); }});
  };
  add.template operator()<32>();
  add.template operator()<64>();
  add.template operator()<128>();
}

void bench_window(Report& report, std::uint64_t window, double fpr, std::uint64_t asked,
                  unsigned repetitions, bool in_memory, bool fastest) {
  const auto time_of = [fastest](const Timing& timing) {
    return fastest ? timing.fastest() : timing.median();
  };
  const std::string section = fmt::format("the last {} keys at {}, {} slices, in {}", window,
                                          percent(fpr), kSlices, in_memory ? "memory" : "cache");
  report.heading(section);
  window = window / kSlices * kSlices;
  std::vector<Way> ways = all_ways(window, fpr);
  const std::uint64_t filled = window / kSlices * kFilling;
  for (std::uint64_t done = 0; done < filled; done += 1 << 20) {
    const auto part = hashes(done, std::min<std::uint64_t>(1 << 20, filled - done));
    for (const Way& way : ways)
      if (way.insert) way.insert(part);
  }
  std::vector<Hash128> present(asked);
  for (std::uint64_t i = 0; i < asked; ++i)
    present[i] = Hasher()(random_key(filled - window + random_key(i) % window));
  constexpr std::uint64_t kAbsent = std::uint64_t{1} << 40;
  const auto absent = hashes(kAbsent, asked);
  for (Way& way : ways) {
    std::uint64_t probed = 0, found = 0;
    for (; found < 20'000; probed += 1 << 20)
      found += way.contains_bulk(hashes(2 * kAbsent + probed, 1 << 20));
    way.fpr = static_cast<double>(found) / static_cast<double>(probed);
  }

  Contest look_ups, inserts;
  for (const Way& way : ways) {
    look_ups.add({way.name, asked, [&] { return way.contains_each(present); }});
    look_ups.add({way.name, asked, [&] { return way.contains_each(absent); }});
    look_ups.add({way.name, asked, [&] { return way.contains_bulk(present); }});
    look_ups.add({way.name, asked, [&] { return way.contains_bulk(absent); }});
  }
  const detail::BitMemory memory(
      static_cast<std::size_t>(ways[0].bits_a_key * static_cast<double>(window) / 512) * 64);
  std::fill(memory.bytes().begin(), memory.bytes().end(), std::byte{1});
  const auto random =
      random_keys(0, asked * kSlices);  // for runs as long as those that it is compared with
  add_bare(look_ups, memory, random);
  const auto times = look_ups.run(repetitions);
  // Each insert takes new keys; slices end as they do in use.
  std::uint64_t next = filled;
  std::vector<Hash128> fresh;
  const auto renew = [&] { fresh = hashes(next += asked, asked); };
  for (const Way& way : ways)
    inserts.add({way.name, asked,
                 [&]() -> std::uint64_t {
                   if (way.insert) way.insert(fresh);
                   return 0;
                 },
                 renew});
  const auto insert_times = inserts.run(repetitions);

  Table table(
      {"ns per key", "bits per key", "fpr", "insert bulk", "hit", "miss", "bulk hit", "bulk miss"});
  for (std::size_t i = 0; i < ways.size(); ++i) {
    std::vector<std::string> counters = {
        ways[i].name, fmt::format("{:.2f}", ways[i].bits_a_key),
        fmt::format("{:.3f} %", ways[i].fpr * 100),
        ways[i].insert ? fmt::format("{:.2f}", time_of(insert_times[i])) : ""};
    report.number(section, ways[i].name + ": bits per key", ways[i].bits_a_key);
    report.number(section, ways[i].name + ": rate", ways[i].fpr);
    report.number(section, ways[i].name + ": bulk insert", time_of(insert_times[i]));
    constexpr const char* kAsked[] = {"hit", "miss", "bulk hit", "bulk miss"};
    for (std::size_t j = 0; j < 4; ++j) {
      counters.push_back(fmt::format("{:.2f}", time_of(times[i * 4 + j])));
      report.number(section, ways[i].name + ": " + kAsked[j], time_of(times[i * 4 + j]));
    }
    table.row(counters);
  }
  table.print();
  double bare = 1e300;
  for (std::size_t i = ways.size() * 4; i < times.size(); ++i)
    bare = std::min(bare, time_of(times[i]));
  fmt::print("the bare loop: {:.2f} ns per block; {} blocks of it {:.2f}\n", bare, kSlices,
             bare * kSlices);
  report.number(section, "bare block", bare);
  if (!in_memory) return;
  report.at_most(section + ": bulk hit over that of 8 blocks", time_of(times[2]) / (bare * kSlices),
                 1);
  report.at_most(section + ": bulk miss over that of 8 blocks",
                 time_of(times[3]) / (bare * kSlices), 1);
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery;
  std::uint64_t keys = 50'000'000;
  std::uint64_t cached_keys = 400'000;
  unsigned repetitions = 5;
  std::vector<double> fprs = {0.01, 0.001};
  bool fastest = false;
  std::string json;
  CLI::App app{"What a window costs"};
  app.add_option("--keys", keys, "keys of a window in memory")->capture_default_str();
  app.add_option("--cached-keys", cached_keys, "keys of a window in cache")->capture_default_str();
  app.add_option("--rates", fprs)->capture_default_str();
  app.add_option("--repetitions", repetitions)->capture_default_str();
  app.add_flag("--fastest", fastest, "report the fastest repetition, not the median");
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  bench::Report report("window_bench");
  for (const double fpr : fprs) {
    bench::bench_window(report, keys, fpr, 200'000, repetitions, true, fastest);
    bench::bench_window(report, cached_keys, fpr, 200'000, repetitions * 5, false, fastest);
  }
  report.finish(json);
}
