// The cost of a frozen filter: bits per key, building and look-ups; and that of a plain filter of the
// same false-positive rate, a bare loop that fetches three cache lines per key, the alternative designs,
// and fastfilter_cpp.
#include <bloomery/filter.hpp>
#include <bloomery/frozen_filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "contest.hpp"
#include "frozen_alternatives.hpp"
#include "keys.hpp"
#include "report.hpp"
#include "static_peer.hpp"

namespace bloomery::bench {
namespace {

constexpr std::size_t kAhead = 64;

template <class Work>
double seconds_of(Work work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class Filter>
std::uint64_t ask_each(const Filter& filter, Keys keys) {
  return each(keys, [&](std::uint64_t key) { return filter.may_contain(key); });
}

// Three cache lines, placed like those of a key: one anywhere, and one in each of the two segments after it.
std::uint64_t three_lines(std::span<const std::byte> memory, std::uint64_t segment, Keys keys) {
  struct Lines {
    std::uint64_t first, second, third;
  };
  std::array<Lines, kAhead> ring{};
  const std::uint64_t room = memory.size() - 3 * segment - 8;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < keys.size() + kAhead; ++i) {
    Lines& lines = ring[i % kAhead];
    if (i >= kAhead)
      sum += detail::load_cells(memory.data() + lines.first) ^
             detail::load_cells(memory.data() + lines.second) ^
             detail::load_cells(memory.data() + lines.third);
    if (i >= keys.size()) continue;
    const std::uint64_t first = detail::fast_range(keys[i], room);
    lines = {first, first + segment + keys[i] % segment,
             first + 2 * segment + (keys[i] >> 20) % segment};
    for (const std::uint64_t at : {lines.first, lines.second, lines.third})
      __builtin_prefetch(memory.data() + at);
  }
  return sum;
}

// Each key is prefetched kAhead keys before it is looked up.
template <class Filter>
std::uint64_t ask_ahead(const Filter& filter, Keys keys) {
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < keys.size() + kAhead; ++i) {
    if (i < keys.size()) filter.prefetch(keys[i]);
    if (i >= kAhead) found += filter.contains(keys[i - kAhead]) ? 1 : 0;
  }
  return found;
}

// Each thread that collects has a builder of its own.
FrozenBuilder collected(Keys keys, double fpr, unsigned threads) {
  std::vector<FrozenBuilder> builders;
  for (unsigned i = 0; i < threads; ++i) builders.emplace_back(fpr);
  {
    std::vector<std::jthread> all;
    for (std::size_t i = 0; i < threads; ++i)
      all.emplace_back([&, i] {
        const std::size_t first = keys.size() * i / threads;
        builders[i].insert_many(keys.subspan(first, keys.size() * (i + 1) / threads - first));
      });
  }
  for (unsigned i = 1; i < threads; ++i) builders.front().merge(std::move(builders[i]));
  return std::move(builders.front());
}

void bench_product(Report& report, std::uint64_t count, double fpr, std::uint64_t asked,
                   unsigned repetitions) {
  const std::string section = fmt::format("{} keys at {}", count, percent(fpr));
  report.heading(section);
  const auto keys = random_keys(0, count);
  Table building({"building", "ns per key"});
  double alone = 0;
  std::unique_ptr<FrozenFilter> frozen;
  for (const unsigned threads : {1U, 2U}) {
    const double seconds = seconds_of([&] {
      frozen = std::make_unique<FrozenFilter>(collected(keys, fpr, threads).build(threads));
    });
    const double per_key = seconds / static_cast<double>(count) * 1e9;
    building.row({fmt::format("{} thread{}", threads, threads == 1 ? "" : "s"),
                  fmt::format("{:.1f}", per_key)});
    report.number(section, fmt::format("building, {} threads", threads), per_key);
    if (threads == 1)
      alone = per_key, report.at_most(section + ": building, ns per key", per_key, 75);
    else
      report.at_least(section + ": building, one thread over two", alone / per_key, 1.7);
  }
  building.print();

  Filter plain(plan(count, fpr));
  plain.insert_many(keys);
  const auto hits = Keys(keys).last(std::min(asked, count));
  const auto misses = random_keys(count, asked);
  const auto memory =
      std::make_unique<detail::BitMemory>(static_cast<std::size_t>(frozen->plan().bytes()));
  std::fill(memory->bytes().begin(), memory->bytes().end(), std::byte{1});
  const std::uint64_t segment = std::min<std::uint64_t>(
      frozen->plan().bytes() / 16, (std::uint64_t{1} << 15) * frozen->plan().fingerprint_bits / 8);
  Contest contest;
  for (const bool hit : {true, false}) {
    const Keys ask = hit ? hits : Keys(misses);
    contest.add({"", ask.size(), [&, ask] { return ask_each(*frozen, ask); }});
    contest.add(
        {"", ask.size(), [&, ask]() -> std::uint64_t { return frozen->may_contain_many(ask); }});
    contest.add({"", ask.size(), [&, ask] { return ask_each(plain, ask); }});
    contest.add(
        {"", ask.size(), [&, ask]() -> std::uint64_t { return plain.may_contain_many(ask); }});
  }
  contest.add({"", misses.size(), [&] { return three_lines(memory->bytes(), segment, misses); }});
  const auto times = contest.run(repetitions);
  Table table({"ns per key", "bits per key", "fpr", "hit", "miss", "bulk hit", "bulk miss"});
  const auto row = [&](const std::string& name, double bits, std::uint64_t found,
                       std::size_t first) {
    table.row({name, fmt::format("{:.2f}", bits / static_cast<double>(count)),
               percent(static_cast<double>(found) / static_cast<double>(asked)),
               fmt::format("{:.1f}", times[first].median()),
               fmt::format("{:.1f}", times[first + 4].median()),
               fmt::format("{:.1f}", times[first + 1].median()),
               fmt::format("{:.1f}", times[first + 5].median())});
  };
  row("frozen", static_cast<double>(frozen->plan().array.bits), frozen->may_contain_many(misses),
      0);
  row("plain, " + std::string(to_string(plain.plan().layout)),
      static_cast<double>(plain.plan().bits), plain.may_contain_many(misses), 2);
  table.print();
  const double bare = times.back().median();
  fmt::print("the bare loop over three such cache lines: {:.1f} ns\n", bare);
  report.number(section, "bits per key", frozen->plan().array.bits_per_key());
  report.number(section, "bulk miss", times[5].median());
  report.number(section, "single miss", times[4].median());
  report.number(section, "bare loop", bare);
  report.at_most(section + ": bulk over the bare loop", times[5].median() / bare, 1.15);
}

// Calls with one key, at fingerprints of eight bits.
void bench_peers(Report& report, std::uint64_t count, std::uint64_t asked, unsigned repetitions) {
  const auto peers = fastfilter_peers();
  if (peers.empty()) return;
  const std::string section = fmt::format("{} keys beside fastfilter_cpp", count);
  report.heading(section);
  constexpr double kFpr = 1.0 / 256;
  const auto keys = random_keys(0, count), misses = random_keys(count, asked);
  const std::vector<std::uint64_t> hits(
      keys.end() - static_cast<std::ptrdiff_t>(std::min(asked, count)), keys.end());
  const auto times_of = [&](double seconds) { return seconds / static_cast<double>(count) * 1e9; };
  FrozenBuilder builder(kFpr);
  std::unique_ptr<FrozenFilter> frozen;
  std::vector<double> building = {times_of(seconds_of([&] {
    builder.insert_many(keys);
    frozen = std::make_unique<FrozenFilter>(builder.build(1));
  }))};
  Contest contest;
  contest.add({"", hits.size(), [&] { return ask_each(*frozen, hits); }});
  contest.add({"", misses.size(), [&] { return ask_each(*frozen, misses); }});
  for (const auto& peer : peers) {
    building.push_back(times_of(seconds_of([&] { peer->build(keys); })));
    contest.add({"", hits.size(), [&] { return peer->contains_each(hits); }});
    contest.add({"", misses.size(), [&] { return peer->contains_each(misses); }});
  }
  const auto times = contest.run(repetitions);
  Table table({"", "bits per key", "fpr", "building, ns", "hit, ns", "miss, ns"});
  const auto row = [&](std::size_t i, const std::string& name, double bits, std::uint64_t found) {
    table.row({name, fmt::format("{:.2f}", bits / static_cast<double>(count)),
               percent(static_cast<double>(found) / static_cast<double>(asked)),
               fmt::format("{:.1f}", building[i]), fmt::format("{:.1f}", times[2 * i].median()),
               fmt::format("{:.1f}", times[2 * i + 1].median())});
  };
  row(0, "frozen", static_cast<double>(frozen->plan().array.bits), ask_each(*frozen, misses));
  for (std::size_t i = 0; i < peers.size(); ++i)
    row(i + 1, peers[i]->name() + ", native", peers[i]->bits(), peers[i]->contains_each(misses));
  table.print();
  report.at_most(section + ": a miss over binary fuse's", times[1].median() / times[3].median(), 1);
}

template <class Filter>
void bench_alternative(Table& table, const std::string& name, Keys sorted, Keys misses,
                       unsigned repetitions) {
  std::unique_ptr<Filter> filter;
  const double build = seconds_of([&] { filter = std::make_unique<Filter>(sorted); });
  Contest contest;
  contest.add({"", misses.size(), [&] {
                 return each(misses, [&](std::uint64_t key) { return filter->contains(key); });
               }});
  contest.add({"", misses.size(), [&] { return ask_ahead(*filter, misses); }});
  const auto times = contest.run(repetitions);
  const double fpr =
      static_cast<double>(ask_ahead(*filter, misses)) / static_cast<double>(misses.size());
  const double bits = filter->bits() / static_cast<double>(sorted.size());
  table.row({name, fmt::format("{:.2f}", bits), percent(fpr),
             fmt::format("{:.3f}", bits / -std::log2(fpr)),
             fmt::format("{:.0f}", build / static_cast<double>(sorted.size()) * 1e9),
             fmt::format("{:.1f}", times[0].median()), fmt::format("{:.1f}", times[1].median())});
}

void bench_alternatives(Report& report, std::uint64_t count, std::uint64_t asked,
                        unsigned repetitions) {
  report.heading(fmt::format("{} sorted keys at about 0.4 %, one array", count));
  auto keys = random_keys(0, count);
  std::ranges::sort(keys);
  const auto misses = random_keys(count, asked);
  Table table(
      {"", "bits per key", "fpr", "over the bound", "building, ns", "miss, ns", "bulk miss, ns"});
  bench_alternative<FuseOfBytes<3>>(table, "binary fuse, 3 positions", keys, misses, repetitions);
  bench_alternative<FuseOfBytes<4>>(table, "binary fuse, 4 positions", keys, misses, repetitions);
  bench_alternative<HomogeneousRibbon>(table, "homogeneous ribbon, width 64", keys, misses,
                                       repetitions);
  table.print();
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery;
  std::uint64_t keys = 100'000'000, asked = 10'000'000, alternative_keys = 10'000'000;
  unsigned repetitions = 5;
  std::vector<double> fprs = {0.01};
  std::string json;
  CLI::App app{"What a frozen filter costs"};
  app.add_option("--keys", keys)->capture_default_str();
  app.add_option("--asked", asked, "keys that are looked up")->capture_default_str();
  app.add_option("--alternative-keys", alternative_keys)->capture_default_str();
  app.add_option("--rates", fprs)->capture_default_str();
  app.add_option("--repetitions", repetitions)->capture_default_str();
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  bench::Report report("frozen_bench");
  for (const double fpr : fprs) bench::bench_product(report, keys, fpr, asked, repetitions);
  bench::bench_peers(report, keys, asked, repetitions);
  bench::bench_alternatives(report, alternative_keys, asked, repetitions);
  report.finish(json);
}
