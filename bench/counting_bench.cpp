// What a counting filter costs compared with `blocked`: the price of removing keys.
//
// Both hold the same keys at the same rate. Inserts go into a cleared filter; look-ups ask one
// that is filled to its capacity; removals empty a filled one. Single calls go through the
// dispatch table in both. The goal: out of cache and in bulk at most 2.5 times the time of `blocked`,
// which moves at most a fourth of the bytes. Counters in two blocks per key, which plans choose at low
// rates, are beside them.
#include <bloomery/counting_filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <array>
#include <map>

#include "contest.hpp"
#include "keys.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

struct Workload {
  Keys present, slice, absent;
};

constexpr std::array kOperations = {"insert",      "remove",      "hit",      "miss",
                                    "bulk insert", "bulk remove", "bulk hit", "bulk miss"};

// The bulk insert fills the filter for the cases after it. Cases that remove keys refill it first.
template <class F>
void add_cases(Contest& contest, const std::string& name, F& filter, const Workload& work) {
  const auto add = [&](const char* operation, Keys keys, auto loop, auto prepare) {
    contest.add(
        {name + ": " + operation, keys.size(), [loop, keys] { return loop(keys); }, prepare});
  };
  const auto clear = [&filter] { filter.clear(); };
  const auto nothing = [] {};
  const auto contains = [&filter](std::uint64_t key) { return filter.may_contain(key); };
  const auto bulk_contains = [&filter](Keys keys) { return filter.may_contain_many(keys); };
  add(
      "insert", work.slice,
      [&](Keys keys) { return each(keys, [&](std::uint64_t key) { return filter.insert(key); }); },
      clear);
  add(
      "bulk insert", work.present, [&](Keys keys) { return filter.insert_many(keys); }, clear);
  add(
      "hit", work.slice, [=](Keys keys) { return each(keys, contains); }, nothing);
  add(
      "miss", work.absent, [=](Keys keys) { return each(keys, contains); }, nothing);
  add("bulk hit", work.slice, bulk_contains, nothing);
  add("bulk miss", work.absent, bulk_contains, nothing);
  if constexpr (requires { filter.remove(std::uint64_t{1}); }) {
    add(
        "remove", work.slice,
        [&](Keys keys) {
          return each(keys, [&](std::uint64_t key) { return filter.remove(key); });
        },
        nothing);
    const auto refill = [&filter, work] { filter.insert_many(work.slice); };
    add(
        "bulk remove", work.present, [&](Keys keys) { return filter.remove_many(keys); }, refill);
  }
}

std::string describe(const Plan& plan) {
  const std::uint32_t width = counter_bits(plan.layout);
  const std::uint64_t bytes = width == 0 ? plan.bytes() : counting_bytes(plan);
  return fmt::format(
      "{}, k = {}, {:.2f} bits per key, {:.0f} MB",
      width == 0 ? "blocked" : fmt::format("{}, {} bits", to_string(plan.layout), width),
      plan.hashes, 8 * static_cast<double>(bytes) / static_cast<double>(plan.capacity),
      static_cast<double>(bytes) / 1e6);
}

void bench(Report& report, std::uint64_t keys, double fpr, unsigned repetitions, bool cached,
           bool fastest) {
  const std::uint64_t slice = cached ? keys : std::max<std::uint64_t>(1, keys / 5);
  const auto present = random_keys(0, keys);
  const auto absent = random_keys(keys, slice);
  const Workload work{present, Keys(present).first(slice), absent};
  Filter block(plan(keys, fpr, Layout::blocked));
  // Calls go through the table, as for the others: filter_bench_native shows what inlining saves.
  block.use_kernel(detail::kernel_for(Layout::blocked));
  CountingFilter four(plan(keys, fpr, Layout::blocked128)),
      eight(plan(keys, fpr, Layout::blocked64)), two_of_four(plan(keys, fpr, Layout::blocked2x128)),
      two_of_eight(plan(keys, fpr, Layout::blocked2x64));
  std::vector<std::string> names = {describe(block.plan())};
  Contest contest;
  add_cases(contest, names[0], block, work);
  for (CountingFilter* filter : {&four, &eight, &two_of_four, &two_of_eight}) {
    names.push_back(describe(filter->plan()));
    add_cases(contest, names.back(), *filter, work);
  }
  std::map<std::string, double> times;
  for (const Timing& timing : contest.run(repetitions))
    times[timing.name] = fastest ? timing.fastest() : timing.median();

  const std::string section =
      fmt::format("{} keys at {}, {}", keys, percent(fpr), four.kernel_name());
  report.heading(section);
  Table table({"ns per key"}, kOperations);
  for (const std::string& name : names) {
    std::vector<std::string> counters = {name};
    for (const char* operation : kOperations) {
      const auto found = times.find(name + ": " + operation);
      counters.push_back(found == times.end() ? "" : fmt::format("{:.2f}", found->second));
      if (found != times.end()) report.number(section, found->first, found->second);
    }
    table.row(counters);
  }
  table.print();
  if (cached) return;
  for (const std::size_t which : {std::size_t{1}, std::size_t{2}})
    for (const char* operation : {"bulk insert", "bulk remove", "bulk hit", "bulk miss"}) {
      // Removing is compared with inserting: both write.
      const std::string beside =
          operation == std::string("bulk remove") ? "bulk insert" : operation;
      report.at_most(fmt::format("{} bits, {}: time over that of blocked", which * 4, operation),
                     times.at(names[which] + ": " + operation) / times.at(names[0] + ": " + beside),
                     2.5);
    }
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  std::uint64_t keys = 100'000'000;
  std::uint64_t cached_keys = 1'000'000;
  unsigned repetitions = 5;
  double fpr = 0.01;
  bool fastest = false;
  std::string json;
  CLI::App app{"What removing costs"};
  app.add_option("--keys", keys, "keys of a filter in memory")->capture_default_str();
  app.add_option("--cached-keys", cached_keys, "keys of a filter in cache")->capture_default_str();
  app.add_option("--fpr", fpr)->capture_default_str();
  app.add_option("--repetitions", repetitions)->capture_default_str();
  app.add_flag("--fastest", fastest, "the fastest repetition, not the median: for a busy machine");
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  bloomery::bench::Report report("counting_bench");
  bloomery::bench::bench(report, keys, fpr, repetitions, false, fastest);
  bloomery::bench::bench(report, cached_keys, fpr, repetitions * 10, true, fastest);
  report.finish(json);
}
