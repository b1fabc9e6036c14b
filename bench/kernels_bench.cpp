// Each kernel of each layout that this CPU can run, over the same filter and the same keys.
//
// All calls go through the dispatch table, single ones too: this is what a kernel costs. filter_bench
// shows what a user of the library pays.
#include <bloomery/filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <array>

#include "contest.hpp"
#include "keys.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

void add_cases(Contest& contest, Filter& filter, const detail::Kernel& kernel, Keys present,
               Keys absent) {
  const auto add = [&](Keys keys, bool clear, std::uint64_t (*loop)(Filter&, Keys)) {
    contest.add({kernel.name, keys.size(), [&filter, keys, loop] { return loop(filter, keys); },
                 [&filter, &kernel, clear] {
                   filter.use_kernel(kernel);
                   if (clear) filter.clear();
                 }});
  };
  add(present, true, [](Filter& to, Keys keys) -> std::uint64_t {
    return each(keys, [&](std::uint64_t key) { return to.insert(key); });
  });
  add(present, true, [](Filter& to, Keys keys) -> std::uint64_t { return to.insert_many(keys); });
  add(present, false, [](Filter& in, Keys keys) -> std::uint64_t {
    return each(keys, [&](std::uint64_t key) { return in.may_contain(key); });
  });
  add(present, false,
      [](Filter& in, Keys keys) -> std::uint64_t { return in.may_contain_many(keys); });
  add(absent, false,
      [](Filter& in, Keys keys) -> std::uint64_t { return in.may_contain_many(keys); });
}

void bench_layout(Report& report, Layout layout, double fpr, Keys present, Keys absent,
                  unsigned repetitions) {
  constexpr std::array operations = {"insert", "bulk insert", "hit", "bulk hit", "bulk miss"};
  const auto kernels = detail::kernels_of(layout);
  const std::size_t count = kernels.size();
  Filter filter(plan(present.size(), fpr, layout));
  Contest contest;
  for (std::size_t i = 0; i < count; ++i) add_cases(contest, filter, *kernels[i], present, absent);
  const auto timings = contest.run(repetitions);
  const std::string section = fmt::format("{}, {} keys at {}, k = {}", to_string(layout),
                                          present.size(), percent(fpr), filter.plan().hashes);
  report.heading(section);
  Table table({"ns per key"}, operations);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::string> counters = {kernels[i]->name};
    for (std::size_t j = 0; j < operations.size(); ++j) {
      const double median = timings[i * operations.size() + j].median();
      counters.push_back(fmt::format("{:.2f}", median));
      report.number(section, fmt::format("{}: {}", kernels[i]->name, operations[j]), median);
    }
    table.row(counters);
  }
  table.print();
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery;
  std::uint64_t keys = 20'000'000;
  std::uint64_t cached_keys = 1'000'000;
  unsigned repetitions = 5;
  double fpr = 0.001;
  std::string json;
  CLI::App app{"What each kernel costs"};
  app.add_option("--keys", keys, "keys of a filter in memory")->capture_default_str();
  app.add_option("--cached-keys", cached_keys, "keys of a filter in cache")->capture_default_str();
  app.add_option("--fpr", fpr)->capture_default_str();
  app.add_option("--repetitions", repetitions)->capture_default_str();
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  bench::Report report("kernels_bench");
  for (const std::uint64_t count : {keys, cached_keys}) {
    const auto present = bench::random_keys(0, count);
    const auto absent = bench::random_keys(count, count);
    for (const Layout layout : {Layout::blocked, Layout::blocked2, Layout::standard})
      bench::bench_layout(report, layout, fpr, present, absent,
                          count == cached_keys ? repetitions * 5 : repetitions);
  }
  report.finish(json);
}
