// What an insert and a look-up cost, compared with the bare loop, which is the lower bound, and with
// another library.
//
// Inserts go into a cleared filter; look-ups ask one that is filled to its capacity. Single means one
// call per key; bulk means insert_many and may_contain_many. The section "made" times the making of small filters.
#include <bloomery/counting_filter.hpp>
#include <bloomery/filter.hpp>
#include <bloomery/scalable_filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "bare_loop.hpp"
#include "contest.hpp"
#include "keys.hpp"
#include "peer.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

#ifdef BLOOMERY_WITHOUT_FLAG
constexpr const char* kProgram = "filter_bench";
constexpr bool kWithoutFlag = true;
#else
constexpr const char* kProgram = "filter_bench_native";
constexpr bool kWithoutFlag = false;
#endif

struct Options {
  std::uint64_t keys = 100'000'000;
  std::uint64_t cached_keys = 1'000'000;
  unsigned repetitions = 7;
  std::vector<double> fprs = {0.01, 0.001, 0.0001};
  std::vector<std::string> sections = {"blocked", "layouts", "cached", "made"};
  bool fastest = false;
  std::string json;

  [[nodiscard]] bool wants(const std::string& section) const {
    return std::find(sections.begin(), sections.end(), section) != sections.end();
  }
};

struct Workload {
  Keys present;        // all that the filter holds
  Keys present_slice;  // those that single calls and look-ups use
  Keys absent;
};

// The answers are not used, because the peer's inserts give none.
std::uint64_t insert_each(Filter& filter, Keys keys) {
  for (const std::uint64_t key : keys) filter.insert(key);
  return keys.size();
}

std::uint64_t contains_each(const Filter& filter, Keys keys) {
  return each(keys, [&](std::uint64_t key) { return filter.may_contain(key); });
}

constexpr const char* kOperations[] = {"insert",      "hit",      "miss",
                                       "bulk insert", "bulk hit", "bulk miss"};
constexpr std::size_t kOperationCount = std::size(kOperations);

// Six cases in the order of kOperations. The bulk insert fills the filter for the look-ups.
struct Loops {
  std::function<void()> clear;
  std::function<std::uint64_t(Keys)> insert_each, insert_bulk, contains_each, contains_bulk;
};

void add_cases(Contest& contest, const std::string& name, const Loops& loops,
               const Workload& work) {
  const auto add = [&](const char* operation, const auto& loop, Keys keys, bool clear) {
    contest.add({name + ": " + operation, keys.size(), [loop, keys] { return loop(keys); },
                 clear ? loops.clear : nullptr});
  };
  add("insert", loops.insert_each, work.present_slice, true);
  add("bulk insert", loops.insert_bulk, work.present, true);
  add("hit", loops.contains_each, work.present_slice, false);
  add("miss", loops.contains_each, work.absent, false);
  add("bulk hit", loops.contains_bulk, work.present_slice, false);
  add("bulk miss", loops.contains_bulk, work.absent, false);
}

void add_ours(Contest& contest, const std::string& name, Filter& filter, const Workload& work) {
  add_cases(contest, name,
            {[&] { filter.clear(); }, [&](Keys keys) { return insert_each(filter, keys); },
             [&](Keys keys) { return filter.insert_many(keys); },
             [&](Keys keys) { return contains_each(filter, keys); },
             [&](Keys keys) { return filter.may_contain_many(keys); }},
            work);
}

void add_peer(Contest& contest, Peer& peer, const Workload& work) {
  add_cases(contest, peer.name(),
            {[&] { peer.clear(); }, [&](Keys keys) { return peer.insert_each(keys); },
             [&](Keys keys) { return peer.insert_bulk(keys); },
             [&](Keys keys) { return peer.contains_each(keys); },
             [&](Keys keys) { return peer.contains_bulk(keys); }},
            work);
}

// The peers compiled for this CPU; if this program is compiled for any CPU, also the peers compiled for any CPU.
std::vector<std::unique_ptr<Peer>> all_peers(double fpr, std::uint64_t keys) {
  auto peers = peers_for(fpr, keys);
  if (kWithoutFlag)
    for (auto& peer : peers_without_flag(fpr, keys)) peers.push_back(std::move(peer));
  return peers;
}

template <unsigned BlocksPerKey>
void add_bare(Contest& contest, const Filter& filter, Keys keys) {
  const auto memory = std::as_bytes(filter.bytes());
  const std::string name = BlocksPerKey == 1 ? "bare loop, " : "bare loop of two blocks, ";
  const auto add = [&]<std::size_t InFlight>() {
    contest.add({name + std::to_string(InFlight) + " in flight", keys.size(),
                 [=] { return bare_loop<InFlight, BlocksPerKey>(memory, keys); }});
  };
  add.template operator()<16>();
  add.template operator()<32>();
  add.template operator()<64>();
  add.template operator()<128>();
}

using Medians = std::map<std::string, double>;

Medians run_contest(const Contest& contest, unsigned repetitions, bool fastest) {
  Medians medians;
  for (const Timing& timing : contest.run(repetitions))
    medians[timing.name] = fastest ? timing.fastest() : timing.median();
  return medians;
}

// The fastest of those whose name starts with `start`.
double best(const Medians& medians, const std::string& start, const std::string& end = "",
            const std::string& without = "\n") {
  double fastest = 1e300;
  for (const auto& [name, median] : medians)
    if (name.starts_with(start) && name.ends_with(end) && name.find(without) == std::string::npos)
      fastest = std::min(fastest, median);
  return fastest;
}

// One row per filter, one column per operation, in nanoseconds per key.
void print_rows(Report& report, const std::string& section, const Medians& medians,
                const std::vector<std::string>& names) {
  Table table({"ns per key"}, kOperations);
  for (const std::string& name : names) {
    std::vector<std::string> counters = {name};
    for (const char* operation : kOperations)
      counters.push_back(fmt::format("{:.2f}", medians.at(name + ": " + operation)));
    table.row(counters);
  }
  table.print();
  for (const auto& [name, median] : medians) report.number(section, name, median);
}

std::string describe(const Plan& plan) {
  return fmt::format("{}, k = {}, {:.2f} bits, {:.0f} MB", to_string(plan.layout), plan.hashes,
                     plan.bits_per_key(), static_cast<double>(plan.bytes()) / 1e6);
}

// goals: the lowest speed relative to Boost.Bloom's, of single calls and in bulk; 0 for none.
void compare_with_peer(Report& report, const Medians& medians, const std::string& ours, double fpr,
                       std::array<double, 2> goals, const std::string& where) {
  Table table({"times as fast as Boost.Bloom's best"}, kOperations);
  std::vector<std::string> plain = {"with its default allocator"};
  std::vector<std::string> huge = {"given huge pages"};
  std::vector<std::string> alike = {"compiled without a flag"};
  std::vector<std::string> alike_huge = {"the same, given huge pages"};
  for (std::size_t i = 0; i < kOperationCount; ++i) {
    const std::string end = std::string(": ") + kOperations[i];
    const double mine = medians.at(ours + end);
    const auto add = [&](std::vector<std::string>& row, double fastest, const char* peer) {
      row.push_back(fmt::format("{:.2f}", fastest / mine));
      const double goal = goals[i < 3 ? 0 : 1];
      if (peer == nullptr || goal == 0) return;
      report.at_least(fmt::format("{} at {}{}: times the speed of {}", kOperations[i], percent(fpr),
                                  where, peer),
                      fastest / mine, goal);
    };
    add(plain, best(medians, "Boost", end, "huge pages"), "Boost.Bloom");
    add(huge, best(medians, "Boost", end), nullptr);
    if (!kWithoutFlag) continue;
    add(alike, best(medians, "no flag: ", end, "huge pages"), "Boost.Bloom without a flag");
    add(alike_huge, best(medians, "no flag: ", end), nullptr);
  }
  table.row(plain);
  table.row(huge);
  if (kWithoutFlag) {
    table.row(alike);
    table.row(alike_huge);
  }
  table.print();
}

void bench_block(Report& report, const Options& options, const Workload& work, double fpr) {
  Filter filter(plan(work.present.size(), fpr, Layout::blocked));
  const std::string section =
      fmt::format("{} keys at {}: {}", work.present.size(), percent(fpr), describe(filter.plan()));
  const std::string ours = fmt::format("bloomery blocked ({})", filter.kernel_name());
  const auto peers = all_peers(fpr, work.present.size());
  Contest contest;
  add_ours(contest, ours, filter, work);
  add_bare<1>(contest, filter, work.present_slice);
  std::vector<std::string> names = {ours};
  for (const auto& peer : peers) {
    add_peer(contest, *peer, work);
    names.push_back(peer->name());
  }
  const Medians medians = run_contest(contest, options.repetitions, options.fastest);
  report.heading(section);
  print_rows(report, section, medians, names);
  const double floor = best(medians, "bare loop");
  Table table({"the bare loop", "16 in flight", "32", "64", "128"});
  std::vector<std::string> counters = {"ns per key"};
  for (const char* in_flight : {"16", "32", "64", "128"})
    counters.push_back(
        fmt::format("{:.2f}", medians.at(fmt::format("bare loop, {} in flight", in_flight))));
  table.row(counters);
  table.print();
  for (const char* operation : {"bulk insert", "bulk hit", "bulk miss"})
    report.at_most(fmt::format("{} at {}: time over the bare loop's", operation, percent(fpr)),
                   medians.at(ours + ": " + operation) / floor, 1.15);
  if (peers.empty()) return;
  std::array<double, 2> goals = {};
  if (fpr == 0.01) goals = {1.0, 1.2};
  if (fpr == 0.001) goals = {1.5, 2.0};
  compare_with_peer(report, medians, ours, fpr, goals, "");
}

void bench_layouts(Report& report, const Options& options, const Workload& work, double fpr) {
  Filter blocked2(plan(work.present.size(), fpr, Layout::blocked2));
  Filter standard(plan(work.present.size(), fpr, Layout::standard));
  const std::string blocked2_name = "bloomery " + describe(blocked2.plan());
  const std::string standard_name = "bloomery " + describe(standard.plan());
  Contest contest;
  add_ours(contest, blocked2_name, blocked2, work);
  add_ours(contest, standard_name, standard, work);
  add_bare<2>(contest, blocked2, work.present_slice);
  const std::string section =
      fmt::format("the other layouts, {} keys at {}", work.present.size(), percent(fpr));
  const Medians medians =
      run_contest(contest, std::max(1U, options.repetitions / 2), options.fastest);
  report.heading(section);
  print_rows(report, section, medians, {blocked2_name, standard_name});
  const double floor = best(medians, "bare loop");
  fmt::print(
      "the bare loop of two blocks: {:.2f} ns per key; bulk blocked2 takes {:.2f}, {:.2f}, {:.2f} "
      "of "
      "it\n",
      floor, medians.at(blocked2_name + ": bulk insert") / floor,
      medians.at(blocked2_name + ": bulk hit") / floor,
      medians.at(blocked2_name + ": bulk miss") / floor);
}

void bench_cached(Report& report, const Options& options, const Workload& work, double fpr) {
  Filter filter(plan(work.present.size(), fpr, Layout::blocked));
  const std::string section = fmt::format("in cache, {} keys at {}: {}", work.present.size(),
                                          percent(fpr), describe(filter.plan()));
  const std::string ours = fmt::format("bloomery blocked ({})", filter.kernel_name());
  const auto peers = all_peers(fpr, work.present.size());
  Contest contest;
  add_ours(contest, ours, filter, work);
  std::vector<std::string> names = {ours};
  for (const auto& peer : peers) {
    add_peer(contest, *peer, work);
    names.push_back(peer->name());
  }
  // A run takes milliseconds, so many of them cost nothing.
  const Medians medians = run_contest(contest, options.repetitions * 10, options.fastest);
  report.heading(section);
  print_rows(report, section, medians, names);
  // Single calls at 1 % have no goal: docs/benchmarks.md, "Limits".
  const double single = fpr == 0.01 ? 0 : 1;
  if (!peers.empty()) compare_with_peer(report, medians, ours, fpr, {single, 1}, " in cache");
}

// Filters for some 1,000 keys, as many as there are users: with a capacity that no filter had before, or with one and
// the same.
template <class Make>
void add_made(Contest& contest, const std::string& kind, Make make) {
  constexpr std::uint64_t kNew = 100, kAgain = 10'000;
  static std::uint64_t capacity = 1000;
  const auto made = [make](std::uint64_t filters, std::uint64_t step) {
    std::uint64_t yes = 0;
    for (std::uint64_t i = 0; i < filters; ++i)
      yes += make(step == 0 ? 1000 : capacity += step).may_contain(i) ? 1 : 0;
    return yes;
  };
  contest.add({kind + ", new", kNew, [made] { return made(kNew, 1); }});
  contest.add({kind + ", again", kAgain, [made] { return made(kAgain, 0); }});
}

void bench_made(Report& report, const Options& options) {
  Contest contest;
  add_made(contest, "plain", [](std::uint64_t keys) { return Filter(keys, 0.01); });
  add_made(contest, "counting", [](std::uint64_t keys) { return CountingFilter(keys, 0.01); });
  add_made(contest, "scalable", [](std::uint64_t keys) { return ScalableFilter(keys, 0.01); });
  report.heading("making filters for 1,000 keys at 1 %");
  Table table({"parameters", "microseconds"});
  for (const Timing& timing : contest.run(options.repetitions * 10)) {
    const double microseconds = timing.median() / 1000;
    table.row({timing.name, fmt::format("{:.2f}", microseconds)});
    report.number("made", timing.name, microseconds);
  }
  table.print();
}

void run(const Options& options) {
  Report report(kProgram);
  const std::uint64_t slice = std::max<std::uint64_t>(1, options.keys / 5);
  if (options.wants("blocked") || options.wants("layouts")) {
    const auto present = random_keys(0, options.keys);
    const auto absent = random_keys(options.keys, slice);
    const Workload work{present, Keys(present).first(slice), absent};
    for (const double fpr : options.fprs) {
      if (options.wants("blocked")) bench_block(report, options, work, fpr);
      if (options.wants("layouts")) bench_layouts(report, options, work, fpr);
    }
  }
  if (options.wants("cached")) {
    const auto present = random_keys(0, options.cached_keys);
    const auto absent = random_keys(options.cached_keys, options.cached_keys);
    const Workload work{present, present, absent};
    for (const double fpr : options.fprs)
      if (fpr >= 0.001) bench_cached(report, options, work, fpr);
  }
  if (options.wants("made")) bench_made(report, options);
  report.finish(options.json);
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  bloomery::bench::Options options;
  CLI::App app{"What an insert and a look-up cost"};
  app.add_option("--keys", options.keys, "keys of a filter in memory")->capture_default_str();
  app.add_option("--cached-keys", options.cached_keys, "keys of a filter in cache")
      ->capture_default_str();
  app.add_option("--repetitions", options.repetitions)->capture_default_str();
  app.add_option("--rates", options.fprs)->capture_default_str();
  app.add_option("--sections", options.sections)
      ->check(CLI::IsMember({"blocked", "layouts", "cached", "made"}))
      ->capture_default_str();
  app.add_flag("--fastest", options.fastest,
               "the fastest repetition, not the median: for a busy machine");
  app.add_option("--json", options.json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  bloomery::bench::run(options);
}
