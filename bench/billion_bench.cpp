// A billion keys in one filter: time, memory and false-positive rate.
//
// Keys are made in batches, untimed, so that only the filter needs memory.
#include <bloomery/filter.hpp>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>

#include "keys.hpp"
#include "report.hpp"

namespace bloomery::bench {
namespace {

constexpr std::uint64_t kBatch = 1 << 20;

struct Pass {
  double seconds = 0;
  std::uint64_t answers = 0;  // how many were true
};

// Runs `apply` over the keys [first, first + count) of the stream, and times only that.
template <class Apply>
Pass over(std::uint64_t first, std::uint64_t count, Apply apply) {
  Pass pass;
  for (std::uint64_t done = 0; done < count; done += kBatch) {
    const auto keys = random_keys(first + done, std::min(kBatch, count - done));
    const auto start = std::chrono::steady_clock::now();
    pass.answers += apply(keys);
    pass.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  return pass;
}

}  // namespace
}  // namespace bloomery::bench

int main(int argc, char** argv) {
  using namespace bloomery;
  std::uint64_t keys = 1'000'000'000;
  double fpr = 0.001;
  std::string json;
  CLI::App app{"A billion keys in one filter"};
  app.add_option("--keys", keys)->capture_default_str();
  app.add_option("--fpr", fpr)->capture_default_str();
  app.add_option("--json", json, "where to write the numbers");
  CLI11_PARSE(app, argc, argv);
  bench::Report report("billion_bench");
  Filter filter(keys, fpr);
  const bench::Pass inserts =
      bench::over(0, keys, [&](const auto& batch) { return filter.insert_many(batch); });
  const bench::Pass hits =
      bench::over(0, keys, [&](const auto& batch) { return filter.may_contain_many(batch); });
  const std::uint64_t absent = std::max<std::uint64_t>(1, keys / 5);
  const bench::Pass misses =
      bench::over(keys, absent, [&](const auto& batch) { return filter.may_contain_many(batch); });
  report.heading(fmt::format("{} keys at {}, {}, k = {}", keys, bench::percent(fpr),
                             to_string(filter.plan().layout), filter.plan().hashes));
  const auto count = static_cast<double>(keys);
  const double measured = static_cast<double>(misses.answers) / static_cast<double>(absent);
  bench::Table table({"what", ""});
  const auto row = [&](const std::string& name, double value, const std::string& text) {
    table.row({name, text});
    report.number("billion", name, value);
  };
  const auto timed = [&](const std::string& name, const bench::Pass& pass, double of) {
    row(name + ", ns per key", pass.seconds * 1e9 / of,
        fmt::format("{:.2f} s, {:.2f} ns per key", pass.seconds, pass.seconds * 1e9 / of));
  };
  timed("bulk insert", inserts, count);
  timed("bulk look-up of all of them", hits, count);
  timed("bulk look-up of absent keys", misses, static_cast<double>(absent));
  row("false negatives", static_cast<double>(keys - hits.answers),
      std::to_string(keys - hits.answers));
  row("measured rate", measured, fmt::format("{:.4f} %", measured * 100));
  row("current fpr, by the bits", filter.current_fpr(),
      fmt::format("{:.4f} %", filter.current_fpr() * 100));
  row("bits", static_cast<double>(filter.plan().bytes()),
      fmt::format("{:.3f} GB", static_cast<double>(filter.plan().bytes()) / 1e9));
  row("peak memory of the process", static_cast<double>(bench::peak_memory()),
      fmt::format("{:.3f} GB", static_cast<double>(bench::peak_memory()) / 1e9));
  table.print();
  report.finish(json);
}
